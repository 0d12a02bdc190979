"""Rank by the totals of several indexes, which are asked as one."""

from __future__ import annotations

import re

import apsw

from memcli.store.sqlite import bm25
from memcli.store.sqlite.driver import rows
from memcli.store.sqlite.match import phrase
from memcli.store.totals import Totals
from memcli.types import Term

# Of one question to several indexes: what was written last, and by which totals.
_weighed: dict[str, tuple[Totals, str]] = {}
_PHRASE = re.compile(r'"((?:[^"]|"")*)"(\*?)')


def totals(connection: apsw.Connection, match: str) -> Totals:
    """Count the chunks, their tokens, and the chunks that hold each phrase of an expression.

    `bm25.register` has been called.
    """
    count = "SELECT count(*) FROM fts WHERE fts MATCH ?"
    holders = {
        term: rows(connection, count, (_alone(term),))[0][0]
        for term in dict.fromkeys(_phrases(match))
    }
    return Totals(*bm25.counted(connection), holders)


def weighed(match: str, by: Totals) -> str:
    """Write the BM25 of a row by the totals of several indexes, for queries of an expression."""
    known = _weighed.get(match)
    if known is None or known[0] is not by:
        known = by, _weigh(match, by)
        _weighed.clear()
        _weighed[match] = known
    return known[1]


def _weigh(match: str, by: Totals) -> str:
    mean = by.tokens / by.chunks if by.chunks else 1.0
    weights = [bm25.idf(by.chunks, by.holders.get(term, 0)) for term in _phrases(match)]
    return f"weighed(fts, '{bm25.told(mean, weights)}')"


def _phrases(match: str) -> list[Term]:
    """List what an expression names, in the order in which FTS5 counts it."""
    found = _PHRASE.findall(match)
    return [Term(text.replace('""', '"'), bool(is_open)) for text, is_open in found]


def _alone(term: Term) -> str:
    """Write one spelling as it stands in an expression."""
    return phrase(Term(term.text)) + "*" * term.prefix
