"""The lines that summaries cite, and whether they are unchanged."""

from __future__ import annotations

from collections.abc import Sequence

from memcli.checking import TYPE_CHECKING
from memcli.store.postgres.rows import as_json
from memcli.store.postgres.statements import Statement
from memcli.store.records import LineCheck, Support
from memcli.types import MEMORY_SOURCE, SourceLines

if TYPE_CHECKING:
    from memcli.store.postgres.libpq import Connection

_COLUMNS = ("no", "path", "start_line", "end_line", "hash", "checked", "matches")
_SUMMARY = (
    "select d.id from memcli.documents d where d.workspace = $1 and d.source = $2 and d.path = $3"
)


def unchecked(connection: Connection, workspace: int) -> list[str]:
    """List the summaries that cite a file which has changed since they were checked.

    The lines may be in another file now, so a file that the front matter names counts too.
    """
    rows = connection.rows(
        "select d.path from memcli.documents d where d.workspace = $1 and d.source = $2 and exists"
        " (select 1 from memcli.lineage l where l.workspace = $1 and l.document = d.id) and ("
        "exists (select 1 from memcli.lineage l left join memcli.documents s on s.workspace = $1"
        " and s.source = $2 and s.path = l.path where l.workspace = $1 and l.document = d.id"
        " and (s.hash is null or l.checked is distinct from s.hash))"
        " or exists (select 1 from json_array_elements(d.front_matter::json -> 'lineage') w"
        " join memcli.documents s on s.workspace = $1 and s.source = $2 and s.path = w ->> 'path'"
        " where s.path not in (select path from memcli.lineage l where l.workspace = $1"
        " and l.document = d.id))) order by d.path",
        (workspace, MEMORY_SOURCE),
    )
    return [path for (path,) in rows]


def line_checks(connection: Connection, workspace: int, summary: str) -> list[LineCheck]:
    """Read what `checking` has stored for a summary, in its order."""
    rows = connection.rows(
        "select l.checked, l.matches, l.path, l.start_line, l.end_line, l.hash"
        f" from memcli.lineage l where l.workspace = $1 and l.document = ({_SUMMARY})"
        " order by l.no",
        (workspace, MEMORY_SOURCE, summary),
    )
    return [LineCheck(SourceLines(*lines), file, holds) for file, holds, *lines in rows]


def checking(workspace: int, summary: str, checks: Sequence[LineCheck]) -> list[Statement]:
    """Replace the stored places of the lines that a summary cites."""
    document = (workspace, MEMORY_SOURCE, summary)
    rows = [(number, *each.lines, each.file, each.holds) for number, each in enumerate(checks)]
    return [
        Statement(f"select memcli.drop_lineage($1, ({_SUMMARY}))", document),
        Statement(
            "insert into memcli.lineage (workspace, document, no, path, start_line, end_line, hash,"
            f" checked, matches) select $1, ({_SUMMARY}), r.* from json_to_recordset($4::json) r"
            " (no int, path text, start_line int, end_line int, hash bytea, checked bytea,"
            " matches boolean)",
            (*document, as_json(_COLUMNS, rows)),
        ),
    ]


def supports(connection: Connection, workspace: int) -> list[Support]:
    """List the lines that summaries cite, and whether the stored file still has them."""
    rows = connection.rows(
        "select d.path, l.matches and l.checked is not distinct from s.hash, l.path, l.start_line,"
        " l.end_line, l.hash from memcli.lineage l join memcli.documents d"
        " on d.workspace = l.workspace and d.id = l.document left join memcli.documents s"
        " on s.workspace = l.workspace and s.source = $2 and s.path = l.path"
        " where l.workspace = $1 and d.source = $2"
        " order by d.path, l.path, l.start_line, l.end_line",
        (workspace, MEMORY_SOURCE),
    )
    return [Support(summary, SourceLines(*lines), holds) for summary, holds, *lines in rows]
