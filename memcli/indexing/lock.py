"""One writer at a time: an advisory lock on a file beside the store.

The system frees the lock when its holder dies, however it dies; the pid inside is only for
messages. A child made by fork would keep it, so nothing here forks.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from memcli.errors import BusyError, StoreError

RETRY_SECONDS = 0.05


@contextmanager
def writer_lock(
    store: str, *, wait_seconds: float, sleep: Callable[[float], None]
) -> Iterator[None]:
    """Hold the writer lock of a store, waiting for it up to `wait_seconds`; else BusyError."""
    path = store + ".lock"
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
        descriptor = os.open(path, flags, 0o600)
    except OSError as error:
        raise StoreError(
            f"the index folder {os.path.dirname(path)} cannot be written: {error.strerror}",
            hint="set MEMCLI_STORE to a file in a folder that can be written",
        ) from error
    try:
        waited = 0.0
        while not _try_lock(descriptor):
            if waited >= wait_seconds:
                owner = os.read(descriptor, 32).decode("ascii", "replace").strip()
                raise BusyError(
                    f"another memcli{f' (pid {owner})' if owner else ''} is writing the index",
                    hint="run the command again when it is done",
                )
            sleep(RETRY_SECONDS)
            waited += RETRY_SECONDS
        os.ftruncate(descriptor, 0)
        os.write(descriptor, str(os.getpid()).encode())
        yield
    finally:
        os.close(descriptor)


def owner_pid(store: str) -> int | None:
    """Tell which process holds the lock now, None when nobody does."""
    try:
        descriptor = os.open(store + ".lock", os.O_RDWR)
    except OSError:
        return None
    try:
        if _try_lock(descriptor):
            return None
        text = os.read(descriptor, 32).decode("ascii", "replace").strip()
        return int(text) if text.isdigit() else 0
    finally:
        os.close(descriptor)


def _try_lock(descriptor: int) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt

            os.lseek(descriptor, 1 << 20, os.SEEK_SET)  # past the pid, so that it can be read
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
            os.lseek(descriptor, 0, os.SEEK_SET)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
