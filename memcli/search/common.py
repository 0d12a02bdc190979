"""Leave the commonest terms of a query out of what is looked for on a large index; pure.

The time of a keyword search is that of the rows its terms bring, about a millisecond a thousand,
and the terms that bring most rows tell least. Where no term brings many, nothing is left out.
What is left out still counts where passages are cut out of chunks. On conversations cut down in
proportion (LoCoMo conv-26, MADial-Bench) this took .011 from nDCG@10.
"""

from __future__ import annotations

from collections.abc import Mapping

from memcli.search.query import ParsedQuery
from memcli.types import Term

MOST_ROWS = 10_000  # that the alternatives of a query may bring
MAJORITY = 0.5  # of the chunks: BM25 gives a commoner term no weight


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


def affordable(frequencies: Mapping[Term, int]) -> tuple[Term, ...]:
    """Keep the rarest terms that together bring at most MOST_ROWS, and always the rarest."""
    kept: set[Term] = set()
    brought = 0
    for term, rows in sorted(frequencies.items(), key=lambda item: item[1]):
        brought += rows
        if kept and brought > MOST_ROWS:
            break
        kept.add(term)
    return tuple(term for term in frequencies if term in kept)
