"""A store in memory: what the port means, in plain Python, with no thought of speed.

Its state is one frozen record. A change puts another record in its place, so a snapshot is the
record that was there when it began. Every answer is worked out from all documents.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from struct import unpack
from typing import NamedTuple

from memcli.errors import IndexMissingError, RetryLaterError
from memcli.markdown.segments import description_of
from memcli.store.documents import (
    AlwaysDocument,
    IndexedDocument,
    Linking,
    TitledDocument,
    in_order,
)
from memcli.store.lock import writer_lock
from memcli.store.port import Sleep
from memcli.store.quantize import rounded
from memcli.store.records import (
    ChunkLines,
    Counts,
    Facts,
    First,
    Key,
    KeywordMatch,
    LineCheck,
    Neighbour,
    RetrieverResults,
    Scope,
    Support,
    TermChunks,
    Totals,
)
from memcli.store.run_records import Pending, Stamp, StoreDescription, VectorSearch
from memcli.types import (
    MEMORY_SOURCE,
    About,
    Candidate,
    Chunk,
    Document,
    Excerpt,
    KnownFile,
    Lines,
    Segment,
    SegmentScore,
    Term,
    TermQuery,
)
from tests.store.contract.memory_reach import is_within, overlap
from tests.store.contract.memory_words import Columns, Words, columns, tokens

DAY_NS = 86_400 * 10**9


class Row(NamedTuple):
    """A chunk as it is stored."""

    id: int
    document: Document
    chunk: Chunk
    words: Columns

    @property
    def about(self) -> About:
        d, c = self.document, self.chunk
        return About(
            chunk_id=self.id, source=d.source, path=d.path, anchor=c.anchor,
            heading_path=c.heading_path, title=d.title, start_line=c.start_line,
            end_line=c.end_line, date=c.date, document_date=d.date, kind=d.kind, scope=d.scope,
            source_kind=d.source_kind, trust=d.trust, first_day=c.first_day,
        )  # fmt: skip

    @property
    def excerpt(self) -> Excerpt:
        c = self.chunk
        return Excerpt(self.about, c.text, c.start_byte, c.end_byte, c.ordinal)

    @property
    def place(self) -> tuple[str, str, int]:
        return self.document.source, self.document.path, self.chunk.ordinal


class StoredWorkspace(NamedTuple):
    """A document as it is stored."""

    document: Document
    stamp: Stamp
    skip: str  # why it has no text; empty where it has
    rows: tuple[Row, ...]


class Vector(NamedTuple):
    """A vector, and when it ceased to be searched by; None while it is."""

    blob: bytes
    unused_ns: int | None


class State(NamedTuple):
    """All that is stored."""

    facts: Facts = Facts()
    documents: Mapping[Key, StoredWorkspace] = {}
    vectors: Mapping[tuple[str, bytes], Vector] = {}  # by encoder and hash of the text
    line_checks: Mapping[str, Sequence[LineCheck]] = {}  # what each summary rests on, by path
    unread: frozenset[tuple[str, bytes]] = frozenset()  # likewise: what the encoder cannot read

    @property
    def rows(self) -> list[Row]:
        return sorted(row for stored in self.documents.values() for row in stored.rows)

    @property
    def parts(self) -> list[tuple[Row, Segment]]:
        return [(row, part) for row in self.rows for part in row.chunk.segments]

    def own_vector(self, hash_: bytes) -> bytes | None:
        """Give the vector of a text that is searched by."""
        found = self.vectors.get((self.facts.fingerprint or "", hash_))
        return found.blob if found else None

    def waiting(self, fingerprint: str) -> list[tuple[Row, Segment]]:
        """List the parts whose text has no vector and is not left out."""
        settled = self.vectors.keys() | self.unread
        return [(r, part) for r, part in self.parts if (fingerprint, part.hash) not in settled]

    @property
    def hashes(self) -> dict[str, bytes]:
        """Give the hash of every file of the memory, by path."""
        own = MEMORY_SOURCE
        return {path: s.stamp.hash for (source, path), s in self.documents.items() if source == own}


def _without_text(d: Document) -> About:
    """Tell of a document that has no chunk."""
    return About(
        chunk_id=0, source=d.source, path=d.path, anchor="", heading_path=(), title=d.title,
        start_line=1, end_line=0, date=d.date, document_date=d.date, kind=d.kind, scope=d.scope,
        source_kind=d.source_kind, trust=d.trust, first_day=d.first_day,
    )  # fmt: skip


class MemorySnapshot:
    """Answers from one state; a `port.Snapshot`."""

    def __init__(self, state: State) -> None:
        self._state = state

    @property
    def facts(self) -> Facts:
        return self._state.facts

    def known(self) -> Mapping[Key, KnownFile]:
        return {
            key: KnownFile(s.hash, *s.stat[2:], s.indexed_ns)
            for key, (_, s, *_) in self._state.documents.items()
        }

    def counts(self) -> Counts:
        parts = [part for _, part in self._state.parts]
        embedded = [part for part in parts if self._state.own_vector(part.hash)]
        unread = {
            hash_ for encoder, hash_ in self._state.unread if encoder == self.facts.fingerprint
        }
        left_out = [part for part in parts if part.hash in unread]
        documents, chunks = len(self._texts()), len(self._state.rows)
        return Counts(documents, chunks, len(parts), len(embedded), len(left_out))

    def integrity(self) -> str:
        return "ok"

    def vector_search(self) -> VectorSearch:
        return VectorSearch("plain Python", is_exact=True, problem="")

    def tokens(self, prepared: Sequence[str]) -> Sequence[tuple[str, ...]]:
        return [tokens(text) for text in prepared]

    def occurring(self, terms: Sequence[Term]) -> frozenset[Term]:
        return frozenset(term for term in terms if self._words.holders(term))

    def frequencies(self, terms: Sequence[Term]) -> Sequence[int]:
        return [len(self._words.holders(term)) for term in terms]

    def holding(
        self, asked: Sequence[Term | TermQuery], chunk_ids: Sequence[int]
    ) -> Sequence[TermChunks]:
        holders = [
            self._words.holders(each) if isinstance(each, Term) else self._words.matching(each)
            for each in asked
        ]
        return [
            TermChunks(len(found), frozenset(found.intersection(chunk_ids))) for found in holders
        ]

    def totals(self, wanted: TermQuery) -> Totals:
        return self._words.totals(wanted)

    def by_keyword(
        self, wanted: TermQuery, limit: int, scope: Scope, totals: Totals | None = None
    ) -> Sequence[KeywordMatch]:
        scores = self._words.scores(wanted, totals)
        within = [row for row in self._within(scope) if row.id in scores]
        ranked = sorted(within, key=lambda row: (-scores[row.id], row.place))
        return [KeywordMatch(row.id, scores[row.id]) for row in ranked[:limit]]

    def by_vector(
        self, vector: bytes | None, limit: int, scope: Scope
    ) -> Callable[[], Sequence[Neighbour]]:
        if vector is None:
            return list
        owners: dict[bytes, list[int]] = {}
        for row in self._within(scope):
            for part in row.chunk.segments:
                owners.setdefault(part.hash, []).append(row.id)
        near = [
            Neighbour(hash_, cosine(vector, blob), tuple(dict.fromkeys(owned)))
            for hash_, owned in owners.items()
            if (blob := self._state.own_vector(hash_))
        ]
        near.sort(key=lambda text: -text.cosine)
        return lambda: near[:limit]

    def dated(self, spans: Sequence[tuple[str, str]], limit: int, scope: Scope) -> Sequence[int]:
        rows = sorted(self._within(scope), key=lambda row: row.chunk.date or "", reverse=True)
        found: list[int] = []
        for first, last in spans:
            inside = [r.id for r in rows if overlap(r.about, first, last)]
            found += inside[:limit]
        return found

    def vectors(self, chunk_ids: Sequence[int]) -> Mapping[int, Sequence[bytes]]:
        found = {
            row.id: [self._state.own_vector(part.hash) for part in row.chunk.segments]
            for row in self._rows(chunk_ids)
        }
        known = {chunk: [each for each in vectors if each] for chunk, vectors in found.items()}
        return {chunk: vectors for chunk, vectors in known.items() if vectors}

    def candidates(
        self, chunk_ids: Sequence[int], retrievers: RetrieverResults
    ) -> Sequence[Candidate]:
        scores = self._words.scores(retrievers.query, retrievers.totals)
        return [
            Candidate(
                row.about,
                row.chunk.tokens,
                row.chunk.text,
                row.document.authority,
                row.document.importance,
                tuple(self._scored(part, retrievers.vector) for part in row.chunk.segments),
                scores.get(row.id, 0.0),
                named_by="" if row.chunk.ordinal else row.document.front_matter,
            )
            for row in sorted(self._rows(chunk_ids), key=lambda row: row.place)
        ]

    def excerpts(self, chunk_ids: Sequence[int]) -> Mapping[int, Excerpt]:
        return {row.id: row.excerpt for row in self._rows(chunk_ids)}

    def excerpts_of(self, documents: Sequence[Key], scope: Scope) -> Sequence[Excerpt]:
        return [row.excerpt for row in self._within(scope) if row.about.document in documents]

    def newest(self, scope: Scope) -> Iterator[Excerpt]:
        found = [
            row
            for row in self._within(scope)
            if row.document.date and not row.document.always and not row.document.soft
        ]
        found.sort(key=lambda row: (row.document.date, row.document.path, row.place))
        return iter([row.excerpt for row in reversed(found)])

    def marked(self, *, soft: bool) -> Sequence[AlwaysDocument]:
        found = []
        for _, stored in sorted(self._state.documents.items()):
            d = stored.document
            if stored.rows and (d.soft and not d.always if soft else d.always):
                excerpts = tuple(row.excerpt for row in stored.rows)
                found.append(AlwaysDocument(d.authority, excerpts))
        return found

    def documents(self, scope: Scope, first: First | None = None) -> Sequence[IndexedDocument]:
        found = []
        for _, (d, _, skip, rows) in sorted(self._state.documents.items()):
            abouts = [row.about for row in rows] or [_without_text(d)]
            within = [about for about in abouts if is_within(scope, about, d.front_matter)]
            if within:
                own = d._asdict() | {"skip": skip, "chunks": len(within) if rows else 0, "total": 0}
                found.append(
                    IndexedDocument(**{name: own[name] for name in IndexedDocument._fields})
                )
        if first is None:
            return found
        texts = [each for each in found if not each.skip]
        listed = in_order(texts, first.order)[: first.limit]
        return [each._replace(total=len(texts)) for each in listed]

    def lines_of(self, chunk_ids: Sequence[int]) -> Mapping[int, ChunkLines]:
        return {
            row.id: ChunkLines(
                (
                    any(other.end_byte == row.chunk.start_byte for other in row.document.chunks),
                    any(other.start_byte == row.chunk.end_byte for other in row.document.chunks),
                ),
                row.chunk.turns,
            )
            for row in self._rows(chunk_ids)
        }

    def speakers(self, *, but: str | None = None) -> Sequence[str]:
        rows = (row for row in self._state.rows if row.document.scope != but)
        return sorted({turn.speaker for row in rows for turn in row.chunk.turns})

    def preferences(self, limit: int, scope: Scope) -> Mapping[int, Sequence[Lines]]:
        rows = [row for row in self._within(scope) if row.chunk.preferences]
        rows.sort(key=lambda row: row.place)
        rows.sort(key=lambda row: row.chunk.date or "9999-99-99", reverse=True)
        return {row.id: row.chunk.preferences for row in rows[:limit]}

    def links(self, chunk_ids: Sequence[int]) -> Mapping[int, Linking]:
        return {
            row.id: Linking(row.chunk.links, row.document.front_matter)
            for row in self._rows(chunk_ids)
        }

    def titles(self) -> Sequence[TitledDocument]:
        return [
            TitledDocument(*key, stored.document.title)
            for key, stored in self._state.documents.items()
        ]

    def supports(self) -> Sequence[Support]:
        hashes = self._state.hashes
        return sorted(
            Support(
                summary,
                each.lines,
                each.holds and each.file is not None and each.file == hashes.get(each.lines.path),
            )
            for summary, found in self._state.line_checks.items()
            for each in found
        )

    @cached_property
    def _words(self) -> Words:
        return Words({row.id: row.words for row in self._state.rows})

    def _texts(self) -> list[StoredWorkspace]:
        return [stored for stored in self._state.documents.values() if not stored.skip]

    def _rows(self, chunk_ids: Sequence[int]) -> list[Row]:
        return [row for row in self._state.rows if row.id in chunk_ids]

    def _within(self, scope: Scope) -> list[Row]:
        rows = sorted(self._state.rows, key=lambda row: row.place)
        by = scope.filters.by
        return [
            row
            for row in rows
            if is_within(scope, row.about, row.document.front_matter)
            and (not by or any(turn.speaker in by for turn in row.chunk.turns))
        ]

    def _scored(self, part: Segment, vector: bytes | None) -> SegmentScore:
        blob = self._state.own_vector(part.hash)
        score = cosine(vector, blob) if vector and blob else None
        return SegmentScore(part.start_line, part.end_line, part.start, part.end, score)


class Cell:
    """The place of a state, and of one that is built to take it."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.beside: Cell | None = None
        self.left_ns = 0  # when it was worked on last
        self.is_awaited = False  # by a run that waits for a server
        self.set_aside = ""


