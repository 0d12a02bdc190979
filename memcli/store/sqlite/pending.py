"""The texts that wait for a vector, in the pieces they are embedded from."""

from __future__ import annotations

import apsw

from memcli.checking import TYPE_CHECKING
from memcli.store.sqlite.driver import rows, strings

if TYPE_CHECKING:
    from memcli.store.run_records import Pending


def read_pending(connection: apsw.Connection, fingerprint: str, limit: int) -> list[Pending]:
    """List texts that wait for a vector, each once, in the order in which they are needed.

    Rules come first, then what is marked as more important than most; of each the undated ones,
    then the newest.
    """
    from memcli.store.waiting import IMPORTANT, waiting

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
    return waiting((*row[:4], strings(row[4]), *row[5:]) for row in found)
