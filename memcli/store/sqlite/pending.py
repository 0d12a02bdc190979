"""The texts that wait for a vector, in the pieces they are embedded from."""

from __future__ import annotations

import apsw

from memcli.store.run_records import Pending
from memcli.store.sqlite.driver import rows, strings

# Of the importance that front matter may tell, 0 to 1: above it a document goes before newer ones.
IMPORTANT = 0.5


def read_pending(connection: apsw.Connection, fingerprint: str, limit: int) -> list[Pending]:
    """List texts that wait for a vector, each once, in the order in which they are needed.

    Rules come first, then what is marked as more important than most; of each the undated ones,
    then the newest.
    """
    found = rows(
        connection,
        'SELECT p.hash, p.prefix, substr(c.text, p.start + 1, p."end" - p.start),'
        " d.title, c.heading_path, c.date"
        " FROM parts p JOIN chunks c ON c.id = p.chunk_id"
        " JOIN documents d ON d.id = c.document_id"
        " LEFT JOIN vectors v ON v.hash = p.hash AND v.fingerprint = ?1"
        " WHERE v.id IS NULL"
        " AND NOT EXISTS (SELECT 1 FROM unread u WHERE u.hash = p.hash AND u.fingerprint = ?1)"
        f" ORDER BY d.always DESC, coalesce(d.importance, 0) > {IMPORTANT} DESC,"
        " d.date IS NOT NULL, d.date DESC, d.path, d.source, p.id LIMIT ?2",
        (fingerprint, limit),
    )
    texts = {
        hash_: Pending(hash_, prefix, text, title, strings(heading_path), date)
        for hash_, prefix, text, title, heading_path, date in found
    }
    return list(texts.values())
