"""Rank by rare words, and count common ones only where they can still change the first places.

What costs in a ranking by FTS5's bm25() is not to walk the rows of a term but to look up how long
each chunk is that matches: 2 microseconds a row against a tenth. So chunks are found by the rare
terms, and by groups of common ones if these could do for the first places; a common term adds its
share to what is found. That is less than k1 + 1 times its IDF: who is not among the first with all
of it is passed over. The result is that of scoring all that is found. The bound is that of MaxScore
(Turtle and Flood, "Query evaluation: strategies and optimizations", 1995).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from heapq import nlargest

import apsw

from memcli.checking import TYPE_CHECKING
from memcli.record import Record
from memcli.store.sqlite import bm25, keywords
from memcli.store.sqlite.driver import rows
from memcli.store.sqlite.match import expression, phrase, spellings
from memcli.types import Wanted

if TYPE_CHECKING:
    from typing import Any


def ranked(
    connection: apsw.Connection,
    wanted: Wanted,
    limit: int,
    within: tuple[str, Sequence[Any]] | None,
) -> list[tuple[int, float]]:
    """List the best matches as (chunk id, BM25), best first; ties by source, path and place.

    `within` is a SELECT of the chunk ids to search in, with its bindings.
    """
    match, joint = expression(wanted), _joint(wanted)
    if limit < 1:
        return []
    chunks, tokens = bm25.sizes(connection)
    weights = _weights(wanted, chunks)
    asked = _Asked(_beside(wanted, match or joint), tokens / chunks if chunks else 1.0, weights)
    most = (bm25.K1 + 1) * sum(weights)
    every = _found(connection, match, within, keywords.BM25) if match else {}
    best = dict(nlargest(limit, every.items(), key=_score))
    scores = _added(connection, asked, best)
    # What the best have tells who else may be among them.
    left = {c: score for c, score in _within(every, limit, scores, most).items() if c not in best}
    if joint and most >= _least(scores, limit):
        others = _found(connection, joint, within, "0.0")
        left |= {chunk_id: 0.0 for chunk_id in others if chunk_id not in every}
        either = f"({match}) OR {joint}" if match else joint
        asked = asked._replace(match=_beside(wanted, either))
    scores |= _added(connection, asked, left)
    return _first(connection, scores, limit)


def raised(
    connection: apsw.Connection, wanted: Wanted, scores: dict[int, float]
) -> dict[int, float]:
    """Add what common terms say to the scores of chunks; those that are not found keep theirs."""
    match = " OR ".join(f"({each})" for each in (expression(wanted), _joint(wanted)) if each)
    if not (match and scores):
        return scores
    chunks, tokens = bm25.sizes(connection)
    asked = _Asked(_beside(wanted, match), tokens / chunks if chunks else 1.0,
                   _weights(wanted, chunks))  # fmt: skip
    return _added(connection, asked, scores)


def _joint(wanted: Wanted) -> str:
    """Write what finds a chunk with all of a group of common terms."""
    groups = (Wanted(all=tuple((t,) for t in group), none=wanted.none) for group in wanted.together)
    return " OR ".join(f"({expression(group)})" for group in groups)


class _Asked(Record):
    """What is asked of the common terms beside what finds."""

    match: str
    mean: float  # length of a chunk, in tokens
    weights: Sequence[float]  # by the places of their phrases in `match`


def _beside(wanted: Wanted, match: str) -> str:
    """Write what finds a chunk with one of the common terms, whose phrases are named first."""
    common = " OR ".join(phrase(term) for term, _ in wanted.also)
    return f"({common}) AND ({match})"


def _added(
    connection: apsw.Connection, asked: _Asked, scores: dict[int, float]
) -> dict[int, float]:
    if not scores:
        return {}
    added = rows(
        connection,
        "SELECT rowid, weighed(fts, ?) FROM fts WHERE fts MATCH ?"
        " AND +rowid IN (SELECT value FROM json_each(?))",
        (bm25.told(asked.mean, asked.weights), asked.match, json.dumps([*scores])),
    )
    return scores | {chunk_id: scores[chunk_id] + more for chunk_id, more in added}


def _found(
    connection: apsw.Connection,
    match: str,
    within: tuple[str, Sequence[Any]] | None,
    score: str,
) -> dict[int, float]:
    """Give all that matches, with a score."""
    select, values = within or ("", ())
    condition = f"fts MATCH ?{f' AND +rowid IN ({select})' if select else ''}"
    return dict(rows(connection, f"SELECT rowid, {score} FROM fts WHERE {condition}",
                     (match, *values)))  # fmt: skip


def _within(
    found: Mapping[int, float], limit: int, scores: Mapping[int, float], most: float
) -> dict[int, float]:
    """Keep the chunks that with so much more may be among the first, which have these scores."""
    least = _least(scores, limit)
    return {chunk_id: score for chunk_id, score in found.items() if score + most >= least}


def _least(scores: Mapping[int, float], limit: int) -> float:
    """Give the score that a chunk needs at least to be among the first."""
    return nlargest(limit, scores.values())[-1] if len(scores) >= limit else 0.0


def _score(found: tuple[int, float]) -> float:
    return found[1]


def _first(
    connection: apsw.Connection, scores: dict[int, float], limit: int
) -> list[tuple[int, float]]:
    """Cut scores to the best, of which equal ones go by place."""
    scores = _within(scores, limit, scores, 0.0)
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


def _weights(wanted: Wanted, chunks: int) -> list[float]:
    """Give the IDF of each spelling of the common terms, that of its term."""
    weights = []
    for term, count in wanted.also:
        weights += [bm25.idf(chunks, count)] * len(spellings(term))
    return weights
