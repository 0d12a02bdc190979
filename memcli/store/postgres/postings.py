"""The words of a workspace in one state that were looked up, and how to look up more.

They are kept for later questions. All terms of a question are looked up in one round trip. If an
expression names a phrase twice, the phrase counts twice, as in a local index. BM25 is computed here
and not by the server, so that every store returns the same scores.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import accumulate
from math import pi

from memcli.checking import TYPE_CHECKING
from memcli.language.tokens import K1, B
from memcli.markdown.names import headings_of
from memcli.store.postgres.filters import NAMED_BY, NAMED_CHUNKS, PLACED, within
from memcli.store.postgres.statements import ForMany, Row, Statement, Values
from memcli.store.postgres.tsvector import MOST_OF_ONE, Cut, TokenRun, cut_of, lexeme
from memcli.store.records import Scope, Totals
from memcli.store.tokens import cut, idf, spellings
from memcli.types import Term, TermQuery

if TYPE_CHECKING:
    from memcli.store.postgres.libpq import Connection, Deferred
    from memcli.store.postgres.session import WorkspaceRow

FEW_TERMS, FEW_CHUNKS = 16, 10_000  # limits up to which chunks are listed at once
# ts_rank of a word that occurs n times is the sum of 1/i^2 for i up to n, divided by pi^2/6.
_SUMS = tuple(accumulate(1 / (n * n) / (pi * pi / 6) for n in range(1, MOST_OF_ONE + 2)))

Clause = tuple[tuple[Term, ...], ...]  # a chunk needs one term of each group


class Postings:
    """The words of a workspace that were looked up in one snapshot."""

    def __init__(self, connection: Connection, row: WorkspaceRow) -> None:
        self._connection, self._workspace, self.row = connection, row.id, row
        self._counts: dict[Term, dict[int, int]] = {}  # for each spelling, by chunk
        self._spellings: set[Term] = set()  # the spellings of the question
        self._lengths: dict[int, int] = {}  # tokens of each chunk that was read
        self._runs: dict[Term, TokenRun] = {}
        self._long: dict[int, Cut] | None = None

    def chunks(self) -> set[int]:
        """Return the chunks that contain any term that the question has looked up."""
        return {chunk for spelling in self._spellings for chunk in self._counts[spelling]}

    def forget_question(self) -> None:
        """Start another question."""
        self._spellings = set()

    @property
    def entries(self) -> int:
        """Count the entries in memory: the chunks of every spelling, and their lengths."""
        return len(self._lengths) + sum(map(len, self._counts.values()))

    def holders(self, term: Term) -> set[int]:
        """Return the chunks that contain a term that was looked up."""
        return {chunk for spelling in spellings(term) for chunk in self._counts[spelling]}

    def frequencies(self, terms: Sequence[Term]) -> list[int]:
        """Count the chunks that contain each term, without listing them."""
        unknown = [t for t in dict.fromkeys(terms) if not self._knows(t)]
        counted: dict[Term, int] = {}
        if unknown:
            queries = [_any(self._of(spellings(term))) for term in unknown]
            ((numbers,),) = self._connection.rows(
                "select coalesce(json_agg((select count(*) from memcli.keywords k where"
                " k.workspace = $1 and k.words @@ x.query) order by x.no), '[]') from"
                " unnest($2::tsquery[]) with ordinality x(query, no)",
                (self._workspace, queries),
            )
            counted = dict(zip(unknown, numbers, strict=True))
        return [
            counted[t] + len(self._in_long(spellings(t))) if t in counted else len(self.holders(t))
            for t in terms
        ]

    def occurring(self, terms: Sequence[Term]) -> frozenset[Term]:
        """Return the terms that at least one chunk contains.

        In a small workspace a few terms are looked up, because a search asks for their chunks next.
        """
        distinct = list(dict.fromkeys(terms))
        if len(distinct) <= FEW_TERMS and self.row.chunks <= FEW_CHUNKS:
            self.look_up(distinct)
            return frozenset(term for term in distinct if self.holders(term))
        queries = [_any(self._of(spellings(term))) for term in distinct]
        rows = self._connection.rows(
            "select x.no from unnest($2::tsquery[]) with ordinality x(query, no) where exists"
            " (select 1 from memcli.keywords k where k.workspace = $1 and k.words @@ x.query)",
            (self._workspace, queries),
        )
        occurring = {distinct[int(number) - 1] for (number,) in rows}
        return frozenset(occurring | {t for t in distinct if self._in_long(spellings(t))})

    def look_up(self, terms: Iterable[Term]) -> None:
        """Look up all chunks that contain some terms, in one round trip."""
        named = dict.fromkeys(s for term in terms for s in spellings(term))
        unknown = [spelling for spelling in named if spelling not in self._counts]
        for spelling, counts in self._fetched(unknown, None).items():
            self._counts[spelling] = counts
        self._spellings.update(named)

    def counts_in(
        self, terms: Iterable[Term], chunk_ids: Sequence[int]
    ) -> Mapping[Term, Mapping[int, int]]:
        """Count the occurrences of spellings in some chunks."""
        named = dict.fromkeys(s for term in terms for s in spellings(term))
        unknown = [spelling for spelling in named if spelling not in self._counts]
        fetched = self._fetched(unknown, chunk_ids) if chunk_ids else {}
        return {s: self._counts.get(s) or fetched.get(s, {}) for s in named}

    def together(self, terms: Sequence[Term]) -> set[int]:
        """Return the chunks that contain all of some terms."""
        if all(self._knows(term) for term in terms):
            return set.intersection(*map(self.holders, terms))
        query = " & ".join(_any(self._of(spellings(term))) for term in terms)
        rows = self._connection.rows(
            "select k.chunk from memcli.keywords k where k.workspace = $1 and k.words @@"
            " $2::tsquery",
            (self._workspace, query),
        )
        chunks = {chunk for (chunk,) in rows}
        every = [{c for s in spellings(t) for c in self._in_long([s])} for t in terms]
        return chunks | set.intersection(*every)

    def totals(self, query: TermQuery) -> Totals:
        """Count what BM25 needs to weigh the words of `query`."""
        named = list(_named(query))
        self.look_up(named)
        holders = {s: len(self._counts[s]) for t in named for s in spellings(t)}
        chunks, tokens = self.row.chunks, self.row.words
        if min(chunks, tokens) < 0 or (any(holders.values()) and not tokens):
            raise ValueError("its words are not as many as was counted")
        return Totals(chunks, tokens, holders)

    def scores(
        self, query: TermQuery, by: Totals | None = None, among: Collection[int] | None = None
    ) -> dict[int, float]:
        """Return the BM25 of every chunk that matches, or of those among some chunks."""
        self.look_up(_named(query))
        by = by or self.totals(query)
        by_chunk: dict[int, float] = {}
        for having, clause in self._clauses_of(query):
            chunks = having if among is None else having.intersection(among)
            for spelling in (s for group in clause for term in group for s in spellings(term)):
                counts, holders = self._counts[spelling], by.holders.get(spelling, 0)
                for chunk, weight in self._weights(counts, by, holders, chunks):
                    by_chunk[chunk] = by_chunk.get(chunk, 0.0) + weight
        unwanted = self._union(query.none)
        for group in query.together:
            having = self.together(group) - unwanted
            chunks = having if among is None else having.intersection(among)
            by_chunk |= {chunk: by_chunk.get(chunk, 0.0) for chunk in chunks}
        if query.also:
            beside = self.counts_in([term for term, _ in query.also], list(by_chunk))
            for term, holders in query.also:
                for spelling in spellings(term):
                    for chunk, weight in self._weights(beside[spelling], by, holders, by_chunk):
                        by_chunk[chunk] += weight
        return by_chunk

    def matching(self, searched: Sequence[Term | TermQuery]) -> list[set[int]]:
        """Return the chunks that contain each term, or match each query."""
        queries = [TermQuery(any=(each,)) if isinstance(each, Term) else each for each in searched]
        self.look_up([term for query in queries for term in _named(query)])
        return [
            {chunk for chunks, _ in self._clauses_of(query) for chunk in chunks}
            for query in queries
        ]

    def _weights(
        self, counts: Mapping[int, int], by: Totals, holders: int, among: Collection[int]
    ) -> list[tuple[int, float]]:
        """Return the weight of a spelling in each of some chunks that contain it."""
        weight = idf(by.chunks, holders)
        mean = by.tokens / by.chunks if by.chunks else 1.0
        lengths, weights = self._lengths, []
        for chunk in counts.keys() & among:
            times, length = counts[chunk], K1 * (1 - B + B * lengths[chunk] / mean)
            weights.append((chunk, weight * (times * (K1 + 1) / (times + length))))
        return weights

    def _clauses_of(self, query: TermQuery) -> Iterator[tuple[set[int], Clause]]:
        """Yield the clauses, one of which a chunk must match: all groups, or any single term.

        Each comes after the chunks that match it and contain no excluded term.
        """
        unwanted = self._union(query.none)
        groups = (tuple(dict.fromkeys(group)) for group in query.all if group)
        every: Clause = tuple(dict.fromkeys(groups))
        single: list[Clause] = [((term,),) for term in query.any]
        for clause in dict.fromkeys([every, *single] if every else single):
            yield set.intersection(*(self._union(group) for group in clause)) - unwanted, clause

    def _union(self, terms: Iterable[Term]) -> set[int]:
        return set().union(*map(self.holders, terms))

    def _knows(self, term: Term) -> bool:
        return all(spelling in self._counts for spelling in spellings(term))

    def _of(self, terms: Sequence[Term]) -> list[TokenRun]:
        """Cut spellings into tokens; leave out spellings without tokens."""
        new = [spelling for spelling in terms if spelling not in self._runs]
        for spelling, tokens in zip(new, cut([s.text for s in new]) if new else (), strict=True):
            self._runs[spelling] = TokenRun(tokens, spelling.prefix)
        return [self._runs[spelling] for spelling in terms if self._runs[spelling].tokens]

    def _fetched(
        self, terms: Sequence[Term], chunk_ids: Sequence[int] | None
    ) -> dict[Term, dict[int, int]]:
        """Look up spellings in all chunks, or in some."""
        self._of(terms)
        runs = {spelling: self._runs[spelling] for spelling in terms}
        counts: dict[Term, dict[int, int]] = {spelling: {} for spelling in terms}
        words = {s: run for s, run in runs.items() if run.is_word}
        others = {s: run for s, run in runs.items() if run.tokens and not run.is_word}
        statements: list[Statement | ForMany] = []
        if words:
            statements.append(_by_rank(self._workspace, [*words.values()], chunk_ids))
        if others:
            statements.append(_by_place(self._workspace, [*others.values()], chunk_ids))
        answers = iter(self._connection.together(statements) if statements else ())
        if words:
            for chunk, length, ranks in next(answers)[0][0]:
                self._lengths[chunk] = length
                for spelling, rank in zip(words, ranks, strict=True):
                    if rank:
                        counts[spelling][chunk] = _times(rank)
        if others:
            for chunk, length, places in next(answers)[0][0]:
                self._lengths[chunk] = length
                for spelling, run in others.items():
                    if times := run.count_at(places or {}):
                        counts[spelling][chunk] = times
        for spelling in terms:
            counts[spelling] |= self._in_long([spelling], chunk_ids)
        return counts

    def _in_long(
        self, terms: Sequence[Term], chunk_ids: Sequence[int] | None = None
    ) -> dict[int, int]:
        """Count the occurrences of spellings in the chunks whose words are not stored."""
        if not self.row.has_long:
            return {}
        if self._long is None:
            self._long = {
                chunk: cut_of(headings_of(*named), text)
                for chunk, text, *named in self._connection.rows(
                    f"select k.chunk, c.text, d.title, d.path, {NAMED_BY}, c.heading_path::json"
                    " from memcli.keywords k"
                    " join memcli.chunks c on c.workspace = k.workspace and c.id = k.chunk"
                    " join memcli.documents d on d.workspace = c.workspace and d.id = c.document"
                    " where k.workspace = $1 and not k.whole",
                    [self._workspace],
                )
            }
            self._lengths |= {c: sum(map(len, tokens)) for c, tokens in self._long.items()}
        runs = self._of(terms)
        counts = {chunk: sum(run.count(own) for run in runs) for chunk, own in self._long.items()}
        allowed = None if chunk_ids is None else set(chunk_ids)
        return {c: n for c, n in counts.items() if n and (allowed is None or c in allowed)}


def _named(query: TermQuery) -> Iterator[Term]:
    """Yield every term of a query, including the excluded ones."""
    yield from (term for group in query.all for term in group)
    yield from (*query.any, *query.none)


def _by_rank(
    workspace: int, runs: Sequence[TokenRun], chunk_ids: Sequence[int] | None
) -> Statement | ForMany:
    """Write the query for single words; the rank of a word shows how often a chunk contains it."""
    values = Values([workspace])
    ranks = ", ".join(
        f"ts_rank('{{1,1,1,1}}', k.words, {values(run.query)}::tsquery)" for run in runs
    )
    aggregate = f"coalesce(json_agg(json_build_array(k.chunk, k.length, array[{ranks}])), '[]')"
    having = _having(values, runs, chunk_ids)
    among = "from memcli.keywords k where k.workspace ="
    alone = Statement(f"select {aggregate} {among} $1 and {having}", values)
    if chunk_ids is not None:
        return alone
    # The index contains the words of every workspace, so one scan serves many workspaces.
    sql = f"select k.workspace, {aggregate} {among} any($1::bigint[]) and {having} group by 1"
    return ForMany(alone, sql, values[1:], workspace)


def _by_place(
    workspace: int, runs: Sequence[TokenRun], chunk_ids: Sequence[int] | None
) -> Statement:
    """Write the query for phrases and prefixes, which returns the positions of their words."""
    values = Values([workspace])
    closed = {t for run in runs for t in (run.tokens[:-1] if run.is_open else run.tokens)}
    begun = {run.tokens[-1] for run in runs if run.is_open}
    return Statement(
        "select coalesce(json_agg(json_build_array(k.chunk, k.length, (select json_object_agg("
        "u.lexeme, u.positions) from unnest(k.words) u where u.lexeme = any("
        f"{values([*map(lexeme, closed)])}::text[])"
        f" or u.lexeme ^@ any({values([*begun])}::text[])))), '[]')"
        f" from memcli.keywords k where k.workspace = $1 and {_having(values, runs, chunk_ids)}",
        values,
    )


def _having(values: Values, runs: Sequence[TokenRun], chunk_ids: Sequence[int] | None) -> str:
    """Write the test for chunks that contain any of some runs."""
    among = "" if chunk_ids is None else f" and k.chunk = any({values(chunk_ids)}::bigint[])"
    return f"k.words @@ {values(_any(runs))}::tsquery{among}"


def _any(runs: Sequence[TokenRun]) -> str:
    return " | ".join(run.query for run in runs)


@cache
def _times(rank: float) -> int:
    """Return how often a chunk contains a word, from the rank of the word."""
    at = min(bisect_left(_SUMS, rank), len(_SUMS) - 1)
    return at if at and rank - _SUMS[at - 1] < _SUMS[at] - rank else at + 1


MOST_AHEAD = 1000  # chunks whose places are requested in advance


class ChunkPlaces:
    """Source, path and ordinal of the chunks within one reach."""

    def __init__(self, connection: Connection, workspace: int) -> None:
        self._connection, self._workspace = connection, workspace
        self._places: dict[int, tuple[str, str, int]] = {}
        self._scope = Scope()  # the last requested one
        self._tried: set[int] = set()  # chunks that were looked up, within the reach or not
        self._promised: tuple[Collection[int], Deferred] | None = None

    def ask_ahead(self, chunk_ids: Collection[int], scope: Scope) -> None:
        """Request the places of chunks with the next statement, unless there are too many."""
        if 0 < len(chunk_ids) <= MOST_AHEAD:
            self._turn_to(scope)
            if self._promised is None and not self._tried.issuperset(chunk_ids):
                self._promised = chunk_ids, self._connection.promise(*self._asking(chunk_ids))

    def ordered(self, chunk_ids: Collection[int], scope: Scope) -> list[int]:
        """Return the chunks within reach, by source, path and place."""
        self._turn_to(scope)
        if self._promised is not None and chunk_ids:
            chunks, promised = self._promised
            self._take(chunks, promised.rows())
            self._promised = None
        if new := [chunk_id for chunk_id in chunk_ids if chunk_id not in self._tried]:
            self._take(new, self._connection.rows(*self._asking(new)))
        known = [chunk_id for chunk_id in chunk_ids if chunk_id in self._places]
        return sorted(known, key=self._places.__getitem__)

    def forget_promised(self) -> None:
        """Forget a request whose answer was not read before the transaction ended."""
        self._promised = None

    def _turn_to(self, scope: Scope) -> None:
        if scope != self._scope:
            self._scope, self._tried, self._places, self._promised = scope, set(), {}, None

    def _asking(self, chunk_ids: Collection[int]) -> Statement:
        values = Values([self._workspace])
        return Statement(
            f"select c.id, {PLACED} from {NAMED_CHUNKS} where c.workspace = $1"
            f" and c.id = any({values([*chunk_ids])}::bigint[]){within(self._scope, values)}",
            values,
        )

    def _take(self, chunk_ids: Collection[int], rows: list[Row]) -> None:
        self._tried.update(chunk_ids)
        self._places |= {chunk_id: (source, path, at) for chunk_id, source, path, at in rows}
