"""Answer from several stores as one: a `port.Snapshot` over one snapshot of each.

Counts and frequencies are added up. Words are weighed by the totals of all stores, so each store
ranks by the same scores, and the best of all stores are those that one store with everything would
rank first. A store that estimates (frequencies, or vectors by coarse codes first) still does so.

The first store belongs to the workspace that asks. It wins ties. In the other stores no private
document is found, and no summary of one, although their words are counted.

If the vectors of a store come from another encoder than those of the first store that has any, the
store answers by words only. `by_model` splits the stores into unions that each search their own
vectors with the totals of all, and `search.federation` joins the answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cached_property
from heapq import merge
from itertools import chain, islice

from memcli.checking import TYPE_CHECKING, Given, Made
from memcli.errors import IndexMissingError
from memcli.store.documents import in_order
from memcli.store.qualified_names import NamedSnapshot, Naming, failing, private_summaries, split
from memcli.store.records import (
    ChunkLines,
    Counts,
    Facts,
    First,
    Key,
    KeywordMatch,
    Neighbour,
    RetrieverResults,
    Scope,
    Support,
    TermChunks,
    Totals,
    added,
)
from memcli.threads import side_by_side
from memcli.types import PRIVATE, TermQuery, is_memory

if TYPE_CHECKING:
    from memcli.store.documents import AlwaysDocument, IndexedDocument, Linking, TitledDocument
    from memcli.store.port import AskMany, SharedIndex, Snapshot, Store
    from memcli.store.run_records import VectorSearch
    from memcli.types import Candidate, Excerpt, KnownFile, Lines, Term

UNDATED = "9999-99-99"  # behind every day
# Of the nearest texts of all, so many times its share is asked of a store first. Each of them is
# looked up by its place, which costs as much as to compare a store of twenty documents.
SHARES = 4
SMALL_BYTES = 1 << 20  # of vectors: smaller stores compare all, whatever is asked


class Union:
    """Answers from one state of each of some stores; a `port.Snapshot`."""

    def __init__(
        self,
        members: Mapping[str, Snapshot],
        *,
        has_own: bool = True,
        finds_in: Sequence[int] | None = None,
        ask_many: AskMany | None = None,
    ) -> None:
        """Take snapshots by the names of their workspaces; the first belongs to the one that asks.

        A name has no colon. Without `has_own` none of them asks, and no private document is found.
        `finds_in` has the numbers of the members whose documents are found, None for all; counts
        include all members. `ask_many` asks members that wait for the same server.
        """
        self._members = members
        self._asker = 0 if has_own else -1
        self._turns = range(len(members)) if finds_in is None else finds_in
        self._ask_many, self._ask_together = ask_many or _one_by_one, ask_many or side_by_side
        self._naming = [Naming(turn, (*members,)) for turn in range(len(members))]
        self._all, self._count = [*members.values()], len(members)
        self._parted: tuple[Scope, list[tuple[int, Scope]]] | None = None  # what was parted last
        self._totals: dict[frozenset[Term], Totals] = {}  # by the terms that they are known of

    def by_model(self) -> list[tuple[tuple[str, ...], Union]]:
        """Split it by the model of the vectors; stores without vectors go with the first.

        Each union comes with the names of its members; unions with vectors come first. Chunks have
        the same numbers in all of them.
        """
        made_by = [facts.fingerprint for facts in self._facts]
        models = list(dict.fromkeys(model for model in made_by if model))
        if len(models) < 2:
            return [(self._named(range(self._count)), self)]
        groups = []
        for at, model in enumerate(models):
            choices = (model, None) if at == 0 else (model,)
            turns = [turn for turn, by in enumerate(made_by) if by in choices]
            segment = Union(
                self._members,
                has_own=self._asker == 0,
                finds_in=turns,
                ask_many=None if self._ask_many is _one_by_one else self._ask_many,
            )
            segment._totals = self._totals
            groups.append((self._named(turns), segment))
        return groups

    def _named(self, turns: Iterable[int]) -> tuple[str, ...]:
        """Name some members, those with vectors before the others."""
        order = sorted(turns, key=lambda turn: self._facts[turn].fingerprint is None)
        return tuple(self._naming[turn].workspace for turn in order)

    @cached_property
    def facts(self) -> Facts:
        """Return the facts of the first store that has vectors; every revision counts."""
        own = [self._facts[turn] for turn in self._turns]
        first = next((facts for facts in own if facts.fingerprint), own[0])
        revision = sum(facts.revision for facts in self._facts)
        return first._replace(revision=revision, origin="", changed_at="")

    @cached_property
    def _facts(self) -> list[Facts]:
        return [snapshot.facts for snapshot in self._all]

    def known(self) -> Mapping[Key, KnownFile]:
        return {
            (self._naming[turn].source(source), path): known
            for turn, files in self._from_each(lambda snapshot: snapshot.known())
            for (source, path), known in files.items()
        }

    def counts(self) -> Counts:
        """Count everything; vectors of another encoder do not count."""
        counts = [self._counts(turn) for turn in range(self._count)]
        return Counts(*map(sum, zip(*counts, strict=True)))

    @cached_property
    def _own_counts(self) -> list[Counts]:
        return [counts for _, counts in self._from_each(lambda snapshot: snapshot.counts())]

    def _counts(self, turn: int) -> Counts:
        own = self._own_counts[turn]
        if self._has_vectors(turn):
            return own
        other = self._facts[turn].fingerprint
        return own._replace(embedded=0, left_out=own.segments) if other else own

    def integrity(self) -> str:
        faults = (snapshot.integrity() for snapshot in self._all)
        return next((fault for fault in faults if fault != "ok"), "ok")

    def vector_search(self) -> VectorSearch:
        """Return how vectors are searched: as in the first store that is not exact, if any."""
        reasons = [snapshot.vector_search() for snapshot in self._all]
        return next((each for each in reasons if not each.is_exact or each.problem), reasons[0])

    def tokens(self, prepared: Sequence[str]) -> Sequence[tuple[str, ...]]:
        """Cut texts into tokens; stores of one kind cut alike."""
        return self._all[0].tokens(prepared)

    def occurring(self, terms: Sequence[Term]) -> frozenset[Term]:
        """Return the terms that a chunk contains and that the asking workspace may know of."""
        by_turn = dict(self._from_each(lambda snapshot: snapshot.occurring(terms)))
        open_ = frozenset().union(*(by_turn[turn] for turn in by_turn if turn not in self._hiding))
        return open_.union(
            term
            for turn, hidden in self._hiding.items()
            for term in by_turn[turn] - open_
            if (own := self._naming[turn].own_scope(Scope(), hidden)) is not None
            if self._all[turn].by_keyword(TermQuery(any=(term,)), 1, own)
        )

    def frequencies(self, terms: Sequence[Term]) -> Sequence[int]:
        answers = self._from_each(lambda snapshot: snapshot.frequencies(terms))
        return [sum(counts) for counts in zip(*(counts for _, counts in answers), strict=True)]

    def matching_chunks(
        self, queries: Sequence[Term | TermQuery], chunk_ids: Sequence[int]
    ) -> Sequence[TermChunks]:
        own = split(chunk_ids, self._count)
        by_turn = self._ask_many(
            lambda turn: self._all[turn].matching_chunks(queries, own.get(turn, ())),
            range(self._count),
        )
        answers = [
            [(chunks.total, self._naming[turn].chunks(chunks.chunk_ids)) for chunks in each]
            for turn, each in enumerate(by_turn)
        ]
        return [
            TermChunks(
                sum(total for total, _ in chunks), frozenset().union(*(ids for _, ids in chunks))
            )
            for chunks in zip(*answers, strict=True)
        ]

    def totals(self, query: TermQuery) -> Totals:
        query = _with_all(query)
        terms = frozenset(chain(query.any, query.none, *query.all))
        known = next(
            (totals for known_terms, totals in self._totals.items() if terms <= known_terms), None
        )
        if known is None:
            known = added(
                own for _, own in self._from_each(lambda snapshot: snapshot.totals(query))
            )
            self._totals[terms] = known
        return known

    def by_keyword(
        self, query: TermQuery, limit: int, scope: Scope, totals: Totals | None = None
    ) -> Sequence[KeywordMatch]:
        """List the best matches by the BM25 of the whole; ties by workspace, then by place."""
        query = _with_all(query)
        if not (query.any or query.all):
            return []
        by = totals or self.totals(query)
        lists = [
            KeywordMatch(self._naming[turn].chunk(each.chunk_id), each.bm25)
            for turn, ranked in self._answers(
                self._within(scope), lambda s, own: s.by_keyword(query, limit, own, by)
            )
            for each in ranked
        ]
        return sorted(lists, key=lambda each: -each.bm25)[:limit]

    def by_vector(
        self, vector: bytes | None, limit: int, scope: Scope
    ) -> Callable[[], Sequence[Neighbour]]:
        """Begin to look for the texts nearest to a vector in every store.

        A small store is asked for its share first, and for all where it has so many. One that
        ends in a tie is asked for more, since the text may be another one's too.
        """
        turns = [(turn, own) for turn, own in self._within(scope) if self._has_vectors(turn)]
        share = min(limit, SHARES * -(-limit // len(turns))) if turns else limit
        scopes = dict(turns)
        most = {turn: share if self._is_small(turn) else limit for turn in scopes}
        begun = [self._all[turn].by_vector(vector, most[turn], own) for turn, own in turns]

        def ask(turn: int) -> Sequence[Neighbour]:
            return self._all[turn].by_vector(vector, most[turn], scopes[turn])()

        def near() -> Sequence[Neighbour]:
            texts = dict(zip(scopes, self._ask_together(lambda wait: wait(), begun), strict=True))
            last = _last(texts.values(), limit)
            while short := [
                turn
                for turn, own in texts.items()
                if len(own) == most[turn] and own[-1].cosine >= last
            ]:
                most.update((turn, max(limit, 2 * most[turn])) for turn in short)
                texts |= zip(short, self._ask_many(ask, short), strict=True)
                last = _last(texts.values(), limit)
            return self._nearest(texts.items(), last)[:limit]

        return near

    def _nearest(
        self, answers: Iterable[tuple[int, Sequence[Neighbour]]], last: float
    ) -> list[Neighbour]:
        """Order texts as near as `last`; one that several stores contain is one text."""
        texts: dict[bytes, Neighbour] = {}
        for turn, own in answers:
            for each in own:
                if each.cosine < last:
                    break
                ids = tuple(self._naming[turn].chunk(chunk) for chunk in each.chunk_ids)
                known = texts.get(each.hash)
                texts[each.hash] = (
                    known._replace(chunk_ids=known.chunk_ids + ids)
                    if known
                    else each._replace(chunk_ids=ids)
                )
        return sorted(texts.values(), key=lambda text: -text.cosine)

    def dated(self, spans: Sequence[tuple[str, str]], limit: int, scope: Scope) -> Sequence[int]:
        lists = [
            *self._answers(
                self._within(scope), lambda s, own: [s.dated([span], limit, own) for span in spans]
            )
        ]
        result: list[int] = []
        for at in range(len(spans)):
            ids = [chunk for turn, own in lists for chunk in self._naming[turn].chunks(own[at])]
            if len(lists) > 1:
                days = {chunk: each.about.date or "" for chunk, each in self.excerpts(ids).items()}
                ids.sort(key=days.__getitem__, reverse=True)
            result += ids[:limit]
        return result

    def vectors(self, chunk_ids: Sequence[int]) -> Mapping[int, Sequence[bytes]]:
        with_vectors = [c for c in chunk_ids if self._has_vectors(c % self._count)]
        return self._by_chunk(lambda snapshot, own: snapshot.vectors(own), with_vectors)

    def candidates(
        self, chunk_ids: Sequence[int], retrievers: RetrieverResults
    ) -> Sequence[Candidate]:
        query = _with_all(retrievers.query)
        by = retrievers.totals or self.totals(query)

        def read(own_of: tuple[int, list[int]]) -> list[Candidate]:
            turn, own = own_of
            scored = [
                each._replace(chunk_id=each.chunk_id // self._count)
                for each in retrievers.keyword
                if each.chunk_id % self._count == turn
            ]
            mine = retrievers._replace(query=query, keyword=scored, totals=by)
            if not self._has_vectors(turn):
                mine = mine._replace(vector=None, near=())
            own_candidates = self._all[turn].candidates(own, mine)
            return [
                each._replace(about=self._naming[turn].about(each.about)) for each in own_candidates
            ]

        return [
            *chain.from_iterable(
                self._ask_many(read, sorted(split(chunk_ids, self._count).items()))
            )
        ]

    def excerpts(self, chunk_ids: Sequence[int]) -> Mapping[int, Excerpt]:
        excerpts = self._by_chunk(lambda snapshot, own: snapshot.excerpts(own), chunk_ids)
        return {c: self._naming[c % self._count].excerpt(each) for c, each in excerpts.items()}

    def lines_of(self, chunk_ids: Sequence[int]) -> Mapping[int, ChunkLines]:
        return self._by_chunk(lambda snapshot, own: snapshot.lines_of(own), chunk_ids)

    def excerpts_of(self, documents: Sequence[Key], scope: Scope) -> Sequence[Excerpt]:
        parts = (
            (turn, (keys, own))
            for turn, own in self._within(scope)
            if (keys := self._naming[turn].own_keys(documents))
        )
        return [
            self._naming[turn].excerpt(excerpt)
            for turn, excerpts in self._answers(parts, lambda s, own: s.excerpts_of(*own))
            for excerpt in excerpts
        ]

    def newest(self, scope: Scope) -> Iterator[Excerpt]:
        def read(turn: int, begun: Iterator[Excerpt]) -> Iterator[Excerpt]:
            return (self._naming[turn].excerpt(each) for each in begun)

        def place(excerpt: Excerpt) -> tuple[str, str, str, int]:
            about = excerpt.about
            return about.document_date or "", about.path, about.source, excerpt.ordinal

        streams = self._answers(self._within(scope), lambda s, own: _begun(s.newest(own)))
        return merge(*(read(*each) for each in streams), key=place, reverse=True)

    def marked(self, *, soft: bool) -> Sequence[AlwaysDocument]:
        return [
            each._replace(excerpts=tuple(self._naming[turn].excerpt(e) for e in each.excerpts))
            for turn, excerpts in self._from_each(lambda snapshot: snapshot.marked(soft=soft))
            for each in excerpts
            if not self._is_hidden(turn, each)
        ]

    def documents(self, scope: Scope, first: First | None = None) -> Sequence[IndexedDocument]:
        """List the documents within reach, by workspace, source and path, or the first of them."""
        answers = [*self._answers(self._within(scope), lambda s, own: s.documents(own, first))]
        total = sum(own[0].total for _, own in answers if own)
        listed = [
            each._replace(source=self._naming[turn].source(each.source), total=total)
            for turn, own in answers
            for each in own
        ]
        return listed if first is None else in_order(listed, first.order)[: first.limit]

    def speakers(self, *, but: str | None = None) -> Sequence[str]:
        """List the speakers of conversations that the asking workspace may know of."""
        answers = self._ask_many(
            lambda turn: self._all[turn].speakers(but=PRIVATE if turn in self._hiding else but),
            range(self._count),
        )
        return sorted({name for names in answers for name in names})

    def preferences(self, limit: int, scope: Scope) -> Mapping[int, Sequence[Lines]]:
        result = {
            self._naming[turn].chunk(chunk): lines
            for turn, chunks in self._answers(
                self._within(scope), lambda s, own: s.preferences(limit, own)
            )
            for chunk, lines in chunks.items()
        }
        days = {chunk: e.about.date or UNDATED for chunk, e in self.excerpts([*result]).items()}
        order = sorted(result, key=days.__getitem__, reverse=True)
        return {chunk: result[chunk] for chunk in order[:limit]}

    def links(self, chunk_ids: Sequence[int]) -> Mapping[int, Linking]:
        return self._by_chunk(lambda snapshot, own: snapshot.links(own), chunk_ids)

    def titles(self) -> Sequence[TitledDocument]:
        return [
            each._replace(source=self._naming[turn].source(each.source))
            for turn, titles in self._from_each(lambda snapshot: snapshot.titles())
            for each in titles
        ]

    def supports(self) -> Sequence[Support]:
        return [
            each._replace(
                summary=self._naming[turn].path(each.summary),
                lines=each.lines._replace(path=self._naming[turn].path(each.lines.path)),
            )
            for turn, own in self._from_each(lambda snapshot: snapshot.supports())
            for each in own
        ]

    @cached_property
    def _hiding(self) -> Mapping[int, frozenset[str]]:
        """Return the stores of other workspaces with private documents, and their summaries."""
        others = [turn for turn in range(self._count) if turn != self._asker]
        answers = self._ask_many(lambda turn: private_summaries(self._all[turn]), others)
        return {
            turn: summaries
            for turn, summaries in zip(others, answers, strict=True)
            if summaries is not None
        }

    def _is_hidden(self, turn: int, marked: AlwaysDocument) -> bool:
        """Return whether a document of a store must not be shown."""
        summaries = self._hiding.get(turn)
        return summaries is not None and any(
            e.about.scope == PRIVATE or (is_memory(e.about.source) and e.about.path in summaries)
            for e in marked.excerpts
        )

    def _has_vectors(self, turn: int) -> bool:
        """Return whether the vectors of a store can be compared with the query's vector."""
        return self._facts[turn].fingerprint == self.facts.fingerprint

    def _is_small(self, turn: int) -> bool:
        """Return whether a store compares with all of its vectors, however many are wanted."""
        dimension = self._facts[turn].dimension or 0
        return 4 * dimension * self._own_counts[turn].embedded <= SMALL_BYTES

    def _from_each(self, ask: Callable[[Snapshot], Made]) -> Iterator[tuple[int, Made]]:
        """Ask every store; return the answers by number of the store."""
        return enumerate(self._ask_many(ask, self._all))

    def _answers(
        self, parts: Iterable[tuple[int, Given]], ask: Callable[[Snapshot, Given], Made]
    ) -> Iterator[tuple[int, Made]]:
        """Ask stores, by number, each with a part of its own; return the answers by number."""
        listed = [*parts]
        answers = self._ask_many(lambda each: ask(self._all[each[0]], each[1]), listed)
        return ((turn, answer) for (turn, _), answer in zip(listed, answers, strict=True))

    def _by_chunk(
        self,
        ask: Callable[[Snapshot, Sequence[int]], Mapping[int, Made]],
        chunk_ids: Sequence[int],
    ) -> dict[int, Made]:
        return {
            self._naming[turn].chunk(chunk): value
            for turn, own in self._answers(split(chunk_ids, self._count).items(), ask)
            for chunk, value in own.items()
        }

    def _within(self, scope: Scope) -> list[tuple[int, Scope]]:
        """Return the scope within each store; leave out stores that can find nothing."""
        if self._parted is None or self._parted[0] is not scope:
            scopes = (
                (turn, self._naming[turn].own_scope(scope, self._hiding.get(turn)))
                for turn in self._turns
            )
            self._parted = scope, [(turn, own) for turn, own in scopes if own is not None]
        return self._parted[1]


