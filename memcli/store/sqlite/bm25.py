"""Compute FTS5's bm25() with given weights; FTS5 itself knows only those of one table.

The formula is exactly that of FTS5: https://sqlite.org/fts5.html#the_bm25_function. FTS5 keeps a
function as long as the connection, and a statement keeps the function that it was prepared with.
So each function is made once, and the weights of a query are part of the query.

`scores` ranks by rare words, and counts common ones only in the chunks that the rare ones find. In
a ranking by FTS5's bm25(), reading the rows of a term is cheap: a tenth of a microsecond each.
Looking up the length of each matching chunk takes 2 microseconds. So the rare terms and groups of
common ones find the chunks, a few thousand of them, and common terms add their share to those.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from math import log
from weakref import WeakSet

import apsw

from memcli.checking import TYPE_CHECKING
from memcli.language.tokens import K1, B
from memcli.store.records import Totals
from memcli.store.sqlite import keywords
from memcli.store.sqlite.driver import rows
from memcli.store.sqlite.fts_query import expression, phrase, spellings
from memcli.types import Term, TermQuery

if TYPE_CHECKING:
    from memcli.store.sqlite.filters import Select

LEAST_IDF = 1e-6  # for a term in most chunks
_registered: WeakSet[apsw.Connection] = WeakSet()  # connections that have the functions


def idf(chunks: int, holders: int) -> float:
    """Return the weight of a phrase that `holders` of so many chunks contain."""
    if holders > chunks:  # possible with an estimated count
        return LEAST_IDF
    weight = log((chunks - holders + 0.5) / (holders + 0.5))
    return weight if weight > 0 else LEAST_IDF


def sizes(connection: apsw.Connection) -> tuple[int, int]:
    """Count the chunks and their tokens."""
    register(connection)
    ((text,),) = rows(connection, "SELECT sizes(fts) FROM fts LIMIT 1") or [("[0, 0]",)]
    chunks, tokens = json.loads(text)
    return chunks, tokens


def _weighing(chunks: int, tokens: int, weights: Sequence[float]) -> str:
    """Write the score of a row, by the counts of a collection and a weight for each phrase.

    Phrases are those of an expression, in order. Further phrases have the weight 0.
    """
    mean = tokens / chunks if chunks else 1.0
    return f"weighed(fts, '{json.dumps([mean, *weights])}')"


def register(connection: apsw.Connection) -> None:
    """Register `sizes` and `weighed` on a connection."""
    if connection not in _registered:
        _registered.add(connection)
        connection.register_fts5_function("weighed", _weighed)
        connection.register_fts5_function("sizes", _sizes)


def _sizes(table: apsw.FTS5ExtensionApi, *_: object) -> str:
    return json.dumps([table.row_count, table.column_total_size(-1)])


def _weighed(row: apsw.FTS5ExtensionApi, *values: object) -> float:
    data = row.aux_data
    if data is None:  # the first row of a query
        mean, *weights = json.loads(str(values[0]))
        data = row.aux_data = (mean, tuple(enumerate(weights)))
    mean, weights = data
    locations = row.phrase_locations
    length = K1 * (1 - B + B * row.column_size(-1) / mean)
    score = 0.0
    for place, weight in weights:
        heading, body = locations(place)
        times = len(heading) + len(body)
        if times:
            score += weight * (times * (K1 + 1) / (times + length))
    return score


def totals(connection: apsw.Connection, match: str) -> Totals:
    """Count the chunks, their tokens, and the chunks that contain each phrase of an expression."""
    count = "SELECT count(*) FROM fts WHERE fts MATCH ?"
    holders = {
        term: rows(connection, count, (phrase(Term(term.text)) + "*" * term.prefix,))[0][0]
        for term in dict.fromkeys(_phrases(match))
    }
    return Totals(*sizes(connection), holders)


def _phrases(match: str) -> list[Term]:
    """List the phrases of an expression, in the order in which FTS5 counts them."""
    phrases = re.findall(r'"((?:[^"]|"")*)"(\*?)', match)
    return [Term(text.replace('""', '"'), bool(is_open)) for text, is_open in phrases]


def scores(
    connection: apsw.Connection, query: TermQuery, within: Select | None, by: Totals | None
) -> dict[int, float]:
    """Return the BM25 by id of all chunks that rare terms or groups of common ones find.

    `within` is as for `keywords.scores`.
    """
    register(connection)
    match, joint = expression(query), _joint(query)
    score = keywords.BM25
    if match and by:
        weights = [idf(by.chunks, by.holders.get(term, 0)) for term in _phrases(match)]
        score = _weighing(by.chunks, by.tokens, weights)
    matches = keywords.scores(connection, match, within, score)
    either = " OR ".join(f"({each})" for each in (match, joint) if each)
    if either and query.also:
        chunks, tokens = sizes(connection)
        weights = [idf(chunks, count) for term, count in query.also for _ in spellings(term)]
        score = _weighing(chunks, tokens, weights)
        added = keywords.scores(connection, _beside(query, either), within, score)
        for chunk_id, more in added.items():
            matches[chunk_id] = matches.get(chunk_id, 0.0) + more
    return matches


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
