"""The rows of lineage: the source lines of summaries, and whether they are unchanged."""

from __future__ import annotations

from collections.abc import Sequence

import apsw

from memcli.store.records import LineCheck, Support
from memcli.store.sqlite.driver import rows
from memcli.types import MEMORY_SOURCE, Lineage, SourceLines


def put(connection: apsw.Connection, document_id: int, lineage: Lineage | None) -> None:
    """Replace the lineage of a document."""
    connection.execute("DELETE FROM lineage WHERE document_id = ?", (document_id,))
    if lineage is not None:
        connection.executemany(
            "INSERT INTO lineage (document_id, path, start_line, end_line, hash)"
            " VALUES (?, ?, ?, ?, ?)",
            [(document_id, *source) for source in lineage.sources],
        )


def unchecked(connection: apsw.Connection) -> list[str]:
    """List the summaries with lines whose file has changed since they were looked up.

    The lines may be in another file now, so a file that the front matter names counts too.
    """
    result = rows(
        connection,
        "SELECT d.path FROM documents d WHERE d.source = ?1 AND ("
        "EXISTS (SELECT 1 FROM lineage l LEFT JOIN documents s ON s.source = ?1 AND s.path = l.path"
        " WHERE l.document_id = d.id AND (s.hash IS NULL OR l.checked IS NOT s.hash))"
        " OR EXISTS (SELECT 1 FROM lineage l JOIN json_each(d.front_matter, '$.lineage') w"
        " JOIN documents s ON s.source = ?1 AND s.path = w.value ->> 'path'"
        " WHERE l.document_id = d.id AND s.path NOT IN"
        " (SELECT path FROM lineage WHERE document_id = d.id)))"
        " AND d.id IN (SELECT document_id FROM lineage) ORDER BY d.path",
        (MEMORY_SOURCE,),
    )
    return [path for (path,) in result]


def check(connection: apsw.Connection, summary: str, checks: Sequence[LineCheck]) -> None:
    """Store where the source lines of a summary are."""
    document_id = _document(connection, summary)
    if document_id is None:
        return
    connection.execute("DELETE FROM lineage WHERE document_id = ?", (document_id,))
    connection.executemany(
        "INSERT INTO lineage (document_id, path, start_line, end_line, hash, checked, matches)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        [(document_id, *each.lines, each.file, each.holds) for each in checks],
    )


def line_checks(connection: apsw.Connection, summary: str) -> list[LineCheck]:
    """Read what `check` has stored for a summary, in order."""
    return [
        LineCheck(SourceLines(*lines), file, bool(holds))
        for file, holds, *lines in rows(
            connection,
            "SELECT checked, matches, path, start_line, end_line, hash FROM lineage"
            " WHERE document_id = ? ORDER BY rowid",
            (_document(connection, summary),),
        )
    ]


def _document(connection: apsw.Connection, summary: str) -> int | None:
    result = rows(
        connection,
        "SELECT id FROM documents WHERE source = ? AND path = ?"
        " AND id IN (SELECT document_id FROM lineage)",
        (MEMORY_SOURCE, summary),
    )
    return int(result[0][0]) if result else None


def supports(connection: apsw.Connection) -> list[Support]:
    """List the lines that summaries cite, and whether the stored file still has them."""
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
