"""Rank by rare words, and count common ones only in the chunks that the rare ones find.

In a ranking by FTS5's bm25(), reading the rows of a term is cheap: a tenth of a microsecond each.
Looking up the length of each matching chunk takes 2 microseconds. So the rare terms and groups of
common ones find the chunks, a few thousand of them, and common terms add their share to those. It
does not help to weigh only the chunks that may still be among the first: each further lookup of a
common term reads all its rows, and bounds on its share exclude almost none of them.
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
from memcli.store.sqlite.fts_query import expression, phrase, spellings
from memcli.types import TermQuery

if TYPE_CHECKING:
    from typing import Any


def scores(
    connection: apsw.Connection, query: TermQuery, within: tuple[str, Sequence[Any]] | None
) -> dict[int, float]:
    """Return the BM25 by id of all chunks that rare terms or groups of common ones find.

    `within` is a SELECT of the chunk ids to search in, with its bindings.
    """
    match, joint = expression(query), _joint(query)
    matches = _matches(connection, match, within, keywords.BM25) if match else {}
    either = " OR ".join(f"({each})" for each in (match, joint) if each)
    if either and query.also:
        chunks, tokens = bm25.sizes(connection)
        weights = bm25.weight_list(tokens / chunks if chunks else 1.0, _weights(query, chunks))
        added = _matches(connection, _beside(query, either), within, f"weighed(fts, '{weights}')")
        for chunk_id, more in added.items():
            matches[chunk_id] = matches.get(chunk_id, 0.0) + more
    return matches


def first(
    connection: apsw.Connection, scores: dict[int, float], limit: int
) -> list[tuple[int, float]]:
    """List the best as (chunk id, BM25), best first; ties by source, path and place."""
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


def _joint(query: TermQuery) -> str:
    """Write a query for chunks that contain all of a group of common terms."""
    groups = (
        TermQuery(all=tuple((t,) for t in group), none=query.none) for group in query.together
    )
    return " OR ".join(f"({expression(group)})" for group in groups)


def _beside(query: TermQuery, match: str) -> str:
    """Write a query for matches with one of the common terms, whose phrases come first."""
    common = " OR ".join(phrase(term) for term, _ in query.also)
    return f"({common}) AND ({match})"


def _matches(
    connection: apsw.Connection, match: str, within: tuple[str, Sequence[Any]] | None, score: str
) -> dict[int, float]:
    """Return all matches with a score."""
    select, values = within or ("", ())
    condition = f"fts MATCH ?{f' AND +rowid IN ({select})' if select else ''}"
    return dict(rows(connection, f"SELECT rowid, {score} FROM fts WHERE {condition}",
                     (match, *values)))  # fmt: skip


def _score(pair: tuple[int, float]) -> float:
    return pair[1]


def _weights(query: TermQuery, chunks: int) -> list[float]:
    """Return the weight of each spelling of the common terms, which is the IDF of its term."""
    weights = []
    for term, count in query.also:
        weights += [bm25.idf(chunks, count)] * len(spellings(term))
    return weights
