"""The interface of a store: what every index answers and does.

A Store gives a Snapshot, which answers from one state of it, or a Change, of which only one exists
at a time in all processes. The numbers of chunks are valid within one snapshot. Text is data:
words are passed as Terms and filters as a Scope, never as a query language. The callers decide
what a summary, a log or a good answer is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol

from memcli.checking import Given, Made

if TYPE_CHECKING:
    from memcli.store.documents import AlwaysDocument, IndexedDocument, Linking, TitledDocument
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
    from memcli.store.run_records import (
        Pending,
        Stamp,
        StoreDescription,
        StoredWorkspace,
        VectorSearch,
    )
    from memcli.types import Candidate, Document, Excerpt, KnownFile, Lines, Term, TermQuery

Sleep = Callable[[float], None]


class StoreFacts(Protocol):
    """The facts about everything in one state of a store."""

    @property
    def facts(self) -> Facts:
        """Return the facts that the store remembers."""

    def known(self) -> Mapping[Key, KnownFile]:
        """Return the stamp and hash of every document."""

    def counts(self) -> Counts:
        """Count documents, chunks, and segments: all, embedded ones, and those left out."""

    def integrity(self) -> str:
        """Check everything that is stored: "ok", or the first fault."""


class Snapshot(StoreFacts, Protocol):
    """One state of a store."""

    def vector_search(self) -> VectorSearch:
        """Return how vectors are searched."""

    def tokens(self, prepared: Sequence[str]) -> Sequence[tuple[str, ...]]:
        """Cut texts that `words.prepare` has made into tokens, stemmed as in the index."""

    def occurring(self, terms: Sequence[Term]) -> frozenset[Term]:
        """Return which of some terms are in any chunk."""

    def frequencies(self, terms: Sequence[Term]) -> Sequence[int]:
        """Count the chunks that contain each term; a large store estimates."""

    def matching_chunks(
        self, queries: Sequence[Term | TermQuery], chunk_ids: Sequence[int]
    ) -> Sequence[TermChunks]:
        """Count the chunks that contain each term, or match each query; name which of some do."""

    def totals(self, query: TermQuery) -> Totals:
        """Count what BM25 needs for the words of `query`; counts of several stores add up."""

    def by_keyword(
        self, query: TermQuery, limit: int, scope: Scope, totals: Totals | None = None
    ) -> Sequence[KeywordMatch]:
        """List the best matches by BM25, best first; ties by source, path and place.

        With `totals` a chunk has the score that one store would give it that holds all of them.
        A term of `query.also` is weighed by the count that is given with it.
        """

    def by_vector(
        self, vector: bytes | None, limit: int, scope: Scope
    ) -> Callable[[], Sequence[Neighbour]]:
        """Start to look for the texts nearest to a vector; return a function that waits for them.

        The nearest come first; ties go by the place of their first chunk. Without a vector, or
        before anything is embedded, there are none.
        """

    def dated(self, spans: Sequence[tuple[str, str]], limit: int, scope: Scope) -> Sequence[int]:
        """List chunks with a day of a span of ISO dates: the newest of each span.

        Those of one date are ordered by source, path and place.
        """

    def vectors(self, chunk_ids: Sequence[int]) -> Mapping[int, Sequence[bytes]]:
        """Return the vectors of the segments of those chunks that have any, in order."""

    def candidates(
        self, chunk_ids: Sequence[int], retrievers: RetrieverResults
    ) -> Sequence[Candidate]:
        """Read chunks with the raw scores of both retrievers, ordered by source, path and place.

        Scores that a retriever has not computed are computed here; none is assumed to be 0.
        """

    def excerpts(self, chunk_ids: Sequence[int]) -> Mapping[int, Excerpt]:
        """Read some chunks."""

    def lines_of(self, chunk_ids: Sequence[int]) -> Mapping[int, ChunkLines]:
        """Return whether chunks begin and end within a line, and their turns."""

    def excerpts_of(self, documents: Sequence[Key], scope: Scope) -> Sequence[Excerpt]:
        """Read the chunks of some documents, ordered by source, path and place."""

    def newest(self, scope: Scope) -> Iterator[Excerpt]:
        """Read the dated documents that are not marked, chunk by chunk, the newest first.

        It is the order of date, path, source and place, from its end.
        """

    def marked(self, *, soft: bool) -> Sequence[AlwaysDocument]:
        """Read the documents marked `always`, or with `soft` those marked `soft`."""

    def documents(self, scope: Scope, first: First | None = None) -> Sequence[IndexedDocument]:
        """List the documents within reach by source and path.

        A document without a chunk is within reach by its date. With `first`, list the first of
        those that are text, in another order.
        """

    def speakers(self, *, but: str | None = None) -> Sequence[str]:
        """List everybody who speaks in a conversation, each once, by name.

        Those who speak only in documents of the scope `but` are left out.
        """

    def preferences(self, limit: int, scope: Scope) -> Mapping[int, Sequence[Lines]]:
        """Return the lines of chunks in which somebody says how they want things.

        Those of undated documents come first, then the newest; ties go by place.
        """

    def links(self, chunk_ids: Sequence[int]) -> Mapping[int, Linking]:
        """Read the links of some chunks."""

    def titles(self) -> Sequence[TitledDocument]:
        """List every document with its title."""

    def supports(self) -> Sequence[Support]:
        """List the lines that summaries rest on."""


class Change(StoreFacts, Protocol):
    """The one writer of a store."""

    @property
    def notices(self) -> Sequence[str]:
        """Return the repairs that were made to open the store."""

    def set_facts(self, facts: Mapping[str, str], *, revise: bool = True) -> None:
        """Remember facts by the names of their fields, and `workspace`: the folder of its memory.

        `workspace` shows which folder a file belongs to if the folder is gone; no snapshot returns
        it.
        """

    def put(self, document: Document, stamp: Stamp, *, skip: str = "") -> None:
        """Replace a document, atomically."""

    def together(self) -> AbstractContextManager[Callable[[], None]]:
        """Make the changes inside visible together, at the end or when the function is called.

        If the process is killed, changes that were not visible yet are lost; each single change is
        atomic.
        """

    def touch(self, key: Key, stamp: Stamp) -> None:
        """Remember that a file with a new stat has the same bytes."""

    def remove(self, key: Key) -> None:
        """Remove everything about a document."""

    def pending(
        self, fingerprint: str, limit: int, *, within: Sequence[int] | None = None
    ) -> Sequence[Pending]:
        """List texts that wait for a vector, each once, in the order in which they are needed.

        Rules that every context contains come first, then what is more important than most, then
        all else. In each of these, undated documents come first, the last changed one before all,
        and then dated ones, newest first. `within` are chunks, by the numbers of a snapshot.
        """

    def borrow(self, fingerprint: str) -> int:
        """Take the vectors that other workspaces have of waiting texts; return how many."""

    def unembedded(self, fingerprint: str) -> int:
        """Count the distinct texts that wait for a vector."""

    def put_vectors(self, fingerprint: str, made: Sequence[tuple[bytes, bytes | None]]) -> None:
        """Store vectors by the hash of their text.

        None means that this encoder cannot read the text; it no longer waits for a vector.
        """

    def search_by(self, fingerprint: str, dimension: int, *, none_waits: bool = False) -> None:
        """Search by this encoder's vectors from now on.

        With `none_waits`, remember until the next change that no text waits for a vector.
        """

    def unchecked(self) -> Sequence[str]:
        """Name the summaries to check again, by path.

        One of their source files has changed, is gone, or is back.
        """

    def check(self, summary: str, checks: Sequence[LineCheck]) -> None:
        """Remember where the source lines of a summary are now; writes nothing if that is known."""

    def tidy(self, *, pages: int | None = None, unused_days: int | None = None) -> int:
        """Remove what nothing uses, and return how many vectors that were.

        The words of deleted text go; `pages` limits the work, and the next call continues. With
        `unused_days`, vectors that no text has used for so many days go, too.
        """

    def start_over(self, fault: str) -> str:
        """Continue with a sound store, and describe it: this one, if a second check finds no fault.

        Otherwise it is set aside, an empty one takes its place, and sound vectors are copied.
        """

    def rebuild(self) -> AbstractContextManager[Rebuild]:
        """Build a store again next to this one, or continue a build that was interrupted."""

    def drop_rebuild(self, *, seconds: float = 0.0, awaited_seconds: float | None = None) -> None:
        """Remove a half-built store that has not been continued for so long; keep its vectors.

        If its run waits for a server, it is removed after `awaited_seconds`: AskedToWaitError went
        through `rebuild`.
        """


class Rebuild(Change, Protocol):
    """A store that is built next to another one."""

    def take_over(self, hidden: Iterable[Key]) -> None:
        """Copy vectors, and documents whose files could not be read, from the other store."""

    def publish(self) -> None:
        """Replace the other store by this one, atomically."""


class Store(Protocol):
    """The index of one workspace."""

    @property
    def state_path(self) -> str:
        """Return a path of this machine; the files of `lock` are next to it."""

    def describe(self) -> StoreDescription:
        """Return the place and size of the store."""

    def exists(self) -> bool:
        """Return whether anything was ever stored."""

    def has_deleted_text(self) -> bool:
        """Return whether deleted text may still lie somewhere, until the next change ends."""

    def snapshot(self) -> AbstractContextManager[Snapshot]:
        """Open one state; IndexMissingError if there is none."""

    def change(self, *, wait_seconds: float, sleep: Sleep) -> AbstractContextManager[Change]:
        """Be the one writer, waiting for another so long, else BusyError."""

    def locked(self, *, wait_seconds: float, sleep: Sleep) -> AbstractContextManager[None]:
        """Keep every other writer out without changing anything."""

    def local_fallback(self) -> Store | None:
        """Return the index that answers if the server of this one is away, or None."""

    def copy_to(self, store: Store) -> None:
        """Copy everything into an empty store on this machine."""

    def close(self) -> None:
        """Close what is open."""


class AskMany(Protocol):
    """A function that asks several, and returns the answers in order."""

    def __call__(self, ask: Callable[[Given], Made], items: Sequence[Given]) -> list[Made]:
        """Ask each of those in `items`, with as few round trips as the slowest of them needs."""


class SharedIndex(Protocol):
    """Workspaces of one server, which are read by one connection."""

    def listed(self) -> Sequence[StoredWorkspace]:
        """List the workspaces, by name."""

    def snapshots(self) -> AbstractContextManager[tuple[Mapping[str, Snapshot], AskMany]]:
        """Open a snapshot of each workspace, by its two names, and a function that asks several."""

    def close(self) -> None:
        """Let go of the connections."""
