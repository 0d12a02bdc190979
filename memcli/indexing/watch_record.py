"""Say who watches: a lock beside the store for one watcher, and a record of how it is doing.

The lock is the proof, because the system frees it however its holder dies; the record only
says more about the process that holds it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, NamedTuple

from memcli.errors import BusyError
from memcli.store.sqlite.lock import SAFELY, owner_pid, writer_lock

MOST_BYTES = 10_000
SUFFIX = ".watch"  # of the record; its lock ends in .watch.lock

_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0)


class Record(NamedTuple):
    """How a watcher is doing; times are ISO with zone."""

    pid: int
    since: str | None = None
    last_sync: str | None = None  # end of the last run that brought everything in step
    backlog: int = 0  # files heard of and not indexed yet
    mode: str = "events"  # events | polling
    beat: str | None = None  # when this was written
    failure: str = ""  # why the last run failed, if it did


@contextmanager
def watch_lock(store: str, *, sleep: Callable[[float], None]) -> Iterator[None]:
    """Be the one watcher of a store, else BusyError."""
    with ExitStack() as held:
        try:
            held.enter_context(writer_lock(store + SUFFIX, wait_seconds=0, sleep=sleep))
        except BusyError as error:
            pid = owner_pid(store + SUFFIX)
            raise BusyError(
                f"another memcli{f' (pid {pid})' if pid else ''} watches this workspace",
                hint="memcli status",
            ) from error
        yield


def lock_path(store: str) -> str:
    """Name the file of the watcher's lock."""
    return f"{store}{SUFFIX}.lock"


def write_record(store: str, record: Record) -> None:
    """Write the record in one step; a full disk or a missing folder only leaves the old one."""
    path = store + SUFFIX
    with suppress(OSError):
        descriptor = os.open(f"{path}.new", _FLAGS, 0o600)
        try:
            os.write(descriptor, json.dumps(record._asdict()).encode())
        finally:
            os.close(descriptor)
        os.replace(f"{path}.new", path)


def remove_record(store: str, pid: int) -> None:
    """Take the record away, if it is this process's own."""
    with suppress(OSError):
        if _read(store).pid == pid:
            os.unlink(store + SUFFIX)


def living_watcher(store: str) -> Record | None:
    """Tell who watches now, None when nobody does; a record left by a dead one says nothing."""
    pid = owner_pid(store + SUFFIX)
    if pid is None:
        return None
    record = _read(store)
    return record if record.pid == pid else Record(pid)


def _read(store: str) -> Record:
    """Read the record; one of nobody (pid 0) where there is none or it cannot be read."""
    with suppress(OSError, ValueError, TypeError):
        with open(os.open(store + SUFFIX, os.O_RDONLY | SAFELY), "rb") as file:
            found: dict[str, Any] = json.loads(file.read(MOST_BYTES) or b"{}")
        record = Record(**found)
        if all(isinstance(value, str | int | None) for value in record):
            return record
    return Record(0)
