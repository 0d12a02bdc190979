"""Weigh rows as FTS5's own bm25() does, by weights that are given: it knows those of one table.

The formula is followed to the letter: https://sqlite.org/fts5.html#the_bm25_function. FTS5 keeps a
function for as long as the connection lives, and a statement the one that it was prepared with. So
each is made once, and what a query weighs by stands in the query.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import log
from weakref import WeakSet

import apsw

from memcli.store.sqlite.driver import rows

K1, B = 1.2, 0.75
LEAST_IDF = 1e-6  # of what most chunks hold
_told: WeakSet[apsw.Connection] = WeakSet()  # to which they are known


def idf(chunks: int, holders: int) -> float:
    """Give the weight of a phrase that so many of so many chunks hold."""
    if holders > chunks:  # by an estimate
        return LEAST_IDF
    found = log((chunks - holders + 0.5) / (holders + 0.5))
    return found if found > 0 else LEAST_IDF


def sizes(connection: apsw.Connection) -> tuple[int, int]:
    """Count the chunks and their tokens."""
    register(connection)
    return counted(connection)


def counted(connection: apsw.Connection) -> tuple[int, int]:
    """Count the chunks and their tokens, where `register` has been called."""
    ((told,),) = rows(connection, "SELECT sizes(fts) FROM fts LIMIT 1") or [("[0, 0]",)]
    chunks, tokens = json.loads(told)
    return chunks, tokens


def told(mean: float, weights: Sequence[float]) -> str:
    """Write what `weighed(fts, …)` weighs by: the mean length, and a weight for each phrase.

    Phrases are those of an expression, in its order; later ones without a weight count nothing.
    """
    return json.dumps([mean, *weights])


def register(connection: apsw.Connection) -> None:
    """Make `sizes` and `weighed` known to a connection."""
    if connection not in _told:
        _told.add(connection)
        connection.register_fts5_function("weighed", _weighed)
        connection.register_fts5_function("sizes", _sizes)


def _sizes(table: apsw.FTS5ExtensionApi, *_: object) -> str:
    return json.dumps([table.row_count, table.column_total_size(-1)])


def _weighed(row: apsw.FTS5ExtensionApi, *given: object) -> float:
    told = row.aux_data
    if told is None:  # the first row of a query
        mean, *weights = json.loads(str(given[0]))
        told = row.aux_data = (mean, tuple(enumerate(weights)))
    mean, weights = told
    locations = row.phrase_locations
    length = K1 * (1 - B + B * row.column_size(-1) / mean)
    found = 0.0
    for place, weight in weights:
        heading, body = locations(place)
        times = len(heading) + len(body)
        if times:
            found += weight * (times * (K1 + 1) / (times + length))
    return found