class UnionStore:
    """The stores of several workspaces, for reading only."""

    def __init__(
        self,
        stores: Sequence[tuple[str, Store]],
        *,
        has_own: bool = True,
        shared_index: SharedIndex | None = None,
        shared_names: Sequence[str] = (),
    ) -> None:
        """Take them by the names of their workspaces, the primary one first if there is one.

        The workspaces `shared_names` come last; a crowd has them by these names.
        """
        self._stores, self._has_own = stores, has_own
        self._shared_index, self._shared_names = shared_index, shared_names

    def exists(self) -> bool:
        """Return whether any store has data."""
        return bool(self._shared_names) or any(store.exists() for _, store in self._stores)

    @contextmanager
    def snapshot(self) -> Iterator[Union]:
        """Take a snapshot of each store that exists; IndexMissingError if none does.

        FailedStoreError if one cannot be read.
        """
        with ExitStack() as opened:
            members: dict[str, Snapshot] = {}
            for name, store in self._stores:
                if store.exists():
                    with failing(name):
                        snapshot = opened.enter_context(store.snapshot())
                    members[name] = NamedSnapshot(name, snapshot)
            is_own = self._has_own and [*members][:1] == [name for name, _ in self._stores[:1]]
            ask_many = None
            if self._shared_index:
                with failing(*self._shared_names):
                    shared, ask_many = opened.enter_context(self._shared_index.snapshots())
                members |= {
                    name: NamedSnapshot(name, shared[name], self._shared_names)
                    for name in self._shared_names
                    if name in shared
                }
            if not members:
                raise IndexMissingError("nothing is indexed yet", hint="memcli index --everywhere")
            yield Union(members, has_own=is_own, ask_many=ask_many)

    def close(self) -> None:
        """Close all stores."""
        for _, store in self._stores:
            store.close()
        if self._shared_index:
            self._shared_index.close()


def _one_by_one(ask: Callable[[Given], Made], items: Sequence[Given]) -> list[Made]:
    return [ask(each) for each in items]


def _begun(excerpts: Iterator[Excerpt]) -> Iterator[Excerpt]:
    """Read the first excerpt now, and the others when they are needed."""
    return chain([*islice(excerpts, 1)], excerpts)


def _last(answers: Iterable[Sequence[Neighbour]], limit: int) -> float:
    """Return the cosine of the last of the `limit` nearest texts of all answers."""
    texts = {each.hash: each.cosine for neighbours in answers for each in neighbours}
    return min(sorted(texts.values(), reverse=True)[:limit], default=1.0)


def _with_all(query: TermQuery) -> TermQuery:
    """Search for every term, because the totals of all stores have a place for each.

    An index of more than `recall.SMALL` chunks finds nothing by its common terms only, so a union
    may differ from one store, in scores by at most .0008.
    """
    also = (term for term, _ in query.also)
    terms = tuple(dict.fromkeys((*query.any, *also)))
    return query._replace(any=terms, also=(), together=())
