"""One writer at a time: an advisory lock on a file next to the index.

The system frees the lock when its holder dies, however it dies. The pid and the work inside, and
the file's time, when the lock was taken, are only for messages, and are read only while somebody
has the lock. A child made by fork would keep it, so nothing here forks.

A watcher has a lock of its own, and next to it a record of its progress. Only the lock proves that
a watcher runs; the record says more about the process that has it.
"""

from __future__ import annotations

import errno
import json
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress

from memcli.checking import Any
from memcli.errors import BusyError, StoreError
from memcli.record import Record
from memcli.store.run_records import Owner, WatchRecord, Work
from memcli.system import FILE_FLAGS, is_at, try_lock
from memcli.workspace.openat import let_go

RETRY_SECONDS = 0.05
MOST_BYTES = 512  # of what the file contains
_locked: dict[str, int] = {}  # by store: the descriptors of the locks of this process


@contextmanager
def writer_lock(
    store: str, *, wait_seconds: float, sleep: Callable[[float], None]
) -> Iterator[None]:
    """Take the writer lock of a store, waiting for it up to `wait_seconds`; else BusyError."""
    descriptor = _locked[store] = _acquire(store + ".lock", wait_seconds, sleep)
    try:
        with suppress(OSError):  # a full disk: the lock works without its message
            os.ftruncate(descriptor, 0)
            os.write(descriptor, str(os.getpid()).encode())
        yield
    finally:
        del _locked[store]
        let_go(descriptor)


def show_work(store: str, work: Work) -> None:
    """Show other processes how far this one is, while it writes a store."""
    if store in _locked:
        descriptor = _locked[store]
        with suppress(OSError):
            since = os.fstat(descriptor).st_mtime_ns
            os.lseek(descriptor, 0, os.SEEK_SET)
            os.write(descriptor, f"{os.getpid()} {' '.join(map(str, work))}\n".encode())
            os.utime(store + ".lock", ns=(since, since))


def _acquire(path: str, wait_seconds: float, sleep: Callable[[float], None]) -> int:
    waited = 0.0
    while True:
        descriptor = _open(path)
        try:
            if _try_lock(descriptor):
                if is_at(path, os.fstat(descriptor)):
                    return descriptor
            elif waited >= wait_seconds:
                raise BusyError(
                    f"another memcli ({_owner(descriptor)}) is writing the index",
                    hint="memcli index --wait 600",
                )
            else:
                sleep(RETRY_SECONDS)
                waited += RETRY_SECONDS
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)  # taken by another, or deleted since it was opened: open it again


def _open(path: str) -> int:
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | FILE_FLAGS, 0o600)
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            return descriptor
        os.close(descriptor)
        raise OSError(errno.EINVAL, f"{path} is no plain file")
    except OSError as error:
        raise StoreError(
            f"the index folder {os.path.dirname(path)} cannot be written: {error.strerror}",
            hint="set MEMCLI_STORE to a file in a folder that can be written",
        ) from error


def owner(store: str) -> Owner | None:
    """Return the process that has the lock now, None if none has."""
    try:
        descriptor = os.open(store + ".lock", os.O_RDWR | FILE_FLAGS)
    except OSError:
        return None
    try:
        return None if _try_lock(descriptor) else _owner(descriptor)
    finally:
        os.close(descriptor)


def _owner(descriptor: int) -> Owner:
    """Read who has the lock from its first line; the end of a longer one may follow."""
    since = os.fstat(descriptor).st_mtime
    try:
        text = os.read(descriptor, MOST_BYTES).decode("ascii", "replace")
    except OSError:
        text = ""
    pid, *work = text.partition("\n")[0].split(" ")
    return Owner(int(pid) if pid.isdecimal() else 0, since, _work(work))


def _work(words: list[str]) -> Work | None:
    with suppress(ValueError):
        stage, done, total, left = words
        return Work(stage, int(done), int(total), None if left == "None" else float(left))
    return None


def _try_lock(descriptor: int) -> bool:
    try:
        return try_lock(descriptor)
    except OSError as error:
        raise StoreError(
            f"the folder of the index allows no locks: {error.strerror}",
            hint="set MEMCLI_STORE to a file on a local disk",
        ) from error


MOST_RECORD_BYTES = 10_000
SUFFIX = ".watch"  # of the record; its lock ends in .watch.lock


class Watching(Record):
    """The right to be the one watcher of an index, and its record."""

    store: str

    @property
    def files(self) -> tuple[str, ...]:
        """Name the lock's file."""
        return (f"{self.store}{SUFFIX}.lock",)

    def tell(self, record: WatchRecord) -> None:
        """Write the record in one step; on a full disk or in no folder the old one stays."""
        path = self.store + SUFFIX
        with suppress(OSError):
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | FILE_FLAGS
            descriptor = os.open(f"{path}.new", flags, 0o600)
            try:
                os.write(descriptor, json.dumps(record._asdict()).encode())
            finally:
                os.close(descriptor)
            os.replace(f"{path}.new", path)


@contextmanager
def watching(store: str, *, sleep: Callable[[float], None]) -> Iterator[Watching]:
    """Be the one watcher of an index, else BusyError."""
    with ExitStack() as stack:
        try:
            stack.enter_context(writer_lock(store + SUFFIX, wait_seconds=0, sleep=sleep))
        except BusyError as error:
            process = owner(store + SUFFIX)
            named = f" (pid {process.pid})" if process and process.pid else ""
            raise BusyError(
                f"another memcli{named} watches this workspace",
                hint="memcli status",
            ) from error
        try:
            yield Watching(store)
        finally:
            with suppress(OSError):
                if _read_record(store).pid == os.getpid():
                    os.unlink(store + SUFFIX)


def living_watcher(store: str) -> WatchRecord | None:
    """Return who watches now, None when nobody does; a record left by a dead one says nothing."""
    process = owner(store + SUFFIX)
    if process is None:
        return None
    record = _read_record(store)
    return record if record.pid == process.pid else WatchRecord(process.pid)


def _read_record(store: str) -> WatchRecord:
    """Read the record; one of nobody (pid 0) if there is none or it cannot be read."""
    with suppress(OSError, ValueError, TypeError, RecursionError):
        with open(os.open(store + SUFFIX, os.O_RDONLY | FILE_FLAGS), "rb") as file:
            fields: dict[str, Any] = json.loads(file.read(MOST_RECORD_BYTES) or b"{}")
        record = WatchRecord(**fields)
        if all(isinstance(value, str | int | None) for value in record):
            return record
    return WatchRecord(0)
