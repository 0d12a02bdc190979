"""Ask the index for the candidates of a query and for what they cover of it.

The one stage of a search that touches the store.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log
from typing import NamedTuple

from memcli.markdown.comments import visible
from memcli.markdown.words import prepare
from memcli.search.common import MOST_ROWS, affordable, without_majority
from memcli.search.focus import SoughtTerm
from memcli.search.query import ParsedQuery
from memcli.store.sqlite.reader import Legs, Reader
from memcli.types import SUMMARY, Candidate, Filters, Term, Wanted

# Candidates a leg beyond the universe: the vector table gives some thousand neighbours at most.
MOST_OUTSIDE = 1000


class Recalled(NamedTuple):
    """Candidates, and how much of the query each one matches, by chunk id."""

    candidates: tuple[Candidate, ...]
    coverage: dict[int, float]  # share of its IDF, without the common terms
    matched: dict[int, float]  # share of its terms
    terms: tuple[SoughtTerm, ...]
    unmatched: tuple[str, ...]  # terms that no chunk holds
    common: tuple[str, ...]  # terms that too many chunks hold to be looked for
    rarity: float  # mean IDF of the terms over the greatest there could be, 0 to 1
    qualities: Mapping[str, float]  # confidence of the summaries, by path


def recall(
    reader: Reader,
    query: ParsedQuery,
    *,
    total: int,
    lexical: bool,
    vector: bytes | None,
    universe: int,
    filters: Filters,
    dates: Sequence[tuple[str, str]],
    outside: frozenset[int] = frozenset(),
) -> Recalled:
    """Run the legs that are on over `total` chunks; a leg of None is off.

    Chunks of `outside` are no candidates.
    """
    # As many more as may be left out, so that the universe is that of the others.
    wide = universe + min(len(outside), MOST_OUTSIDE)
    dense = reader.begin_dense(vector, wide, filters)
    wanted = query.wanted if lexical else Wanted()
    common: dict[Term, int] = {}
    left_out: list[str] = []
    if lexical and total > MOST_ROWS:
        rows = {term: reader.frequency(term) for term in query.alternatives}
        whole = query
        query = without_majority(query, rows, total)
        left_out = [term.text for term in whole.sought if term not in query.sought]
        kept = affordable(rows)
        common = {term: count for term, count in rows.items() if term not in kept}
        wanted = wanted._replace(any=kept)
    literal = _literal(query) if lexical else Wanted()
    legs = Legs(wanted, literal, vector, tuple(dates), wide, filters)
    candidates = tuple(c for c in reader.recall(legs, dense) if c.about.chunk_id not in outside)
    has_summary = any(candidate.about.kind == SUMMARY for candidate in candidates)
    qualities = reader.summaries() if has_summary else {}
    if not candidates or not lexical:
        return Recalled(candidates, {}, {}, (), (), (), 0.0, qualities)
    left_out += [term.text for term in query.sought if term.sought in common]
    covered = _covered(reader, query, candidates, common, total)
    return covered._replace(common=tuple(left_out), qualities=qualities)


def _covered(
    reader: Reader,
    query: ParsedQuery,
    candidates: tuple[Candidate, ...],
    common: Mapping[Term, int],
    total: int,
) -> Recalled:
    """Tell what candidates hold of a query; the chunks of a common term are counted, not walked."""
    ids = [candidate.about.chunk_id for candidate in candidates]
    held: dict[int, float] = {}
    counted: dict[int, int] = {}
    terms: list[SoughtTerm] = []
    unmatched: list[str] = []
    looked_up = 0.0
    asked = [(term, sought) for term in query.sought if (sought := term.sought)]
    tokens = reader.tokens([sought.text for _, sought in asked])
    for (term, sought), cut in zip(asked, tokens, strict=True):
        is_common = sought in common
        frequency, holding = (common[sought], ()) if is_common else reader.held(sought, ids)
        # Robertson and Sparck Jones, kept positive.
        idf = log(1 + (total - frequency + 0.5) / (frequency + 0.5))
        prefix = (sought.text.split()[-1], cut[-1]) if sought.prefix and cut else ()
        terms.append(SoughtTerm(cut, idf, prefix))
        if is_common:
            continue
        looked_up += idf
        if not frequency:
            unmatched.append(term.text)
        for chunk_id in holding:
            held[chunk_id] = held.get(chunk_id, 0.0) + idf
            counted[chunk_id] = counted.get(chunk_id, 0) + 1
    coverage = {chunk: idf / looked_up for chunk, idf in held.items()}
    matched = {chunk: times / len(terms) for chunk, times in counted.items()}
    greatest = log(1 + (total + 0.5) / 0.5)
    rarity = sum(term.idf for term in terms) / len(terms) / greatest if terms else 0.0
    return Recalled(candidates, coverage, matched, tuple(terms), tuple(unmatched), (), rarity, {})


def part_tokens(
    reader: Reader, candidates: Sequence[Candidate]
) -> dict[int, list[tuple[str, ...]]]:
    """Cut every part of some candidates into tokens, by chunk id."""
    texts = [
        prepare(visible(c.text[part.start : part.end])) for c in candidates for part in c.parts
    ]
    cut = iter(reader.tokens(texts))
    return {c.about.chunk_id: [next(cut) for _ in c.parts] for c in candidates}


def _literal(query: ParsedQuery) -> Wanted:
    """Want all terms, or a quoted phrase, or an identifier, in one chunk."""
    exact = (
        term.sought
        for term in query.sought
        if term.kind == "phrase"
        # C++ and C# are indexed as the letter c, which says nothing.
        or (term.kind == "identifier" and sum(map(str.isalnum, term.text)) > 1)
    )
    return Wanted(tuple(filter(None, exact)), query.groups, query.unwanted)
