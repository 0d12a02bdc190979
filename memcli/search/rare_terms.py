"""Find a query in a large index by its rarer terms, and only count the commonest; pure.

The time of a keyword search is that of the rows of its terms, about two milliseconds per thousand,
and the terms with most rows say least. So none of these finds a chunk by itself. They count in
chunks that other terms find, and chunks that contain several of them are found. If no term has many
rows, all find.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from math import fsum, inf, log

from memcli.search.query import ParsedQuery
from memcli.types import Term

SMALL = 10_000  # chunks of an index in which every term finds
MOST_ROWS = 5_000  # rows of the finding terms in a larger one
GROUP_ROWS = 2_000  # that groups of the others may bring
FEW_ROWS = 1_000  # if they have fewer rows, one more term may double MOST_ROWS
MAJORITY = 0.5  # of the chunks: BM25 gives no weight to a commoner term
MOST_SHARE = 2.2  # of a term in a score, times its IDF, however often it occurs: k1 + 1


def without_majority(
    query: ParsedQuery, frequencies: Mapping[Term, int], total: int
) -> ParsedQuery:
    """Treat terms that most of `total` chunks contain as stop words, but never the rarest term."""
    pairs = ((term, term.index_term) for term in query.counted_terms)
    counted = {term: frequencies[index_term] for term, index_term in pairs if index_term}
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
    """Divide terms into those that find and those that only count, with their frequencies.

    The rarest find that together have about MOST_ROWS, and the rarest that any chunk contains,
    unless it has more than twice as many and `groups_of` find without it. A term in most of `total`
    chunks does not count either.
    """
    rare: set[Term] = set()
    brought = 0
    for term, rows in sorted(frequencies.items(), key=lambda item: item[1]):
        if brought and brought + rows > MOST_ROWS * (1 if brought >= FEW_ROWS else 2):
            break
        brought += rows
        rare.add(term)
    counted = {term: rows for term, rows in frequencies.items() if rows <= MAJORITY * total}
    if brought > 2 * MOST_ROWS:
        among = tuple((term, rows) for term, rows in counted.items() if rows)
        if groups_of(among, total, alone=True):
            return (), among
    return (
        tuple(term for term in frequencies if term in rare),
        tuple((term, rows) for term, rows in counted.items() if term not in rare),
    )


def groups_of(
    also: tuple[tuple[Term, int], ...], total: int, *, alone: bool
) -> tuple[tuple[Term, ...], ...]:
    """Return groups of common terms that find chunks with all of a group, the rarest first.

    These are as many pairs as find up to GROUP_ROWS of `total` chunks, or MOST_ROWS if no other
    term finds any (`alone`), assuming independent terms. If one pair finds more, the result is one
    group of the rarest terms, as many as needed.
    """
    most = MOST_ROWS if alone else GROUP_ROWS
    ranked = sorted(also, key=lambda item: item[1])
    pairs = sorted((a[1] * b[1] / total, (a[0], b[0])) for a, b in combinations(ranked, 2))
    groups: list[tuple[Term, ...]] = []
    brought = 0.0
    for rows, pair in pairs:
        brought += rows
        if brought > most:
            break
        groups.append(pair)
    share, group = 1.0, []
    for term, rows in ranked if pairs and not groups else ():
        share *= rows / total
        group.append(term)
        if share * total <= most:
            return (tuple(group),)
    return tuple(groups)


def greatest_share(also: tuple[tuple[Term, int], ...], total: int) -> float:
    """Return the greatest BM25 that terms of some frequencies can reach by themselves.

    If everything found has more, nothing was missed. A prefix may have so many spellings that there
    is no such bound.
    """
    if any(term.prefix for term, _ in also):
        return inf
    return MOST_SHARE * fsum(log((total - rows + 0.5) / (rows + 0.5)) for _, rows in also)
