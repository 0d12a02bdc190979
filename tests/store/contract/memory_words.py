"""Words in memory: which chunks hold a term, and BM25 worked out from the definition.

Texts are cut and stemmed by the tokenizer of the store in SQLite, and FTS5 is followed to the
letter, so that scores can be compared: k1 1.2, b .75, both columns count alike, and the IDF of a
term that most chunks hold is not negative but tiny. A score is the sum over what the expression
names, so a term that two clauses name counts twice.
https://sqlite.org/fts5.html#the_bm25_function
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from math import log

import apsw

from memcli.language.words import prepare
from memcli.markdown.comments import visible
from memcli.markdown.names import headings_of
from memcli.store.records import Totals
from memcli.store.sqlite import keywords
from memcli.store.sqlite.fts_query import spellings
from memcli.types import Chunk, Document, Term, TermQuery

K1, B = 1.2, 0.75
LEAST_IDF = 1e-6

Columns = tuple[tuple[str, ...], ...]  # tokens of the headings, and of the text
Clause = tuple[tuple[Term, ...], ...]  # of each group one term is needed


@cache
def tokens(prepared: str) -> tuple[str, ...]:
    """Cut a text that `words.prepare` has made into stems."""
    return keywords.tokens(apsw.Connection(":memory:"), [prepared])[0]


def columns(document: Document, chunk: Chunk) -> Columns:
    """Cut what is searched of a chunk: comments are not."""
    named_by = "" if chunk.ordinal else document.front_matter
    headings = headings_of(document.title, document.path, named_by, chunk.heading_path)
    texts = " ".join(headings), visible(chunk.text)
    return tuple(tokens(prepare(text)) for text in texts)


class Words:
    """The words of some chunks, by chunk."""

    def __init__(self, chunks: Mapping[int, Columns]) -> None:
        self._chunks = chunks
        self._sizes = {chunk: sum(map(len, cut)) for chunk, cut in chunks.items()}

    def holders(self, term: Term) -> set[int]:
        """Name the chunks that hold a term."""
        return {chunk for spelling in spellings(term) for chunk in self._counts(spelling)}

    def matching(self, wanted: TermQuery) -> set[int]:
        """Name the chunks that have what is wanted."""
        return {chunk for chunks, _ in self._found(wanted) for chunk in chunks}

    def totals(self, wanted: TermQuery) -> Totals:
        """Count what the words of `wanted` are weighed by."""
        named = [s for t in _terms(wanted) for s in spellings(t)]
        holders = {spelling: len(self._counts(spelling)) for spelling in named}
        return Totals(len(self._chunks), sum(self._sizes.values()), holders)

    def scores(self, wanted: TermQuery, by: Totals | None = None) -> dict[int, float]:
        """Give the BM25 of every chunk that has what is wanted."""
        by = by or self.totals(wanted)
        scores: dict[int, float] = {}
        for chunks, clause in self._found(wanted):
            named = [spelling for group in clause for t in group for spelling in spellings(t)]
            for spelling in named:
                for chunk, weight in self._weights(spelling, by).items():
                    if chunk in chunks:
                        scores[chunk] = scores.get(chunk, 0.0) + weight
        for group in wanted.together:
            holding = set.intersection(*map(self.holders, group)) - self._union(wanted.none)
            scores |= {chunk: scores.get(chunk, 0.0) for chunk in holding}
        for term, holders in wanted.also:
            for spelling in spellings(term):
                for chunk, weight in self._weights(spelling, by, holders).items():
                    if chunk in scores:
                        scores[chunk] += weight
        return scores

    def _found(self, wanted: TermQuery) -> Iterator[tuple[set[int], Clause]]:
        """Give the clauses, each with the chunks that have it and nothing unwanted."""
        unwanted = self._union(wanted.none)
        for clause in _clauses(wanted):
            yield set.intersection(*map(self._union, clause)) - unwanted, clause

    def _union(self, terms: Iterable[Term]) -> set[int]:
        return set().union(*map(self.holders, terms))

    def _weights(self, spelling: Term, by: Totals, holders: int | None = None) -> dict[int, float]:
        """Weigh a spelling in each chunk that holds it, which are counted unless told."""
        counts = self._counts(spelling)
        holders = by.holders.get(spelling, 0) if holders is None else holders
        odds = (by.chunks - holders + 0.5) / (holders + 0.5)
        idf = log(odds) if odds > 1 else LEAST_IDF
        mean = by.tokens / by.chunks if by.chunks else 0.0
        lengths = {chunk: 1 - B + B * self._sizes[chunk] / mean for chunk in counts}
        return {
            chunk: idf * (count * (K1 + 1) / (count + K1 * lengths[chunk]))
            for chunk, count in counts.items()
        }

    def _counts(self, spelling: Term) -> dict[int, int]:
        """Count the places of a run of tokens, in chunks that have one."""
        run = tokens(spelling.text)
        if not run:
            return {}
        counts = {
            chunk: sum(_places(run, cut, spelling.prefix) for cut in column)
            for chunk, column in self._chunks.items()
        }
        return {chunk: count for chunk, count in counts.items() if count}


def _places(run: tuple[str, ...], cut: tuple[str, ...], is_open: bool) -> int:
    """Count where a run of tokens stands; the last of an open one may go on."""
    *whole, last = run
    windows = (cut[at : at + len(run)] for at in range(len(cut) - len(run) + 1))
    return sum(
        list(before) == whole and (end == last or (is_open and end.startswith(last)))
        for *before, end in windows
    )


def _terms(wanted: TermQuery) -> Iterator[Term]:
    """Name everything that is looked for, and what nobody wants."""
    yield from (term for group in wanted.all for term in group)
    yield from (*wanted.any, *wanted.none)


def _clauses(wanted: TermQuery) -> Iterator[Clause]:
    """Give what a chunk needs one of, each once: every group together, or any one term."""
    groups = (tuple(dict.fromkeys(group)) for group in wanted.all if group)
    every: Clause = tuple(dict.fromkeys(groups))
    single: list[Clause] = [((term,),) for term in wanted.any]
    yield from dict.fromkeys([every, *single] if every else single)
