"""A temporary folder for a copy of notes, removed however its process ends.

SIGTERM and SIGHUP end a run as Ctrl-C does, and the copy is removed first. If a run is killed, the
next run removes its folder: a folder of the user that has our mark and that no process has locked.
Processes that the run starts inherit the lock.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from memcli.cli.stopping import ended_by_signals
from memcli.errors import UsageError
from memcli.record import Record
from memcli.system import FOLDER_FLAGS, try_lock

PREFIX = "memcli-bench-"
MARK = "made-by-memcli-bench"  # an empty file; the name of the folder proves nothing


class LockedFolder(Record):
    """A temporary folder that is in use."""

    path: str
    lock: int  # a descriptor; a process that inherits it uses the folder too


@contextmanager
def temporary_folder() -> Iterator[LockedFolder]:
    """Make a folder that only we can read, and remove it at the end."""
    with ended_by_signals():
        try:
            path = tempfile.mkdtemp(prefix=PREFIX)
        except FileNotFoundError as error:  # nor does /tmp
            raise UsageError(
                f"no temporary folder can be written: {error.strerror}",
                hint="set TMPDIR to a folder that can be written",
            ) from error
        held = os.open(path, FOLDER_FLAGS)
        try:
            with suppress(OSError):  # a file system without locks: `sweep` removes nothing there
                try_lock(held)
            os.close(os.open(MARK, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600, dir_fd=held))
            yield LockedFolder(path, held)
        finally:
            _remove(path, held)
            os.close(held)


def sweep() -> int:
    """Remove the folders that runs have left behind; return how many."""
    found = 0
    with suppress(OSError):
        place = tempfile.gettempdir()
        for name in os.listdir(place):
            if name.startswith(PREFIX):
                with suppress(OSError):  # not ours to remove, or just removed by another run
                    found += _sweep(os.path.join(place, name))
    return found


def _sweep(path: str) -> bool:
    held = os.open(path, FOLDER_FLAGS)
    try:
        mark = os.stat(MARK, dir_fd=held, follow_symlinks=False)
        if {os.fstat(held).st_uid, mark.st_uid} != {os.geteuid()} or not stat.S_ISREG(mark.st_mode):
            return False
        if is_left := try_lock(held):
            _remove(path, held)
        return is_left
    finally:
        os.close(held)


def _remove(path: str, descriptor: int) -> None:
    """Remove a folder, its mark last, so that the next run continues after a kill."""
    from shutil import rmtree

    for name in sorted(os.listdir(descriptor), key=MARK.__eq__):
        if stat.S_ISDIR(os.stat(name, dir_fd=descriptor, follow_symlinks=False).st_mode):
            rmtree(name, dir_fd=descriptor)
        else:
            os.unlink(name, dir_fd=descriptor)
    os.rmdir(path)