class MemoryChange:
    """Puts one state in the place of another; a `port.Change`."""

    notices: Sequence[str] = ()

    def __init__(self, cell: Cell, now_ns: Callable[[], int]) -> None:
        self._cell, self._now_ns = cell, now_ns

    @property
    def facts(self) -> Facts:
        return self._state.facts

    def known(self) -> Mapping[Key, KnownFile]:
        return self._snapshot.known()

    def counts(self) -> Counts:
        return self._snapshot.counts()

    def integrity(self) -> str:
        return self._snapshot.integrity()

    def remember(self, facts: Mapping[str, str], *, revise: bool = True) -> None:
        own = {name: told for name, told in facts.items() if name in Facts._fields}
        told = self.facts._replace(**own)  # type: ignore[arg-type]
        if told != self.facts:
            self._become(self._state._replace(facts=told), revise=revise)

    def put(self, document: Document, stamp: Stamp, *, skip: str = "") -> None:
        key = (document.source, document.path)
        state = self._without(key)
        first = 1 + max((row.id for row in state.rows), default=0)
        rows = tuple(
            Row(number, document, chunk, columns(document, chunk))
            for number, chunk in enumerate(document.chunks, first)
        )
        stored = StoredWorkspace(document, stamp, skip, rows)
        line_checks = dict(state.line_checks)
        if document.lineage is not None and document.source == MEMORY_SOURCE:
            line_checks[document.path] = tuple(
                LineCheck(lines, None, holds=False) for lines in document.lineage.sources
            )
        self._become(
            state._replace(documents={**state.documents, key: stored}, line_checks=line_checks)
        )

    @contextmanager
    def together(self) -> Iterator[Callable[[], None]]:
        yield lambda: None

    def touch(self, key: Key, stamp: Stamp) -> None:
        stored = self._state.documents[key]
        stamp = stamp._replace(hash=stored.stamp.hash)
        documents = {**self._state.documents, key: stored._replace(stamp=stamp)}
        self._become(self._state._replace(documents=documents), revise=False)

    def remove(self, key: Key) -> None:
        self._become(self._without(key))

    def pending(
        self, fingerprint: str, limit: int, *, within: Sequence[int] | None = None
    ) -> Sequence[Pending]:
        waiting = self._state.waiting(fingerprint)
        if within is not None:
            waiting = [each for each in waiting if each[0].id in within]
        waiting.sort(key=lambda found: (found[0].document.path, found[0].place))
        stamps = {key: stored.stamp for key, stored in self._state.documents.items()}
        waiting.sort(key=lambda found: -stamps[found[0].place[:2]].stat.mtime_ns)
        waiting.sort(key=lambda found: found[0].document.date or "undated", reverse=True)
        waiting.sort(key=lambda found: (found[0].document.importance or 0) <= 0.5)
        waiting.sort(key=lambda found: not found[0].document.always)
        texts = {
            part.hash: Pending(
                part.hash,
                part.prefix,
                row.chunk.text[part.start : part.end],
                row.document.title,
                row.chunk.heading_path,
                row.about.days or None,
                description_of(json.loads(row.document.front_matter)),
            )
            for row, part in waiting
        }
        return list(texts.values())[:limit]

    def borrow(self, fingerprint: str) -> int:
        return 0

    def unembedded(self, fingerprint: str) -> int:
        return len({part.hash for _, part in self._state.waiting(fingerprint)})

    def put_vectors(self, fingerprint: str, made: Sequence[tuple[bytes, bytes | None]]) -> None:
        new = {(fingerprint, hash_): Vector(rounded(blob), None) for hash_, blob in made if blob}
        unread = self._state.unread | {(fingerprint, hash_) for hash_, blob in made if not blob}
        vectors = {**new, **self._state.vectors}
        self._become(self._state._replace(vectors=vectors, unread=unread))

    def search_by(self, fingerprint: str, dimension: int, *, none_waits: bool = False) -> None:
        facts = self.facts._replace(fingerprint=fingerprint, dimension=dimension)
        if facts != self.facts:
            self._become(self._state._replace(facts=facts))

    def unchecked(self) -> Sequence[str]:
        hashes = self._state.hashes
        return sorted(
            summary for summary, found in self._state.line_checks.items()
            if any(hashes.get(e.lines.path) is None or e.file != hashes[e.lines.path]
                   for e in found)
            or (self._named(summary) & hashes.keys()) - {e.lines.path for e in found}
        )  # fmt: skip

    def _named(self, summary: str) -> set[str]:
        lineage = self._state.documents[MEMORY_SOURCE, summary].document.lineage
        return {source.path for source in lineage.sources} if lineage else set()

    def check(self, summary: str, found: Sequence[LineCheck]) -> None:
        known = self._state.line_checks.get(summary)
        if known and list(known) != list(found):
            line_checks = {**self._state.line_checks, summary: tuple(found)}
            self._become(self._state._replace(line_checks=line_checks))

    def tidy(self, *, pages: int | None = None, unused_days: int | None = None) -> int:
        if unused_days is None:
            return 0
        now, days = self._now_ns(), unused_days * DAY_NS
        kept = {
            key: vector
            for key, vector in self._state.vectors.items()
            if vector.unused_ns is None or abs(now - vector.unused_ns) < days
        }
        dropped = len(self._state.vectors) - len(kept)
        self._become(self._state._replace(vectors=kept), revise=False)
        return dropped

    def start_over(self, fault: str) -> str:
        return f"{fault}, but a second check found it intact"

    @contextmanager
    def rebuild(self) -> Iterator[MemoryRebuild]:
        beside = self._cell.beside = self._cell.beside or Cell(State())
        side = MemoryRebuild(beside, self._now_ns, self._cell)
        side.remember({"mounts": self.facts.mounts or "[]"})
        beside.is_awaited = False
        try:
            yield side
        except RetryLaterError:
            beside.is_awaited = True
            raise
        finally:
            beside.left_ns = self._now_ns()

    def drop_rebuild(self, *, seconds: float = 0.0, awaited_seconds: float | None = None) -> None:
        beside = self._cell.beside
        if beside and beside.is_awaited and awaited_seconds is not None:
            seconds = awaited_seconds
        if beside and self._now_ns() - beside.left_ns >= seconds * 1e9:
            kept = {**beside.state.vectors, **self._state.vectors}
            self._become(self._state._replace(vectors=kept))
            self._cell.beside = None

    @property
    def _state(self) -> State:
        return self._cell.state

    @property
    def _snapshot(self) -> MemorySnapshot:
        return MemorySnapshot(self._state)

    def _without(self, key: Key) -> State:
        kept = {other: stored for other, stored in self._state.documents.items() if other != key}
        line_checks = {
            summary: found
            for summary, found in self._state.line_checks.items()
            if (MEMORY_SOURCE, summary) != key
        }
        return self._state._replace(documents=kept, line_checks=line_checks)

    def _become(self, state: State, *, revise: bool = True) -> None:
        """Put a state in the place of this one, and note the vectors that nobody needs now."""
        living = {(state.facts.fingerprint, part.hash) for _, part in state.parts}
        now = self._now_ns()
        vectors = {
            key: v._replace(unused_ns=None if key in living else v.unused_ns or now)
            for key, v in state.vectors.items()
        }
        hashes = {part.hash for _, part in state.parts}
        unread = frozenset(each for each in state.unread if each[1] in hashes)
        facts = state.facts._replace(revision=state.facts.revision + revise)
        self._cell.state = state._replace(facts=facts, vectors=vectors, unread=unread)


