"""Read the files of agents, and replace them as a whole, whatever they contain.

A link is followed if it leads to the user's own files: dotfiles are often kept elsewhere and
linked. The write replaces the target, so the link stays.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from contextlib import suppress

from memcli.agents import UnfitError
from memcli.errors import BusyError
from memcli.record import Record
from memcli.system import user_id
from memcli.workspace import atomic_write, openat

MOST_BYTES = 64 * 1024 * 1024  # Claude Code keeps its history in one file with its servers


class FileSnapshot(Record):
    """A file as it was read."""

    path: str  # as it is named
    real: str  # without links
    text: str | None  # None if there is no file
    mode: int
    stamp: tuple[int, ...]  # changes when somebody writes the file


def look(path: str, within: Sequence[str]) -> FileSnapshot:
    """Read a file for editing; UnfitError says why that is impossible.

    After following links, it must be `within` one of some folders.
    """
    try:
        return _read_within(path, os.path.realpath(path), within)
    except OSError as error:  # whether it exists is unknown
        raise UnfitError(f"cannot be read: {openat.reason(error)}") from None


def _read_within(path: str, real: str, within: Sequence[str]) -> FileSnapshot:
    if not real.startswith(tuple(os.path.join(os.path.realpath(each), "") for each in within)):
        raise UnfitError(f"is a link that leads to {real}, out of {' and '.join(within)}")
    try:
        status = os.lstat(real)
    except FileNotFoundError:
        if os.path.islink(path):
            raise UnfitError(f"is a link to {real}, which is not there") from None
        _own(os.path.dirname((missing_folders(real) or (real,))[0]))
        return FileSnapshot(path, real, None, 0, ())
    if not stat.S_ISREG(status.st_mode):
        raise UnfitError(f"is a {openat.kind_of(status.st_mode)}, no file")
    _own(real)
    if not status.st_mode & stat.S_IWUSR or not os.access(os.path.dirname(real), os.W_OK):
        raise UnfitError("is read-only")
    if status.st_nlink > 1:
        raise UnfitError("has other names (hard links), which would not follow")
    return FileSnapshot(path, real, peek(real) or "", stat.S_IMODE(status.st_mode), _stamp(status))


def peek(path: str) -> str | None:
    """Read a file, None if it does not exist; UnfitError if it is not text."""
    try:
        data = openat.read_small(*os.path.split(os.path.realpath(path)), MOST_BYTES)
        return None if data is None else data.decode("utf-8")
    except NotADirectoryError:
        return None
    except UnicodeDecodeError:
        raise UnfitError("is not UTF-8") from None
    except OSError as error:
        raise UnfitError(f"cannot be read: {openat.reason(error)}") from None


def _is_there(path: str) -> bool:
    """Return whether a path exists; OSError if unknown (`lexists` would return False)."""
    try:
        os.lstat(path)
    except FileNotFoundError:
        return False
    return True


def _own(path: str) -> None:
    """Refuse a file of somebody else, and a folder that cannot be written."""
    if user_id() not in (None, os.stat(path).st_uid):
        what = f"cannot be made: {path} " if os.path.isdir(path) else ""
        raise UnfitError(f"{what}belongs to another user")
    if os.path.isdir(path) and not os.access(path, os.W_OK):
        raise UnfitError(f"cannot be made: {path} is read-only")
    if not os.path.isdir(path) and not os.path.isfile(path):
        raise UnfitError(f"cannot be made: {path} is not a folder")


def _stamp(status: os.stat_result) -> tuple[int, ...]:
    return status.st_ino, status.st_size, status.st_mtime_ns


def missing_folders(path: str) -> tuple[str, ...]:
    """List the folders that have to be made for a file, the outermost first."""
    missing = []
    folder = os.path.dirname(path)
    try:
        while not _is_there(folder):
            missing.append(folder)
            folder = os.path.dirname(folder)
    except OSError as error:
        raise UnfitError(f"cannot be made: {openat.reason(error)}") from None
    return tuple(reversed(missing))


def write(snapshot: FileSnapshot, text: str) -> None:
    """Replace the text of a file; BusyError if it has changed since it was read."""
    folder, name = os.path.split(snapshot.real)
    os.makedirs(folder, exist_ok=True)

    def check(unfinished: str) -> None:
        if snapshot.text is not None:
            os.chmod(os.path.join(folder, unfinished), snapshot.mode)
        _unchanged(snapshot)

    atomic_write.write(folder, name, text.encode("utf-8"), replaces=True, before_rename=check)


def remove(file: FileSnapshot) -> None:
    """Remove a file; BusyError if somebody has changed it since."""
    _unchanged(file)
    os.remove(file.real)


def remove_unfinished(path: str) -> None:
    """Remove what a run that was killed has left next to a file."""
    with suppress(OSError):
        atomic_write.sweep(os.path.dirname(os.path.realpath(path)))


def remove_empty(folders: Sequence[str]) -> None:
    """Remove the folders that are empty, the last first."""
    for folder in reversed(folders):
        with suppress(OSError):
            os.rmdir(folder)


def _unchanged(file: FileSnapshot) -> None:
    try:
        stamp = _stamp(os.lstat(file.real))
    except FileNotFoundError:
        stamp = ()
    if stamp != file.stamp:
        raise BusyError(
            f"{file.path} was changed by another program just now", hint="the same command again"
        )
