"""Ask the index for the candidates of a query and for what they cover of it.

The one stage of a search that touches the store.
"""

from __future__ import annotations

from math import log
from typing import NamedTuple

from memcli.search.query import ParsedQuery, Term
from memcli.store import text as fts
from memcli.store.reader import Legs, Reader
from memcli.types import Candidate, Filters


class Recalled(NamedTuple):
    """Candidates, and the share of the query's IDF that each one matches."""

    candidates: tuple[Candidate, ...]
    coverage: dict[int, float]
    unmatched: tuple[str, ...]  # terms that no chunk holds


def recall(
    reader: Reader,
    query: ParsedQuery,
    *,
    lexical: bool,
    vector: bytes | None,
    universe: int,
    filters: Filters,
) -> Recalled:
    """Run the legs that are on; a leg of None is off."""
    match = query.match_any if lexical else None
    legs = Legs(match, _literal(query) if lexical else None, vector, universe, filters)
    candidates = tuple(reader.recall(legs))
    if not candidates or not lexical:
        return Recalled(candidates, {}, ())
    total = reader.counts().chunks
    held: dict[int, float] = {}
    sought = 0.0
    unmatched: list[str] = []
    for terms in _groups(query):
        expression = fts.any_of(term.match for term in terms)
        if expression is None:
            continue
        frequency = reader.count_matches(expression)
        idf = log(1 + (total - frequency + 0.5) / (frequency + 0.5))
        sought += idf
        if not frequency:
            unmatched.append(terms[0].text)
            continue
        for chunk_id in reader.matching(expression, [c.chunk_id for c in candidates]):
            held[chunk_id] = held.get(chunk_id, 0.0) + idf
    coverage = {chunk: idf / sought for chunk, idf in held.items()} if sought else {}
    return Recalled(candidates, coverage, tuple(unmatched))


def _groups(query: ParsedQuery) -> list[list[Term]]:
    """Count each term by itself, pairs of an unspaced run too: each says something."""
    return [[term] for term in query.sought]


def _literal(query: ParsedQuery) -> str | None:
    """Want all terms, or a quoted phrase, or an identifier, in one chunk."""
    exact = (t.match for t in query.sought if t.kind in ("phrase", "identifier"))
    return fts.any_of([query.match_all, *(e for e in exact if len(query.sought) > 1)])
