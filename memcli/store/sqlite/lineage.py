"""Which lines summaries stand for: the rows of lineage, and the views they give.

A summary is valid while every line it rests on is as it was, summaries below it included. The
active view leaves out the chunks that valid summaries cover, and the summaries that are not valid;
where anything is in doubt the raw lines are in it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

import apsw

from memcli.store.sqlite.driver import rows
from memcli.types import MEMORY_SOURCE, Lineage, SourceLines

# Summaries with a line that is not as it was, and those that rest on such a summary.
_STALE = f"""WITH RECURSIVE stale (id) AS (
  SELECT l.document_id FROM lineage l LEFT JOIN documents s
  ON s.source = '{MEMORY_SOURCE}' AND s.path = l.path
  WHERE NOT l.matches OR l.checked IS NOT s.hash
  UNION SELECT l.document_id FROM stale JOIN documents s ON s.id = stale.id
  JOIN lineage l ON l.path = s.path AND s.source = '{MEMORY_SOURCE}'
) SELECT id FROM stale"""

# Tests over chunks c of documents d.
VIEWS = {
    "raw": "d.id NOT IN (SELECT document_id FROM lineage)",
    "active": f"d.id NOT IN ({_STALE}) AND NOT (d.source = '{MEMORY_SOURCE}' AND EXISTS ("
    " SELECT 1 FROM lineage l WHERE l.path = d.path AND l.start_line <= c.start_line"
    f" AND l.end_line >= c.end_line AND l.document_id NOT IN ({_STALE})))",
}
TOUCHES = (
    f"d.source = '{MEMORY_SOURCE}' AND EXISTS (SELECT 1 FROM json_each(?) w"
    " WHERE w.value ->> 0 = d.path AND w.value ->> 1 <= c.end_line"
    " AND w.value ->> 2 >= c.start_line)"
)


def as_json(lines: Iterable[SourceLines]) -> str:
    """Write lines as the binding that TOUCHES takes."""
    return json.dumps([(s.path, s.start_line, s.end_line) for s in lines])


def put(connection: apsw.Connection, document_id: int, lineage: Lineage | None) -> None:
    """Store the lineage of a document in place of what was known of it."""
    connection.execute("DELETE FROM lineage WHERE document_id = ?", (document_id,))
    if lineage is not None:
        connection.executemany(
            "INSERT INTO lineage (document_id, path, start_line, end_line, hash)"
            " VALUES (?, ?, ?, ?, ?)",
            [(document_id, *source) for source in lineage.sources],
        )


def drop(connection: apsw.Connection, source: str, path: str) -> None:
    """Delete the lineage of a document that is gone."""
    connection.execute(
        "DELETE FROM lineage WHERE document_id IN"
        " (SELECT id FROM documents WHERE source = ? AND path = ?)",
        (source, path),
    )


def unchecked(connection: apsw.Connection) -> list[SourceLines]:
    """List the lines whose file is not the one they were looked up in."""
    found = rows(
        connection,
        "SELECT DISTINCT l.path, l.start_line, l.end_line, l.hash FROM lineage l"
        " JOIN documents s ON s.source = ? AND s.path = l.path WHERE l.checked IS NOT s.hash"
        " ORDER BY l.path, l.start_line, l.end_line",
        (MEMORY_SOURCE,),
    )
    return [SourceLines(*row) for row in found]


def check(
    connection: apsw.Connection, path: str, file_hash: bytes, held: Sequence[SourceLines]
) -> None:
    """Note the file in which the lines of `path` were looked up, and which of them it has."""
    connection.execute(
        "UPDATE lineage SET checked = ?, matches = 0 WHERE path = ?", (file_hash, path)
    )
    connection.executemany(
        "UPDATE lineage SET matches = 1"
        " WHERE path = ? AND start_line = ? AND end_line = ? AND hash = ?",
        [tuple(lines) for lines in held],
    )


def confidences(connection: apsw.Connection) -> dict[str, float]:
    """Read the confidence of every summary, by path."""
    return dict(
        rows(
            connection,
            "SELECT path, front_matter ->> '$.confidence' FROM documents"
            " WHERE id IN (SELECT document_id FROM lineage)",
        )
    )


def leaves(connection: apsw.Connection, path: str) -> list[SourceLines]:
    """Follow the lineage of a summary down to the lines that no summary is made of."""
    found = rows(
        connection,
        "WITH RECURSIVE below (path, start_line, end_line, hash) AS ("
        " SELECT l.path, l.start_line, l.end_line, l.hash FROM lineage l"
        " JOIN documents d ON d.id = l.document_id WHERE d.source = ?1 AND d.path = ?2"
        " UNION SELECT l.path, l.start_line, l.end_line, l.hash FROM below b"
        " JOIN documents d ON d.source = ?1 AND d.path = b.path"
        " JOIN lineage l ON l.document_id = d.id)"
        " SELECT * FROM below WHERE path NOT IN (SELECT d.path FROM documents d"
        " JOIN lineage l ON l.document_id = d.id WHERE d.source = ?1)"
        " ORDER BY path, start_line, end_line",
        (MEMORY_SOURCE, path),
    )
    return [SourceLines(*row) for row in found]
