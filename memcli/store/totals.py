"""What the words of a question are weighed by, where several stores are asked as one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from memcli.record import Record
from memcli.types import Term


class Totals(Record):
    """The counts that BM25 takes from a whole collection."""

    chunks: int
    tokens: int  # of all chunks, headings included
    holders: Mapping[Term, int]  # chunks that hold each spelling that is looked for


def added(totals: Iterable[Totals]) -> Totals:
    """Give the totals of one collection that holds all."""
    found, holders = tuple(totals), Counter[Term]()
    for each in found:
        holders.update(each.holders)
    return Totals(sum(t.chunks for t in found), sum(t.tokens for t in found), holders)