class MemoryRebuild(MemoryChange):
    """Builds a state that takes the place of another one; a `port.Rebuild`."""

    def __init__(self, cell: Cell, now_ns: Callable[[], int], main: Cell) -> None:
        super().__init__(cell, now_ns)
        self._main = main

    def take_over(self, hidden: Iterable[Key]) -> None:
        main = self._main.state
        for key in hidden:
            stored = main.documents[key]
            self.put(stored.document, stored.stamp, skip=stored.skip)
        self._become(self._state._replace(vectors={**main.vectors, **self._state.vectors}))
        if main.facts.model:
            self.remember({"model": main.facts.model})
        if main.facts.fingerprint and main.facts.dimension and not self.facts.fingerprint:
            self.search_by(main.facts.fingerprint, main.facts.dimension)

    def publish(self) -> None:
        revision = 1 + max(self.facts.revision, self._main.state.facts.revision)
        self._main.state = self._state._replace(facts=self.facts._replace(revision=revision))
        self._main.beside = None


class MemoryStore:
    """A store that ends with its process; a `port.Store`."""

    def __init__(self, local: str, now_ns: Callable[[], int]) -> None:
        self.local, self._now_ns = local, now_ns
        self._cell: Cell | None = None

    def describe(self) -> StoreDescription:
        rows = self._cell.state.rows if self._cell else ()
        size = sum(len(row.chunk.text.encode()) for row in rows)
        return StoreDescription("memory", "scan", size, self._cell.set_aside if self._cell else "")

    def has_unfolded(self) -> bool:
        return False

    def exists(self) -> bool:
        return self._cell is not None

    @contextmanager
    def snapshot(self) -> Iterator[MemorySnapshot]:
        if self._cell is None:
            raise IndexMissingError("there is no index in memory", hint="memcli index")
        yield MemorySnapshot(self._cell.state)

    @contextmanager
    def change(self, *, wait_seconds: float, sleep: Sleep) -> Iterator[MemoryChange]:
        with self.locked(wait_seconds=wait_seconds, sleep=sleep):
            self._cell = self._cell or Cell(State())
            yield MemoryChange(self._cell, self._now_ns)

    @contextmanager
    def locked(self, *, wait_seconds: float, sleep: Sleep) -> Iterator[None]:
        with writer_lock(self.local, wait_seconds=wait_seconds, sleep=sleep):
            yield

    def copy_to(self, path: str) -> None:
        """Tell a store in a file all that is told here."""
        from memcli.store.open import store_at

        state = self._cell.state if self._cell else State()
        copy = store_at(path, self._now_ns)
        with copy.change(wait_seconds=0, sleep=lambda seconds: None) as change:
            for stored in state.documents.values():
                change.put(stored.document, stored.stamp, skip=stored.skip)
            for (fingerprint, hash_), vector in state.vectors.items():
                change.put_vectors(fingerprint, [(hash_, vector.blob)])
            if state.facts.fingerprint and state.facts.dimension:
                change.search_by(state.facts.fingerprint, state.facts.dimension)
            for summary, found in state.line_checks.items():
                change.check(summary, found)
        copy.close()

    def stand_in(self) -> None:
        """Give nothing, as it is never away."""

    def close(self) -> None:
        """Hold nothing open."""


def cosine(a: bytes, b: bytes) -> float:
    """Give the cosine as every store does: by the distance, as if both were of unit length."""
    apart = (x - y for x, y in zip(floats(a), floats(b), strict=True))
    return 1.0 - sum(each * each for each in apart) / 2.0


def floats(blob: bytes) -> tuple[float, ...]:
    return unpack(f"<{len(blob) // 4}f", blob)
