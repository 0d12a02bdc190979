"""What passes through the door of a store: its answers, and what it is asked with."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import NamedTuple

from memcli.types import Excerpt, FileStat, Filters, SourceLines, Wanted

Key = tuple[str, str]  # (source, path) of a document


class Facts(NamedTuple):
    """What a store remembers of itself; None where it was never told."""

    revision: int = 0  # grows with every change that an answer can depend on
    fingerprint: str | None = None  # of the vectors that are searched
    dimension: int | None = None
    model: str | None = None  # the files of the model that made them, as they were verified
    chunking: str | None = None  # how documents were cut
    sources: str | None = None  # what was said of the sources
    mounts: str | None = None  # folders that were mount points, as JSON


class Stamp(NamedTuple):
    """What identifies the file state a document was read from."""

    stat: FileStat
    hash: bytes
    indexed_ns: int


class Counts(NamedTuple):
    """How much a store holds."""

    documents: int
    chunks: int
    parts: int
    embedded: int  # parts with a vector of the store's own fingerprint


class SourceCounts(NamedTuple):
    """How much a store holds of one source."""

    documents: int
    chunks: int
    first_date: str | None
    last_date: str | None


class VectorSearch(NamedTuple):
    """How vectors are searched."""

    by: str  # the name of what does it
    is_exact: bool  # every vector is compared; else coarse codes come first
    problem: str  # why it is not the usual way


class Reach(NamedTuple):
    """What may be found: what the filters let through, less what stands aside."""

    filters: Filters = Filters()
    without: tuple[str, ...] = ()  # documents of the memory, by path
    beyond: tuple[SourceLines, ...] = ()  # chunks of the memory that lie inside these lines


class Ranked(NamedTuple):
    """A chunk that was found by words."""

    chunk_id: int
    bm25: float  # larger is better


class Near(NamedTuple):
    """A text that lies near a query, and the chunks within reach that hold it."""

    hash: bytes
    cosine: float
    chunk_ids: tuple[int, ...]  # ascending


class Legs(NamedTuple):
    """What the legs of a search were asked and have found."""

    wanted: Wanted
    lexical: Sequence[Ranked]
    vector: bytes | None
    near: Sequence[Near]


class Held(NamedTuple):
    """The chunks that hold a term: how many there are, and which of some."""

    total: int
    chunk_ids: frozenset[int]


class Pending(NamedTuple):
    """A text that has no vector yet, in the pieces it is embedded from (see `markdown.parts`)."""

    hash: bytes
    prefix: str
    text: str
    title: str
    heading_path: tuple[str, ...]
    date: str | None


class Support(NamedTuple):
    """Lines of the memory that a summary rests on."""

    summary: str  # its path
    lines: SourceLines
    holds: bool  # they stand in their file as it is stored now


class Marked(NamedTuple):
    """A document that its author wants in every context."""

    authority: float | None
    excerpts: tuple[Excerpt, ...]  # its chunks, in order


class Rated(NamedTuple):
    """A document with what its worth is judged by, and how many chunks of it are within reach."""

    source: str
    path: str
    date: str | None
    scope: str
    trust: str
    authority: float | None
    importance: float | None
    chunks: int


class Linking(NamedTuple):
    """What a chunk links to, and the front matter of its document."""

    targets: tuple[str, ...]  # as they are written
    front_matter: str  # JSON


class Titled(NamedTuple):
    """A document and its title."""

    source: str
    path: str
    title: str


class Owner(NamedTuple):
    """The process that writes a store now."""

    pid: int  # 0 where it cannot be told
    since: float  # seconds since 1970

    def __str__(self) -> str:
        """Name it for a message: `pid 4711, since 2026-02-10 09:00:00`."""
        since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(self.since))
        return f"pid {self.pid}, since {since}" if self.pid else f"since {since}"


class WatchRecord(NamedTuple):
    """How a watcher is doing; times are ISO with zone."""

    pid: int
    since: str | None = None
    last_sync: str | None = None  # end of the last run that brought everything in step
    backlog: int = 0  # files heard of and not indexed yet
    mode: str = "events"  # events | polling
    beat: str | None = None  # when this was written
    failure: str = ""  # why the last run failed, if it did


class Described(NamedTuple):
    """Where a store is, and what is to be said of it."""

    address: str  # as messages name it
    bytes: int
    set_aside: str  # a damaged store that was kept; empty where there is none
