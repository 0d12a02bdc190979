"""Write a small file atomically: it is either unchanged or complete.

An unfinished file has a hidden name and a lock, so that the next writer recognises and removes the
files of killed processes.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack, suppress

from memcli.system import MOVES_OPEN_FILES, try_lock
from memcli.workspace import openat

# Before the name; hidden, so that no index ever lists it.
BEGUN = ".memcli-new-"
_PRIVATE, _COMMON = 0o600, 0o666
# A `sweep` may come between the creation of a file and its lock, and remove the file.
_ATTEMPTS = 3


def write_whole(path: str, text: str, *, mode: int = _PRIVATE) -> None:
    """Replace a file by a text, readable only by its owner, and make its folder.

    OSError if that is not possible; then nothing has changed.
    """
    folder, name = os.path.split(path)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    write(folder, name, text.encode("utf-8"), mode=mode, replaces=True)


def write_new(path: str, text: str) -> None:
    """Create a file and its folder; FileExistsError if the name is taken."""
    folder, name = os.path.split(os.path.abspath(path))
    os.makedirs(folder, exist_ok=True)
    handle = openat.open_root(os.path.realpath(folder))
    try:
        write(handle, name, text.encode("utf-8"))
    finally:
        openat.close(handle)


def write(
    folder: int | str,
    name: str,
    data: bytes,
    *,
    mode: int = _COMMON,
    replaces: bool = False,
    before_rename: Callable[[str], None] = lambda unfinished: None,
) -> None:
    """Write a file in a folder; FileExistsError if the name is taken, unless it `replaces` that.

    `before_rename` gets the name of the complete but unfinished file, and may raise.
    """
    begun = f"{BEGUN}{os.getpid()}-{name}"
    for attempt in range(_ATTEMPTS):
        sweep(folder)
        descriptor, rest = openat.create_file(folder, begun, mode), data
        try:
            with ExitStack() as opened:
                opened.callback(openat.let_go, descriptor)
                try_lock(descriptor)
                while rest:
                    rest = rest[os.write(descriptor, rest) :]
                os.fsync(descriptor)
                before_rename(begun)
                if not MOVES_OPEN_FILES:
                    opened.close()
                (openat.replace if replaces else openat.rename_new)(folder, begun, name)
        except BaseException as error:
            with suppress(OSError):
                openat.remove(folder, begun)
            if isinstance(error, FileNotFoundError) and attempt + 1 < _ATTEMPTS:
                continue
            raise
        if isinstance(folder, int):  # so that the name survives a loss of power
            with suppress(OSError):
                os.fsync(folder)
        return


def sweep(folder: int | str) -> None:
    """Remove the unfinished files of killed processes; their locks are free."""
    for name in os.listdir(folder):
        if name.startswith(BEGUN):
            with suppress(OSError):
                descriptor = openat.open_file(folder, name)
                try:
                    is_left = try_lock(descriptor)
                finally:
                    os.close(descriptor)
                if is_left:
                    openat.remove(folder, name)
