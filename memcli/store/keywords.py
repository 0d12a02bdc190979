"""Ask the FTS5 table: who matches, how well, how many.

FTS5 starts its query anew for each row of a `rowid IN (…)`, and bm25 then counts every term again.
A `+` keeps the condition out of FTS5: one walk over what matches, 100 times faster for 500 rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import apsw

from memcli.store.driver import rows

HEADING_WEIGHT = 1.0
BODY_WEIGHT = 1.0
BM25 = f"-bm25(fts, {HEADING_WEIGHT}, {BODY_WEIGHT})"  # larger is better


def ranked(
    connection: apsw.Connection, match: str, limit: int, within: tuple[str, Sequence[Any]] | None
) -> list[tuple[int, float]]:
    """List the best matches as (chunk id, BM25), best first; ties by id.

    `within` is a SELECT of the chunk ids to search in, with its bindings.
    """
    select, values = within or ("", ())
    condition = f" AND rowid IN ({select})" if select else ""
    found = rows(
        connection,
        f"SELECT rowid, {BM25} AS score FROM fts WHERE fts MATCH ?{condition}"
        " ORDER BY score DESC, rowid LIMIT ?",
        (match, *values, limit),
    )
    return [(row[0], row[1]) for row in found]


def scores(connection: apsw.Connection, match: str, ids: Sequence[int]) -> dict[int, float]:
    """Give the BM25 of those of some chunks that match."""
    marks = ",".join("?" * len(ids))
    found = rows(
        connection,
        f"SELECT rowid, {BM25} FROM fts WHERE fts MATCH ? AND +rowid IN ({marks})",
        (match, *ids),
    )
    return {row[0]: row[1] for row in found}


def held(connection: apsw.Connection, match: str, ids: Sequence[int]) -> tuple[int, set[int]]:
    """Count the chunks that match, and tell which of some chunks are among them."""
    marks = ",".join("?" * len(ids))
    ((count, found),) = rows(
        connection,
        f"SELECT count(*), group_concat(iif(rowid IN ({marks}), rowid, NULL)) FROM fts"
        " WHERE fts MATCH ?",
        (*ids, match),
    )
    return count, set(map(int, found.split(","))) if found else set()


def frequency(connection: apsw.Connection, match: str, most: int) -> int:
    """Count the chunks that match; beyond `most` by how soon so many were found."""
    ((count, last),) = rows(
        connection,
        "SELECT count(*), max(rowid) FROM (SELECT rowid FROM fts WHERE fts MATCH ? LIMIT ?)",
        (match, most),
    )
    if count < most:
        return int(count)
    ((end,),) = rows(connection, "SELECT max(id) FROM chunks")
    return int(count * end // last)
