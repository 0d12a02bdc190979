"""The rows of lineage: which lines summaries rest on, and whether those stand as they did."""

from __future__ import annotations

from collections.abc import Sequence

import apsw

from memcli.store.records import Support
from memcli.store.sqlite.driver import TEXT, Column, rows, typed_rows
from memcli.types import MEMORY_SOURCE, Lineage, SourceLines


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


def supports(connection: apsw.Connection) -> list[Support]:
    """List the lines that summaries rest on, and whether their file as it is stored has them."""
    return [
        Support(summary, SourceLines(*lines), bool(holds))
        for summary, holds, *lines in rows(
            connection,
            "SELECT d.path, l.matches AND l.checked IS s.hash, l.path, l.start_line, l.end_line,"
            " l.hash FROM lineage l JOIN documents d ON d.id = l.document_id"
            " LEFT JOIN documents s ON s.source = ?1 AND s.path = l.path"
            " WHERE d.source = ?1 ORDER BY d.path, l.path, l.start_line, l.end_line",
            (MEMORY_SOURCE,),
        )
    ]


def confidences(connection: apsw.Connection) -> dict[str, float]:
    """Read the confidence of every summary, by path."""
    return dict(
        typed_rows(
            connection,
            (Column("path", TEXT), Column("front_matter ->> '$.confidence'", (int, float))),
            "FROM documents WHERE id IN (SELECT document_id FROM lineage)",
        )
    )
