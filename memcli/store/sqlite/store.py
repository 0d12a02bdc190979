"""An index in one file of this machine: `port.Store` by SQLite.

Connections that have answered are kept for the next question, one for each thread that asks at
the same time, as long as the file is the one they were opened on.
"""

from __future__ import annotations

import os
from _thread import allocate_lock as Lock
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from memcli.checking import TYPE_CHECKING
from memcli.store.sqlite.driver import DAMAGED_SUFFIX
from memcli.store.sqlite.reader import Reader

if TYPE_CHECKING:
    from memcli.store.port import Sleep
    from memcli.store.run_records import Described
    from memcli.store.sqlite.writer import Writer
    from memcli.store.tiers import Tier

WAL_SUFFIX = "-wal"


class SqliteStore:
    """The index at a path; nothing is opened before it is needed."""

    def __init__(
        self,
        path: str,
        now_ns: Callable[[], int],
        tiers: Sequence[Tier] = (),
        shared: str = "",
    ) -> None:
        """Take the path, the clock, which gives nanoseconds since 1970, and what to try first.

        `shared` is the file of the vectors that several indexes share; none if it is empty.
        """
        self.path, self._now_ns, self._tiers = path, now_ns, tiers
        self._shared = shared
        self._idle: list[Reader] = []
        self._guard = Lock()

    @property
    def local(self) -> str:
        """Name the file."""
        return self.path

    def describe(self) -> Described:
        from memcli.store.run_records import Described

        files = (self.path + suffix for suffix in ("", WAL_SUFFIX))
        size = sum(os.path.getsize(file) for file in files if os.path.exists(file))
        aside = self.path + DAMAGED_SUFFIX
        aside = aside if os.path.exists(aside) else ""
        shared = os.path.getsize(self._shared) if os.path.exists(self._shared) else 0
        return Described(self.path, "sqlite-vec", size, aside, shared)

    def exists(self) -> bool:
        return os.path.exists(self.path)

    def has_unfolded(self) -> bool:
        """Return whether changes lie beside the file, deleted text among them."""
        try:
            return os.path.getsize(self.path + WAL_SUFFIX) > 0
        except OSError:
            return False

    @contextmanager
    def snapshot(self) -> Iterator[Reader]:
        reader = self._take()
        try:
            with reader.snapshot():
                yield reader
        except BaseException:
            reader.close()
            raise
        with self._guard:
            self._idle.append(reader)

    @contextmanager
    def change(self, *, wait_seconds: float, sleep: Sleep) -> Iterator[Writer]:
        """Be the one writer; a damaged file is set aside, and one that is missing is made."""
        from memcli.store.sqlite.vector_cache import VectorCache
        from memcli.store.sqlite.writer import Writer

        with self.locked(wait_seconds=wait_seconds, sleep=sleep):
            tiers = [tier.components for tier in self._tiers]
            shared = VectorCache(self._shared) if self._shared else None
            writer = Writer.open(self.path, self._now_ns, tiers=tiers, shared=shared)
            try:
                yield writer
            finally:
                writer.close()

    @contextmanager
    def locked(self, *, wait_seconds: float, sleep: Sleep) -> Iterator[None]:
        from memcli.store.lock import writer_lock

        with writer_lock(self.path, wait_seconds=wait_seconds, sleep=sleep):
            yield

    def stand_in(self) -> None:
        """Return nothing: a file has no server that could be away."""

    def copy_to(self, path: str) -> None:
        """Copy the file and what SQLite has not folded into it yet; nobody may write meanwhile."""
        from shutil import copyfile

        for suffix in ("", WAL_SUFFIX):
            if os.path.exists(self.path + suffix):
                copyfile(self.path + suffix, path + suffix)

    def close(self) -> None:
        with self._guard:
            idle, self._idle = self._idle, []
        for reader in idle:
            reader.close()

    def _take(self) -> Reader:
        """Return a connection that nobody uses, a new one where there is none."""
        while True:
            with self._guard:
                reader = self._idle.pop() if self._idle else None
            if reader is None:
                return Reader(self.path, self._tiers)
            if reader.is_current():
                return reader
            reader.close()
