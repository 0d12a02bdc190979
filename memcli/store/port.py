"""The door of the store: what every index answers and does, whoever keeps it.

A Store is asked for a Snapshot, which answers from one state of it, or for a Change, of which
there is one at a time in all processes. Chunks are named by numbers that mean something within
one snapshot alone. Text is data: words come as Terms, filters as a Reach, never as a query
language. What a summary, a log or a good answer is, callers decide.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from memcli.store.documents import IndexedDocument, Linking, Marked, Titled
    from memcli.store.records import (
        ChunkLines,
        Counts,
        Facts,
        First,
        Key,
        LineCheck,
        Near,
        Ranked,
        Reach,
        RetrieverResults,
        Support,
        TermChunks,
        Totals,
    )
    from memcli.store.rounds import Each
    from memcli.store.run_records import (
        Described,
        Pending,
        Stamp,
        Stored,
        VectorSearch,
    )
    from memcli.types import Candidate, Document, Excerpt, Known, Lines, Term, Wanted

Sleep = Callable[[float], None]


class Stock(Protocol):
    """What a state of a store says of all that is stored."""

    @property
    def facts(self) -> Facts:
        """Return what the store remembers of itself."""
        ...

    def known(self) -> Mapping[Key, Known]:
        """Return what is remembered of every document."""
        ...

    def counts(self) -> Counts:
        """Count documents, chunks, and parts: all, embedded ones, and those left out."""
        ...

    def integrity(self) -> str:
        """Check everything that is stored: "ok", or the first fault."""
        ...


class Snapshot(Stock, Protocol):
    """One state of a store."""

    def vector_search(self) -> VectorSearch:
        """Return how vectors are searched."""
        ...

    def tokens(self, prepared: Sequence[str]) -> Sequence[tuple[str, ...]]:
        """Cut texts that `words.prepare` has made into tokens, stemmed as the store holds them."""
        ...

    def occurring(self, terms: Sequence[Term]) -> frozenset[Term]:
        """Return which of some terms any chunk holds."""
        ...

    def frequencies(self, terms: Sequence[Term]) -> Sequence[int]:
        """Count the chunks that hold each term; in a large store by estimate."""
        ...

    def holding(
        self, asked: Sequence[Term | Wanted], chunk_ids: Sequence[int]
    ) -> Sequence[TermChunks]:
        """Count the chunks that contain each term, or match each query; say which of some do."""
        ...

    def totals(self, wanted: Wanted) -> Totals:
        """Count what BM25 weighs the words of `wanted` by; those of several stores add up."""
        ...

    def by_keyword(
        self, wanted: Wanted, limit: int, reach: Reach, totals: Totals | None = None
    ) -> Sequence[Ranked]:
        """List the best matches by BM25, best first; ties by source, path and place.

        With `totals` a chunk has the score that one store would give it that holds all of them.
        A term of `wanted.also` is weighed by the count that is given with it.
        """
        ...

    def by_vector(
        self, vector: bytes | None, limit: int, reach: Reach
    ) -> Callable[[], Sequence[Near]]:
        """Begin to look for the texts nearest to a vector, and give what waits for them.

        The nearest come first; texts that are equally near go by the place of their first chunk.
        Without a vector, or before anything is embedded, there are none.
        """
        ...

    def dated(self, spans: Sequence[tuple[str, str]], limit: int, reach: Reach) -> Sequence[int]:
        """List chunks that have a day of a span of ISO dates: the newest of each span.

        Those of one date go by source, path and place.
        """
        ...

    def vectors(self, chunk_ids: Sequence[int]) -> Mapping[int, Sequence[bytes]]:
        """Return the vectors of the parts of those chunks that have any, in their order."""
        ...

    def candidates(
        self, chunk_ids: Sequence[int], retrievers: RetrieverResults
    ) -> Sequence[Candidate]:
        """Read chunks with the raw scores of both retrievers, ordered by source, path and place.

        What a retriever has found it has scored; the others are scored here, never taken for 0.
        """
        ...

    def excerpts(self, chunk_ids: Sequence[int]) -> Mapping[int, Excerpt]:
        """Read some chunks."""
        ...

    def lines_of(self, chunk_ids: Sequence[int]) -> Mapping[int, ChunkLines]:
        """Say whether chunks begin and end within a line, and give their turns."""
        ...

    def excerpts_of(self, documents: Sequence[Key], reach: Reach) -> Sequence[Excerpt]:
        """Read the chunks of some documents, ordered by source, path and place."""
        ...

    def newest(self, reach: Reach) -> Iterator[Excerpt]:
        """Read the dated documents that are not marked, chunk by chunk, the newest first.

        It is the order of date, path, source and place, from its end.
        """
        ...

    def marked(self, *, soft: bool) -> Sequence[Marked]:
        """Read the documents marked `always`, or those marked `soft` alone."""
        ...

    def documents(self, reach: Reach, first: First | None = None) -> Sequence[IndexedDocument]:
        """List the documents within reach by source and path.

        A document without a chunk is within reach by its date. With `first`, list the first of
        those that are text, in another order.
        """
        ...

    def speakers(self, *, but: str | None = None) -> Sequence[str]:
        """List everybody who speaks in a conversation, each once, by name.

        Without those who speak in documents of the scope `but` alone.
        """
        ...

    def preferences(self, limit: int, reach: Reach) -> Mapping[int, Sequence[Lines]]:
        """Return the lines of chunks in which somebody says how they want things.

        Those of undated documents come first, then the newest; what is equal goes by place.
        """
        ...

    def links(self, chunk_ids: Sequence[int]) -> Mapping[int, Linking]:
        """Read what some chunks link to."""
        ...

    def titles(self) -> Sequence[Titled]:
        """List every document with its title."""
        ...

    def supports(self) -> Sequence[Support]:
        """List the lines that summaries rest on."""
        ...


class Change(Stock, Protocol):
    """The one writer of a store."""

    @property
    def notices(self) -> Sequence[str]:
        """Return what had to be mended to open the store."""
        ...

    def remember(self, facts: Mapping[str, str], *, revise: bool = True) -> None:
        """Remember facts by the names of their fields, and `workspace`: the folder of its memory.

        `workspace` tells which index in a file is that of a folder that is gone; no snapshot
        gives it.
        """
        ...

    def put(self, document: Document, stamp: Stamp, *, skip: str = "") -> None:
        """Store a document in place of what was known of it; a whole one or none."""
        ...

    def together(self) -> AbstractContextManager[Callable[[], None]]:
        """Let others see the changes made within at once, at the end or when this is called.

        Who is killed loses those that were not seen; a single change stays a whole one or none.
        """
        ...

    def touch(self, key: Key, stamp: Stamp) -> None:
        """Remember that a file with a new stat still holds the same bytes."""
        ...

    def remove(self, key: Key) -> None:
        """Remove all that is known of a document."""
        ...

    def pending(
        self, fingerprint: str, limit: int, *, within: Sequence[int] | None = None
    ) -> Sequence[Pending]:
        """List texts that wait for a vector, each once, in the order in which they are needed.

        Rules that every context contains come first, then what is more important than most, then
        all else; each of them undated ones first, then the newest. `within` are chunks, by the
        numbers of a snapshot.
        """
        ...

    def borrow(self, fingerprint: str) -> int:
        """Take the vectors that other workspaces have of texts that wait; give how many."""
        ...

    def unembedded(self, fingerprint: str) -> int:
        """Count the distinct texts that wait for a vector."""
        ...

    def put_vectors(self, fingerprint: str, made: Sequence[tuple[bytes, bytes | None]]) -> None:
        """Store vectors by the hash of their text.

        A text with None is one that this encoder cannot read; it no longer waits for a vector.
        """
        ...

    def search_by(self, fingerprint: str, dimension: int, *, none_waits: bool = False) -> None:
        """Search by this encoder's vectors from now on.

        With `none_waits`, remember until the next change that no text waits for a vector.
        """
        ...

    def unchecked(self) -> Sequence[str]:
        """Name the summaries to look at again, by path.

        A file they rest on is not the one that was looked at, is gone, or is back at its place.
        """
        ...

    def check(self, summary: str, found: Sequence[LineCheck]) -> None:
        """Note where all that a summary rests on stands now; nothing where it is so already."""
        ...

    def tidy(self, *, pages: int | None = None, unused_days: int | None = None) -> int:
        """Remove what nothing uses, and return how many vectors that were.

        The words of deleted text go; `pages` limits the work, and the next call continues. With
        `unused_days`, so do the vectors that no text has used for so many days.
        """
        ...

    def start_over(self, fault: str) -> str:
        """Go on with a sound store and say so: this one, if a second look finds it whole.

        Else it is set aside, an empty one takes its place, and what can be believed of the
        vectors is taken over.
        """
        ...

    def rebuild(self) -> AbstractContextManager[Rebuild]:
        """Build a store again beside this one, or go on where that was left."""
        ...

    def drop_rebuild(self, *, seconds: float = 0.0, awaited_seconds: float | None = None) -> None:
        """Remove a half-built store that nobody has gone on with for so long; keep its vectors.

        One whose run waits for a server, and comes back to it, is removed after `awaited_seconds`:
        AskedToWaitError went through `rebuild`.
        """
        ...


class Rebuild(Change, Protocol):
    """A store that is built beside another one."""

    def take_over(self, hidden: Iterable[Key]) -> None:
        """Copy vectors, and documents whose files nobody could see, from the other store."""
        ...

    def publish(self) -> None:
        """Put this store in the place of the other one, at once."""
        ...


class Store(Protocol):
    """An index of one workspace, wherever it is kept."""

    @property
    def local(self) -> str:
        """Name a path of this machine; who works on the store is kept next to it, by `lock`."""
        ...

    def describe(self) -> Described:
        """Return where the store is, and how large."""
        ...

    def exists(self) -> bool:
        """Return whether anything was ever stored."""
        ...

    def has_unfolded(self) -> bool:
        """Return whether deleted text may still lie somewhere, until the next change ends."""
        ...

    def snapshot(self) -> AbstractContextManager[Snapshot]:
        """Hold one state; IndexMissingError if there is none."""
        ...

    def change(self, *, wait_seconds: float, sleep: Sleep) -> AbstractContextManager[Change]:
        """Be the one writer, waiting for another so long, else BusyError."""
        ...

    def locked(self, *, wait_seconds: float, sleep: Sleep) -> AbstractContextManager[None]:
        """Keep every other writer out without changing anything."""
        ...

    def stand_in(self) -> Store | None:
        """Return the index that answers where the server of this one is away, if there is any."""
        ...

    def copy_to(self, path: str) -> None:
        """Copy what is stored to a file of its own, which `MEMCLI_STORE` may name."""
        ...

    def close(self) -> None:
        """Let go of whatever is held open."""
        ...


class Crowd(Protocol):
    """Workspaces of one server, which are read by one connection."""

    def listed(self) -> Sequence[Stored]:
        """List the workspaces, by name."""
        ...

    def snapshots(self) -> AbstractContextManager[tuple[Mapping[str, Snapshot], Each]]:
        """Hold one state of each, by both of its names, with what asks each of several."""
        ...

    def close(self) -> None:
        """Let go of the connections."""
        ...
