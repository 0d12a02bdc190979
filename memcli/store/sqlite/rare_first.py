"""Rank by rare words, and count common ones only in what these find.

What costs in a ranking by FTS5's bm25() is not to walk the rows of a term but to look up how long
each chunk is that matches: 2 microseconds a row against a tenth. So chunks are found by the rare
terms and by groups of common ones, few thousands of them; a common term adds its share to what is
found. To weigh only those that could still be among the first saves nothing: each further look at
a common term walks all of its rows, and bounds on its share leave nearly all of them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from heapq import nlargest
from math import inf

import apsw

from memcli.checking import TYPE_CHECKING
from memcli.store.sqlite import bm25, keywords
from memcli.store.sqlite.driver import rows
from memcli.store.sqlite.match import expression, phrase, spellings
from memcli.types import Wanted

if TYPE_CHECKING:
    from typing import Any


def scores(
    connection: apsw.Connection, wanted: Wanted, within: tuple[str, Sequence[Any]] | None
) -> dict[int, float]:
    """Return the BM25 of all chunks that the rare terms find, or groups of common ones, by id.

    `within` is a SELECT of the chunk ids to search in, with its bindings.
    """
    match, joint = expression(wanted), _joint(wanted)
    found = _found(connection, match, within, keywords.BM25) if match else {}
    either = " OR ".join(f"({each})" for each in (match, joint) if each)
    if either and wanted.also:
        chunks, tokens = bm25.sizes(connection)
        told = bm25.weight_list(tokens / chunks if chunks else 1.0, _weights(wanted, chunks))
        added = _found(connection, _beside(wanted, either), within, f"weighed(fts, '{told}')")
        for chunk_id, more in added.items():
            found[chunk_id] = found.get(chunk_id, 0.0) + more
    return found


def first(
    connection: apsw.Connection, scores: dict[int, float], limit: int
) -> list[tuple[int, float]]:
    """List the best as (chunk id, BM25), best first; equal ones go by source, path and place."""
    if len(scores) > limit:
        least = nlargest(limit, scores.values())[-1] if limit > 0 else inf
        scores = {chunk_id: score for chunk_id, score in scores.items() if score >= least}
    if len({*scores.values()}) == len(scores):
        return sorted(scores.items(), key=_score, reverse=True)
    placed = rows(
        connection,
        f"SELECT c.id FROM {keywords.PLACED}"
        f" WHERE c.id IN (SELECT value FROM json_each(?)) {keywords.BY_PLACE}",
        (json.dumps([*scores]),),
    )
    ids = sorted((chunk_id for (chunk_id,) in placed), key=lambda chunk_id: -scores[chunk_id])
    return [(chunk_id, scores[chunk_id]) for chunk_id in ids[:limit]]


def _joint(wanted: Wanted) -> str:
    """Write a query for chunks with all of a group of common terms."""
    groups = (Wanted(all=tuple((t,) for t in group), none=wanted.none) for group in wanted.together)
    return " OR ".join(f"({expression(group)})" for group in groups)


def _beside(wanted: Wanted, match: str) -> str:
    """Write a query for chunks with one of the common terms, whose phrases come first."""
    common = " OR ".join(phrase(term) for term, _ in wanted.also)
    return f"({common}) AND ({match})"


def _found(
    connection: apsw.Connection,
    match: str,
    within: tuple[str, Sequence[Any]] | None,
    score: str,
) -> dict[int, float]:
    """Return all that matches, with a score."""
    select, values = within or ("", ())
    condition = f"fts MATCH ?{f' AND +rowid IN ({select})' if select else ''}"
    return dict(rows(connection, f"SELECT rowid, {score} FROM fts WHERE {condition}",
                     (match, *values)))  # fmt: skip


def _score(found: tuple[int, float]) -> float:
    return found[1]


def _weights(wanted: Wanted, chunks: int) -> list[float]:
    """Return the IDF of each spelling of the common terms, which is that of its term."""
    weights = []
    for term, count in wanted.also:
        weights += [bm25.idf(chunks, count)] * len(spellings(term))
    return weights
