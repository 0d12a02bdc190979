r"""Write the names of files: relative to the current folder, and printable if not UTF-8."""

from __future__ import annotations

import os
from collections.abc import Callable

from memcli.types import MEMORY_SOURCE, shown


def is_utf8(name: str) -> bool:
    """Return whether a name can be stored and shown as text."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def printable(path: str) -> str:
    r"""Write bytes that are not UTF-8 as `\xNN`."""
    if is_utf8(path):
        return path
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def name_from(
    here: str | None, file: str, *, memory: str, exists: Callable[[str], bool] = os.path.lexists
) -> str:
    """Name a file for a program that runs in `here`; `memcli get` reads the name back from there.

    If there is no path from here to there (a deleted folder, another drive), the name is absolute.
    A bare name belongs to the memory first, so a name of another file below the root of the
    `memory` begins with `./`. Example: `../MEMORY.md`, `docs/queue.md`, `./MEMORY.md`.
    """
    if here is None:
        return file
    try:
        name = os.path.relpath(file, here)
    except ValueError:
        return file
    of_memory = os.path.join(memory, name)
    is_bare = not name.startswith(f"..{os.sep}")
    # Editors take what begins with a plus for a command.
    if name.startswith("+") or (is_bare and of_memory != file and exists(of_memory)):
        return os.path.join(".", name)
    return shown(MEMORY_SOURCE, name)
