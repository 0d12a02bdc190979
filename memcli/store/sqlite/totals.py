"""Rank by the totals of several indexes: FTS5's own bm25() knows those of its table alone.

Its formula is followed to the letter, so that what is weighed by the totals of one index has the
scores of bm25(): https://sqlite.org/fts5.html#the_bm25_function

A function of FTS5 stays with its connection, and with every statement that was prepared while it
was there. So there is one, and what a query weighs by stands in the query.
"""

from __future__ import annotations

import json
import re
from math import log

import apsw

from memcli.store.sqlite.driver import rows
from memcli.store.sqlite.match import phrase
from memcli.store.totals import Totals
from memcli.types import Term

K1, B = 1.2, 0.75
LEAST_IDF = 1e-6  # of what most chunks hold
_PHRASE = re.compile(r'"((?:[^"]|"")*)"(\*?)')


def register(connection: apsw.Connection) -> None:
    """Make the functions known to a connection, once."""
    connection.register_fts5_function("sizes", _sizes)
    connection.register_fts5_function("weighed", _weighed)


def totals(connection: apsw.Connection, match: str) -> Totals:
    """Count the chunks, their tokens, and the chunks that hold each phrase of an expression."""
    ((told,),) = rows(connection, "SELECT sizes(fts) FROM fts LIMIT 1") or [("[0, 0]",)]
    count = "SELECT count(*) FROM fts WHERE fts MATCH ?"
    holders = {
        term: rows(connection, count, (_alone(term),))[0][0]
        for term in dict.fromkeys(_phrases(match))
    }
    chunks, tokens = json.loads(told)
    return Totals(chunks, tokens, holders)


def weighed(match: str, by: Totals) -> str:
    """Write the BM25 of a row by the totals of several indexes, for queries of an expression."""
    mean = by.tokens / by.chunks if by.chunks else 1.0
    weights = json.dumps([mean, *(_idf(by, term) for term in _phrases(match))])
    return f"weighed(fts, '{weights}')"


def _sizes(table: apsw.FTS5ExtensionApi, *_: object) -> str:
    return json.dumps([table.row_count, table.column_total_size(-1)])


def _weighed(row: apsw.FTS5ExtensionApi, *told: object) -> float:
    if row.aux_data is None:  # the first row of a query
        row.aux_data = json.loads(str(told[0]))
    mean, *weights = row.aux_data
    length = K1 * (1 - B + B * row.column_size(-1) / mean)
    found = 0.0
    for place, idf in enumerate(weights):
        times = sum(map(len, row.phrase_locations(place)))
        if times:
            found += idf * (times * (K1 + 1) / (times + length))
    return found


def _phrases(match: str) -> list[Term]:
    """List what an expression names, in the order in which FTS5 counts it."""
    found = _PHRASE.findall(match)
    return [Term(text.replace('""', '"'), bool(is_open)) for text, is_open in found]


def _alone(term: Term) -> str:
    """Write one spelling as it stands in an expression."""
    return phrase(Term(term.text)) + "*" * term.prefix


def _idf(by: Totals, term: Term) -> float:
    holders = by.holders.get(term, 0)
    idf = log((by.chunks - holders + 0.5) / (holders + 0.5))
    return idf if idf > 0 else LEAST_IDF
