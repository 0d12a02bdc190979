"""Name the watcher of a workspace: a lock next to the store, and a record of its progress.

Only the lock proves that a watcher runs, because the system frees it whenever its holder dies. The
record says more about the process that has it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress

from memcli.checking import TYPE_CHECKING
from memcli.errors import BusyError
from memcli.store.lock import owner_pid, writer_lock
from memcli.store.run_records import WatchRecord
from memcli.system import FILE_FLAGS

if TYPE_CHECKING:
    from typing import Any

MOST_BYTES = 10_000
SUFFIX = ".watch"  # of the record; its lock ends in .watch.lock


class Watching:
    """The right to be the one watcher of an index, and its record."""

    def __init__(self, store: str) -> None:
        """Take the path next to which the store has its files."""
        self._store = store
        self._pid: int | None = None

    @property
    def files(self) -> tuple[str, ...]:
        """Name the lock's file."""
        return (f"{self._store}{SUFFIX}.lock",)

    def tell(self, record: WatchRecord) -> None:
        """Write the record in one step; on a full disk or in no folder the old one stays."""
        self._pid = record.pid
        path = self._store + SUFFIX
        with suppress(OSError):
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | FILE_FLAGS
            descriptor = os.open(f"{path}.new", flags, 0o600)
            try:
                os.write(descriptor, json.dumps(record._asdict()).encode())
            finally:
                os.close(descriptor)
            os.replace(f"{path}.new", path)

    def end(self) -> None:
        """Take the record away, if it is the one that was told here."""
        with suppress(OSError):
            if self._pid is not None and _read(self._store).pid == self._pid:
                os.unlink(self._store + SUFFIX)


@contextmanager
def watching(store: str, *, sleep: Callable[[float], None]) -> Iterator[Watching]:
    """Be the one watcher of an index, else BusyError."""
    with ExitStack() as stack:
        try:
            stack.enter_context(writer_lock(store + SUFFIX, wait_seconds=0, sleep=sleep))
        except BusyError as error:
            pid = owner_pid(store + SUFFIX)
            raise BusyError(
                f"another memcli{f' (pid {pid})' if pid else ''} watches this workspace",
                hint="memcli status",
            ) from error
        watch = Watching(store)
        try:
            yield watch
        finally:
            watch.end()


def living_watcher(store: str) -> WatchRecord | None:
    """Return who watches now, None when nobody does; a record left by a dead one says nothing."""
    pid = owner_pid(store + SUFFIX)
    if pid is None:
        return None
    record = _read(store)
    return record if record.pid == pid else WatchRecord(pid)


def _read(store: str) -> WatchRecord:
    """Read the record; one of nobody (pid 0) if there is none or it cannot be read."""
    with suppress(OSError, ValueError, TypeError, RecursionError):
        with open(os.open(store + SUFFIX, os.O_RDONLY | FILE_FLAGS), "rb") as file:
            fields: dict[str, Any] = json.loads(file.read(MOST_BYTES) or b"{}")
        record = WatchRecord(**fields)
        if all(isinstance(value, str | int | None) for value in record):
            return record
    return WatchRecord(0)
