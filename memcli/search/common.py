"""Leave the commonest terms of a query out of what is looked for on a large index; pure.

The time of a keyword search is that of the rows its terms bring, about a millisecond a thousand,
and the terms that bring most rows tell least. Where no term brings many, nothing is left out.
What is left out still counts where passages are cut out of chunks. On conversations cut down in
proportion (LoCoMo conv-26, MADial-Bench) this took .011 from nDCG@10.
"""

from __future__ import annotations

from collections.abc import Mapping

from memcli.search.query import ParsedQuery

MOST_ROWS = 10_000  # that the alternatives of a query may bring
MAJORITY = 0.5  # of the chunks: FTS5 gives a commoner term no weight in BM25


def without_majority(query: ParsedQuery, frequencies: Mapping[str, int], total: int) -> ParsedQuery:
    """Take terms that most of `total` chunks hold for stop words, but never the rarest term."""
    matches = ((term, term.match) for term in query.sought)
    counted = {term: frequencies[match] for term, match in matches if match}
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


def affordable(frequencies: Mapping[str, int]) -> tuple[str, ...]:
    """Keep the rarest expressions that together bring at most MOST_ROWS, and always the rarest."""
    kept: set[str] = set()
    brought = 0
    for expression, rows in sorted(frequencies.items(), key=lambda item: item[1]):
        brought += rows
        if kept and brought > MOST_ROWS:
            break
        kept.add(expression)
    return tuple(expression for expression in frequencies if expression in kept)
