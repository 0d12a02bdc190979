"""BM25 of the words in a shared index, computed from how often each chunk contains them.

It is computed here and not by the server, so that every store returns the same scores.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from memcli.checking import TYPE_CHECKING
from memcli.language.tokens import K1, B
from memcli.store.records import Totals
from memcli.store.tokens import idf, spellings
from memcli.types import Term, TermQuery

if TYPE_CHECKING:
    from memcli.store.postgres.postings import Postings

Clause = tuple[tuple[Term, ...], ...]  # a chunk needs one term of each group


def totals(postings: Postings, query: TermQuery) -> Totals:
    """Count what BM25 needs to weigh the words of `query`."""
    named = list(_named(query))
    postings.look_up(named)
    holders = {s: len(postings.counts(s)) for t in named for s in spellings(t)}
    chunks, tokens = postings.row.chunks, postings.row.words
    if min(chunks, tokens) < 0 or (any(holders.values()) and not tokens):
        raise ValueError("its words are not as many as was counted")
    return Totals(chunks, tokens, holders)


def scores(
    postings: Postings,
    query: TermQuery,
    by: Totals | None = None,
    among: Collection[int] | None = None,
) -> dict[int, float]:
    """Return the BM25 of every chunk that matches, or of those among some chunks."""
    postings.look_up(_named(query))
    by = by or totals(postings, query)
    by_chunk: dict[int, float] = {}
    for having, clause in _clauses_of(postings, query):
        chunks = having if among is None else having.intersection(among)
        for spelling in (s for group in clause for term in group for s in spellings(term)):
            counts, holders = postings.counts(spelling), by.holders.get(spelling, 0)
            for chunk, weight in _weights(postings, counts, by, holders, chunks):
                by_chunk[chunk] = by_chunk.get(chunk, 0.0) + weight
    unwanted = _union(postings, query.none)
    for group in query.together:
        having = postings.together(group) - unwanted
        chunks = having if among is None else having.intersection(among)
        by_chunk |= {chunk: by_chunk.get(chunk, 0.0) for chunk in chunks}
    if query.also:
        beside = postings.counts_in([term for term, _ in query.also], list(by_chunk))
        for term, holders in query.also:
            for spelling in spellings(term):
                for chunk, weight in _weights(postings, beside[spelling], by, holders, by_chunk):
                    by_chunk[chunk] += weight
    return by_chunk


def matching(postings: Postings, searched: Sequence[Term | TermQuery]) -> list[set[int]]:
    """Return the chunks that contain each term, or match each query."""
    queries = [TermQuery(any=(each,)) if isinstance(each, Term) else each for each in searched]
    postings.look_up([term for query in queries for term in _named(query)])
    return [
        {chunk for chunks, _ in _clauses_of(postings, query) for chunk in chunks}
        for query in queries
    ]


def _weights(
    postings: Postings, counts: Mapping[int, int], by: Totals, holders: int, among: Collection[int]
) -> list[tuple[int, float]]:
    """Return the weight of a spelling in each of some chunks that contain it."""
    weight = idf(by.chunks, holders)
    mean = by.tokens / by.chunks if by.chunks else 1.0
    lengths, weights = postings.lengths, []
    for chunk in counts.keys() & among:
        times, length = counts[chunk], K1 * (1 - B + B * lengths[chunk] / mean)
        weights.append((chunk, weight * (times * (K1 + 1) / (times + length))))
    return weights


def _clauses_of(postings: Postings, query: TermQuery) -> Iterator[tuple[set[int], Clause]]:
    """Yield the clauses, one of which a chunk must match: all groups, or any single term.

    Each comes after the chunks that match it and contain no excluded term.
    """
    unwanted = _union(postings, query.none)
    groups = (tuple(dict.fromkeys(group)) for group in query.all if group)
    every: Clause = tuple(dict.fromkeys(groups))
    single: list[Clause] = [((term,),) for term in query.any]
    for clause in dict.fromkeys([every, *single] if every else single):
        yield set.intersection(*(_union(postings, group) for group in clause)) - unwanted, clause


def _union(postings: Postings, terms: Iterable[Term]) -> set[int]:
    return set().union(*map(postings.holders, terms))


def _named(query: TermQuery) -> Iterator[Term]:
    """Yield every term of a query, including the excluded ones."""
    yield from (term for group in query.all for term in group)
    yield from (*query.any, *query.none)
