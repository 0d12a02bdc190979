"""The texts that wait for a vector, in the pieces they are embedded from."""

from __future__ import annotations

import apsw

from memcli.store.run_records import Pending
from memcli.store.sqlite.driver import rows, strings


def read_pending(connection: apsw.Connection, fingerprint: str, limit: int) -> list[Pending]:
    """List texts without a vector, each once: of undated documents, then of the newest."""
    found = rows(
        connection,
        'SELECT p.hash, p.prefix, substr(c.text, p.start + 1, p."end" - p.start),'
        " d.title, c.heading_path, c.date"
        " FROM parts p JOIN chunks c ON c.id = p.chunk_id"
        " JOIN documents d ON d.id = c.document_id"
        " LEFT JOIN vectors v ON v.hash = p.hash AND v.fingerprint = ?"
        " WHERE v.id IS NULL"
        " ORDER BY d.date IS NOT NULL, d.date DESC, d.path, d.source, p.id LIMIT ?",
        (fingerprint, limit),
    )
    texts = {
        hash_: Pending(hash_, prefix, text, title, strings(heading_path), date)
        for hash_, prefix, text, title, heading_path, date in found
    }
    return list(texts.values())
