"""The reports of a run to a store, and the status of a store and of its writers."""

from __future__ import annotations

import time

from memcli.checking import TYPE_CHECKING
from memcli.record import Record

if TYPE_CHECKING:
    from memcli.types import FileStat

# A run that waits for a server continues its half-built index within this time: it may be asked to
# wait 60 s, and other writers may come first.
AWAITED_SECONDS = 600.0
AWAITED = "awaited"  # meta key of a half-built index whose run waits for a server


class Stamp(Record):
    """The state of the file that a document was read from."""

    stat: FileStat
    hash: bytes
    indexed_ns: int


class VectorSearch(Record):
    """How vectors are searched."""

    by: str  # the name of the program or library
    is_exact: bool  # every vector is compared; otherwise coarse codes choose candidates
    problem: str  # why it is not the usual way


class Pending(Record):
    """A text that has no vector yet, in the pieces that are embedded (see `markdown.segments`)."""

    hash: bytes
    prefix: str
    text: str
    title: str
    heading_path: tuple[str, ...]
    days: str | None  # as `types.named_days` names them
    description: str = ""  # of the document, by its front matter


class Work(Record):
    """How far the process is that writes a store."""

    stage: str  # reading | embedding
    done: int
    total: int
    seconds_left: float | None  # None if unknown


class Owner(Record):
    """The process that writes a store now."""

    pid: int  # 0 if unknown
    since: float  # seconds since 1970
    work: Work | None = None  # as the process has written it last

    def __str__(self) -> str:
        """Name it for a message: `pid 4711, since 2026-02-10 09:00:00`."""
        since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(self.since))
        return f"pid {self.pid}, since {since}" if self.pid else f"since {since}"


class WatchRecord(Record):
    """How a watcher is doing; times are ISO with zone."""

    pid: int
    since: str | None = None
    last_sync: str | None = None  # end of the last complete run
    backlog: int = 0  # files heard of and not indexed yet
    mode: str = "events"  # events | polling
    beat: str | None = None  # when this was written
    failure: str = ""  # why the last run failed, if it did


class StoreDescription(Record):
    """The place and state of a store."""

    address: str  # as messages name it
    vectors_by: str  # what searches its vectors, if that works
    bytes: int
    set_aside: str  # a damaged store that was set aside; empty if there is none
    shared_bytes: int = 0  # of the vectors that the indexes of one user share


class StoredWorkspace(Record):
    """What a server reports about a stored workspace."""

    name: str
    whole: str  # its name with its tenant, unique on this machine
    origin: str
    revision: int
    changed_at: str
    sources: tuple[str, ...]


class Orphan(Record):
    """An index in the cache folder whose workspace is gone."""

    path: str  # its folder in the cache folder
    workspace: str  # the folder that was indexed; empty if an earlier memcli made the index
    bytes: int  # of all its files
