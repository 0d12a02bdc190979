"""The texts that wait for a vector, in the pieces they are embedded from."""

from __future__ import annotations

import json
from functools import cache

import apsw

from memcli.markdown.parts import description_of
from memcli.store.run_records import Pending
from memcli.store.sqlite.driver import rows, strings
from memcli.types import named_days

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
        " d.title, c.heading_path, coalesce(c.first_day, c.date), c.date,"
        " iif(instr(d.front_matter, '\"description\"'), d.front_matter, '{}')"
        " FROM parts p JOIN chunks c ON c.id = p.chunk_id"
        " JOIN documents d ON d.id = c.document_id"
        " LEFT JOIN vectors v ON v.hash = p.hash"
        " AND v.encoder = (SELECT id FROM encoders WHERE fingerprint = ?1)"
        " WHERE v.id IS NULL"
        " AND NOT EXISTS (SELECT 1 FROM unread u WHERE u.hash = p.hash AND u.fingerprint = ?1)"
        f" ORDER BY d.always DESC, coalesce(d.importance, 0) > {IMPORTANT} DESC,"
        " d.date IS NOT NULL, d.date DESC, d.path, d.source, p.id LIMIT ?2",
        (fingerprint, limit),
    )
    described = cache(_description)
    texts = {
        hash_: Pending(
            hash_,
            prefix,
            text,
            title,
            strings(heading_path),
            named_days((first_day, date)) if date else None,
            described(front_matter),
        )
        for hash_, prefix, text, title, heading_path, first_day, date, front_matter in found
    }
    return list(texts.values())


def _description(front_matter: str) -> str:
    return description_of(json.loads(front_matter))
