"""Append to a file of the workspace: one locked write at its end, synced; the shell of `remember`.

No link is followed on the way. A new file appears with its first note in it or not at all. If a
full disk cuts a note short, it is removed before the lock is released.
"""

from __future__ import annotations

import errno
import json
import os
import stat
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial

from memcli.checking import TYPE_CHECKING, Any
from memcli.errors import BusyError, UsageError
from memcli.record import Record
from memcli.system import FILE_FLAGS, MOVES_OPEN_FILES, try_lock
from memcli.workspace import atomic_write, openat
from memcli.workspace.atomic_write import write_whole
from memcli.workspace.writing import explained, opened

if TYPE_CHECKING:
    from memcli.remember.block import PlacedNote


WAIT_SECONDS = 60.0
_RETRY_SECONDS = 0.01
_explained = partial(explained, what="notes", instead="--to with the file that it leads to")
MOST_BYTES = 8 << 20  # after the append; a larger file is not indexed


class AppendedNote(Record):
    """An append as it was made, or is about to be."""

    path: str
    before: int  # bytes that the file had
    data: bytes
    is_new: bool  # the file was made for it
    first_line: int
    last_line: int
    by: str = ""  # the source_kind of the author; "" for the owner
    is_removed: bool = False  # its lines are gone, and `data` is empty

    @property
    def note(self) -> bytes:
        """Return the lines of the note, without those added to separate it."""
        lines = self.data.splitlines(keepends=True)
        return b"".join(lines[self.first_line - self.last_line - 1 :])


Make = Callable[["bytes | None"], "PlacedNote"]
Announce = Callable[[AppendedNote], None]


def append(
    root: str, path: str, make: Make, *, announce: Announce, sleep: Callable[[float], None]
) -> AppendedNote:
    """Append what `make` returns for the bytes of a file, or for None if there is no file.

    `announce` is called before the write. If `make` raises, nothing is written. UsageError if the
    file cannot be written, BusyError if another process keeps it locked.
    """
    with _explained(root, path), _opened(root, path) as (folder, name):
        atomic_write.sweep(folder)
        while True:
            try:
                descriptor = openat.open_file(folder, name, openat.TO_APPEND)
            except FileNotFoundError:
                made = planned(path, None, make)
                announce(made)
                with suppress(FileExistsError):  # another process has made it meanwhile
                    atomic_write.write(folder, name, made.data)
                    return made
                continue
            try:
                _lock(descriptor, path, sleep)
                if _is_at(folder, name, descriptor):
                    made = planned(path, _whole(descriptor, path), make)
                    announce(made)
                    _write(descriptor, made.data, made.before, path)
                    return made
            finally:
                openat.let_go(descriptor)


def planned(path: str, data: bytes | None, make: Make) -> AppendedNote:
    """Describe the append that `make` returns for the bytes of a file; None if it is a new file."""
    placed = make(data)
    lines = placed.first_line, placed.last_line
    return AppendedNote(path, len(data or b""), placed.data, data is None, *lines)


def read(root: str, path: str) -> bytes | None:
    """Read a file below a root; None if it does not exist."""
    with (
        _explained(root, path),
        suppress(FileNotFoundError),
        _opened(root, path, make=False) as (folder, name),
    ):
        descriptor = openat.open_file(folder, name)
        try:
            return _whole(descriptor, path)
        finally:
            os.close(descriptor)
    return None


def take_back(root: str, made: AppendedNote, *, sleep: Callable[[float], None]) -> str:
    """Remove the lines of an append, wherever they are now, else return why they stay.

    No other line changes: if text follows the note, blank lines replace it, so that the lines
    after it keep their numbers.
    """
    with _explained(root, made.path), _opened(root, made.path, make=False) as (folder, name):
        try:
            descriptor = openat.open_file(folder, name, openat.TO_APPEND)
        except FileNotFoundError:
            if not os.listdir(folder):  # perhaps nothing is mounted there now
                raise UsageError(
                    f"{made.path} is gone, and its folder is empty",
                    hint="memcli remember --undo, later",
                ) from None
            return "the file is gone"
        with ExitStack() as stack:
            stack.callback(openat.let_go, descriptor)
            _lock(descriptor, made.path, sleep)
            data = _whole(descriptor, made.path)
            places = _places(data, made)
            if len(places) != 1:
                return f"its lines {'are there twice' if places else 'have changed since'}"
            start, end = places[0]
            is_whole_file = made.is_new and data == made.data
            if end == len(data) and not is_whole_file:
                os.ftruncate(descriptor, start)
                with suppress(OSError):  # the lines are gone; a loss of power may bring them back
                    os.fsync(descriptor)
                return ""
            mode = stat.S_IMODE(os.fstat(descriptor).st_mode)
            if not MOVES_OPEN_FILES:
                stack.close()
            if is_whole_file:
                openat.remove(folder, name)
            else:
                rest = b"\n" * data.count(b"\n", start, end) + data[end:]
                data = data[:start] + rest
                atomic_write.write(folder, name, data, mode=mode, replaces=True)
            return ""


