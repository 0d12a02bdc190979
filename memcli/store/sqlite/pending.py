"""The texts that wait for a vector, put together again from the rows they stand in."""

from __future__ import annotations

import json
from typing import NamedTuple

import apsw

from memcli.markdown.parts import contexts, digest, embedded_text
from memcli.store.sqlite.driver import rows


class Pending(NamedTuple):
    """A text that has no vector yet."""

    hash: bytes
    text: str


def read_pending(connection: apsw.Connection, fingerprint: str, limit: int) -> list[Pending]:
    """List texts without a vector, newest documents first, each text once."""
    found = rows(
        connection,
        'SELECT p.hash, p.prefix, substr(c.text, p.start + 1, p."end" - p.start),'
        " d.title, c.heading_path, c.date"
        " FROM parts p JOIN chunks c ON c.id = p.chunk_id"
        " JOIN documents d ON d.id = c.document_id"
        " LEFT JOIN vectors v ON v.hash = p.hash AND v.fingerprint = ?"
        " WHERE v.id IS NULL ORDER BY d.date IS NOT NULL, d.date DESC, d.path, p.id LIMIT ?",
        (fingerprint, limit),
    )
    texts: dict[bytes, str] = {}
    for hash_, prefix, text, title, heading_path, date in found:
        for context in contexts(title, json.loads(heading_path), date):
            texts[hash_] = embedded_text(context, prefix, text)
            if digest(texts[hash_]) == hash_:
                break
    return [Pending(hash_, text) for hash_, text in texts.items()]
