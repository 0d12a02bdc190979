"""Find a query in a large index by its rarer terms, and count the commonest beside them; pure.

The time of a keyword search is that of the rows its terms bring, about two milliseconds a thousand,
and the terms that bring most rows tell least. So nothing is found by one of them alone; what the
others find has its share of them, and so has what several of them find together. Where no term
brings many, all of them find.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from math import fsum, inf, log

from memcli.search.query import ParsedQuery
from memcli.types import Term

SMALL = 10_000  # chunks of an index where every term finds
MOST_ROWS = 5_000  # that the alternatives of a query may bring in a larger one
GROUP_ROWS = 2_000  # that groups of the others may bring
FEW_ROWS = 1_000  # where they bring fewer, one more may make it twice MOST_ROWS
MAJORITY = 0.5  # of the chunks: BM25 gives a commoner term no weight
MOST_SHARE = 2.2  # of a term in a score, times its IDF, however often it stands there: k1 + 1


def without_majority(
    query: ParsedQuery, frequencies: Mapping[Term, int], total: int
) -> ParsedQuery:
    """Take terms that most of `total` chunks hold for stop words, but never the rarest term."""
    asked = ((term, term.sought) for term in query.sought)
    counted = {term: frequencies[sought] for term, sought in asked if sought}
    if not counted:
        return query
    rarest = min(counted, key=lambda term: counted[term])
    common = {
        term
        for term, rows in counted.items()
        if rows > MAJORITY * total and rows > MOST_ROWS and term != rarest
    }
    return query._replace(
        terms=tuple(term._replace(stop=True) if term in common else term for term in query.terms)
    )


def parted(
    frequencies: Mapping[Term, int], total: int
) -> tuple[tuple[Term, ...], tuple[tuple[Term, int], ...]]:
    """Part terms into those that find and those that count beside them, with their frequencies.

    The rarest find that together bring about MOST_ROWS, and the rarest that any chunk holds unless
    it brings more than twice as many and `groups_of` find without it. What most of `total` chunks
    hold does not count either.
    """
    kept: set[Term] = set()
    brought = 0
    for term, rows in sorted(frequencies.items(), key=lambda item: item[1]):
        if brought and brought + rows > MOST_ROWS * (1 if brought >= FEW_ROWS else 2):
            break
        brought += rows
        kept.add(term)
    counted = {term: rows for term, rows in frequencies.items() if rows <= MAJORITY * total}
    if brought > 2 * MOST_ROWS:
        among = tuple((term, rows) for term, rows in counted.items() if rows)
        if groups_of(among, total, alone=True):
            return (), among
    return (
        tuple(term for term in frequencies if term in kept),
        tuple((term, rows) for term, rows in counted.items() if term not in kept),
    )


def groups_of(
    also: tuple[tuple[Term, int], ...], total: int, *, alone: bool
) -> tuple[tuple[Term, ...], ...]:
    """Return groups of common terms that find where they stand together, the rarest first.

    As many pairs as bring GROUP_ROWS of `total` chunks, or MOST_ROWS where nothing else finds
    (`alone`), if terms are independent; where one pair brings more, the rarest terms that are
    enough together.
    """
    most = MOST_ROWS if alone else GROUP_ROWS
    ranked = sorted(also, key=lambda item: item[1])
    pairs = sorted((a[1] * b[1] / total, (a[0], b[0])) for a, b in combinations(ranked, 2))
    found: list[tuple[Term, ...]] = []
    brought = 0.0
    for rows, pair in pairs:
        brought += rows
        if brought > most:
            break
        found.append(pair)
    share, group = 1.0, []
    for term, rows in ranked if pairs and not found else ():
        share *= rows / total
        group.append(term)
        if share * total <= most:
            return (tuple(group),)
    return tuple(found)


def greatest_share(also: tuple[tuple[Term, int], ...], total: int) -> float:
    """Return the BM25 that terms of some frequencies reach at most where nothing else is found.

    Where all that was found has more, nothing was missed. A beginning may be found in so many
    spellings that there is no such bound.
    """
    if any(term.prefix for term, _ in also):
        return inf
    return MOST_SHARE * fsum(log((total - rows + 0.5) / (rows + 0.5)) for _, rows in also)