def _places(data: bytes, made: AppendedNote) -> list[tuple[int, int]]:
    """Find an append in the bytes of its file: start and end, several times if it is ambiguous."""
    start = len(data) - len(made.data)
    is_last = start == made.before or data[: max(start, 0)].rstrip(b"\0").endswith(b"\n")
    if is_last and data.endswith(made.data):
        return [(start, len(data))]
    note = made.note
    if b"\0" in note or not note:  # UTF-16, whose lines are not lines of bytes
        return []
    places = []
    framed, line = b"\n" + data, b"\n" + note
    at = framed.find(line)
    while at >= 0:
        places.append((at, at + len(note)))
        at = framed.find(line, at + 1)
    here = [each for each in places if data.count(b"\n", 0, each[0]) == made.first_line - 1]
    return here or places


def finish(root: str, last: AppendedNote, *, sleep: Callable[[float], None]) -> None:
    """Write the rest of an append that was killed within its write, if nobody wrote since."""
    with suppress(OSError, UsageError), _opened(root, last.path, make=False) as (folder, name):
        descriptor = openat.open_file(folder, name, openat.TO_APPEND)
        try:
            _lock(descriptor, last.path, sleep)
            data = _whole(descriptor, last.path)
            begun = data[last.before :]
            if 0 < len(begun) < len(last.data) and last.data.startswith(begun):
                _write(descriptor, last.data[len(begun) :], len(data), last.path)
        finally:
            os.close(descriptor)


def _write(descriptor: int, data: bytes, before: int, path: str) -> None:
    """Write at the end in one call; remove it again if it did not fit whole or is not synced."""
    try:
        if os.write(descriptor, data) == len(data):
            os.fsync(descriptor)
            return
        error = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    except OSError as failed:
        error = failed
    try:
        if before < os.fstat(descriptor).st_size <= before + len(data):
            os.ftruncate(descriptor, before)
    except OSError:
        raise UsageError(
            f"{path} has the note, or its beginning, but may lose it: {openat.reason(error)}",
            hint="memcli remember --undo",
        ) from error
    raise error


def _whole(descriptor: int, path: str) -> bytes:
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        raise OSError(errno.EINVAL, "not a regular file")
    os.lseek(descriptor, 0, os.SEEK_SET)
    data = openat.read_bytes(descriptor, MOST_BYTES)
    if len(data) > MOST_BYTES:
        raise UsageError(
            f"{path} is larger than {MOST_BYTES} bytes, so no search would find the note",
            hint="memcli remember TEXT --to memory/more.md",
        )
    return data


def _lock(descriptor: int, path: str, sleep: Callable[[float], None]) -> None:
    waited = 0.0
    while not try_lock(descriptor):
        if waited >= WAIT_SECONDS:
            raise BusyError(f"another process is writing {path}", hint="the same command again")
        sleep(_RETRY_SECONDS)
        waited += _RETRY_SECONDS


def _is_at(folder: int | str, name: str, descriptor: int) -> bool:
    """Return whether the locked file is still at its path: editors replace files."""
    try:
        return os.path.samestat(openat.lstat(folder, name), os.fstat(descriptor))
    except FileNotFoundError:
        return False


@contextmanager
def _opened(root: str, path: str, *, make: bool = True) -> Iterator[tuple[int | str, str]]:
    """Open the folder of a file below a root, and make the folders that are missing."""
    above, _, name = path.rpartition("/")
    with opened(root, above, makes=path.count("/") if make else 0) as folder:
        yield folder, name


NAME = "remembered.json"
MOST_KEPT = 500  # the newest appends, which can be removed again
_MOST_BYTES = 16 << 20


def keep(folder: str, made: AppendedNote) -> None:
    """Add an append to those that can be removed; OSError if it cannot be saved."""
    _save(folder, [*appends(folder), made][-MOST_KEPT:])


def forget(folder: str, made: AppendedNote, *, is_removed: bool) -> None:
    """Note that an append was removed, or drop it from those that can be."""
    gone = [made._replace(data=b"", is_removed=True)] if is_removed else []
    with suppress(OSError):  # its lines are never found again
        records = ([each] if each != made else gone for each in appends(folder))
        _save(folder, [each for some in records for each in some])


def _save(folder: str, appended: Sequence[AppendedNote]) -> None:
    records = [{**each._asdict(), "data": b64encode(each.data).decode()} for each in appended]
    write_whole(os.path.join(folder, NAME), json.dumps(records))


def appends(folder: str) -> list[AppendedNote]:
    """Read the appends, removed or not, oldest first; OSError if they cannot be read."""
    try:
        descriptor = os.open(os.path.join(folder, NAME), os.O_RDONLY | FILE_FLAGS)
    except (FileNotFoundError, NotADirectoryError):
        return []
    with open(descriptor, encoding="utf-8") as file, suppress(ValueError, RecursionError):
        records = json.loads(file.read(_MOST_BYTES))
        return [*filter(None, map(_read, records if isinstance(records, list) else []))]
    return []


def _read(record: Any) -> AppendedNote | None:  # noqa: ANN401  # JSON
    """Read one append; None for what memcli did not write."""
    with suppress(ValueError, TypeError, KeyError):
        made = AppendedNote(**{**record, "data": b64decode(record["data"])})
        numbers = (made.before, made.first_line, made.last_line)
        if isinstance(made.path, str) and all(type(number) is int for number in numbers):
            return made
    return None
