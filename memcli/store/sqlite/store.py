"""An index in one file on this machine: `port.Store` by SQLite.

Connections are kept for the next question, one for each thread that asks at the same time, until
the file is replaced.
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
    from memcli.store.port import Sleep, Store
    from memcli.store.run_records import StoreDescription
    from memcli.store.sqlite.writer import Writer
    from memcli.store.tiers import Tier

WAL_SUFFIX = "-wal"


class SqliteStore:
    """The index at a path; it is opened at first use."""

    def __init__(
        self, path: str, now_ns: Callable[[], int], tiers: Sequence[Tier] = (), shared: str = ""
    ) -> None:
        """Record the path, the clock, which returns nanoseconds since 1970, and the tiers.

        `shared` is the file of the vectors that several indexes share, or "".
        """
        self.path = self.state_path = path
        self._now_ns, self._tiers, self._shared = now_ns, tiers, shared
        self._idle: list[Reader] = []
        self._guard = Lock()

    def describe(self) -> StoreDescription:
        from memcli.store.run_records import StoreDescription

        files = (self.path + suffix for suffix in ("", WAL_SUFFIX))
        size = sum(os.path.getsize(file) for file in files if os.path.exists(file))
        aside = self.path + DAMAGED_SUFFIX
        aside = aside if os.path.exists(aside) else ""
        shared = os.path.getsize(self._shared) if os.path.exists(self._shared) else 0
        return StoreDescription(self.path, "sqlite-vec", size, aside, shared)

    def exists(self) -> bool:
        return os.path.exists(self.path)

    def has_deleted_text(self) -> bool:
        """Return whether unfolded changes, which may include deleted text, are next to the file."""
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
        """Be the only writer; a damaged file is set aside, and a missing one is made."""
        from memcli.store.sqlite.vector_cache import VectorCache
        from memcli.store.sqlite.writer import Writer

        with self.locked(wait_seconds=wait_seconds, sleep=sleep):
            tiers = [tier.components for tier in self._tiers]
            shared = VectorCache(self._shared) if self._shared else None
            writer = Writer(self.path, self._now_ns, tiers=tiers, shared=shared)
            try:
                yield writer
            finally:
                writer.close()

    @contextmanager
    def locked(self, *, wait_seconds: float, sleep: Sleep) -> Iterator[None]:
        from memcli.store.lock import writer_lock

        with writer_lock(self.path, wait_seconds=wait_seconds, sleep=sleep):
            yield

    def local_fallback(self) -> None:
        """Return None: a file has no server that could be unavailable."""

    def copy_to(self, store: Store) -> None:
        """Copy the file with the changes that SQLite has not folded; no writer may be active."""
        from shutil import copyfile

        for suffix in ("", WAL_SUFFIX):
            if os.path.exists(self.path + suffix):
                copyfile(self.path + suffix, store.state_path + suffix)

    def close(self) -> None:
        with self._guard:
            idle, self._idle = self._idle, []
        for reader in idle:
            reader.close()

    def _take(self) -> Reader:
        while True:
            with self._guard:
                reader = self._idle.pop() if self._idle else None
            if reader is None:
                return Reader(self.path, self._tiers)
            if reader.is_current():
                return reader
            reader.close()
