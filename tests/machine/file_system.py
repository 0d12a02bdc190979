# The functions of os are what this is about.
# ruff: noqa: PTH100, PTH108, PTH112, PTH114, PTH208, PTH104
"""A file system that fails a call: the functions of `os`, replaced for what lies below a folder.

`open` is that of `_pyio`, which does its work by those functions, so nothing passes them by. What
is imported late is read by the interpreter itself and counts nowhere.
"""

from __future__ import annotations

import builtins
import errno
import fcntl
import io
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any, NamedTuple

_pyio = import_module("_pyio")  # of which no stub exists
READING = ("stat", "lstat", "fstat", "readlink", "scandir", "listdir", "read", "lseek", "access")
CHANGING = (
    "write", "ftruncate", "fsync", "rename", "replace", "link", "symlink", "unlink", "remove",
    "mkdir", "rmdir", "chmod", "utime",
)  # fmt: skip
CALLS = ("open", "close", "dup", "flock", *READING, *CHANGING)
_ON_DESCRIPTORS = {"fstat", "read", "lseek", "write", "ftruncate", "fsync", "close", "flock", "dup"}
_GROWING = ("write", "rename", "replace", "link", "symlink", "mkdir", "ftruncate", "fsync")
# Python itself tries these again, so no program sees it.
_TRIED_AGAIN = ("open", "read", "write", "fsync", "ftruncate", "close", "flock", "dup", "lseek")
SHORT, KILL, INTERRUPT = "short", "kill", "SIGINT"
EMPTIED, LINKED, GONE = "emptied", "linked", "gone"
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
MOST_CALLS = 20_000
FOREVER = "+"  # behind a fault: it does not pass


class Killed(BaseException):
    """The process is dead: it changes nothing any more."""


class EndlessError(BaseException):
    """So many calls are no waiting."""


class Call(NamedTuple):
    """A call that was made."""

    name: str
    path: str
    changes: bool  # a file is opened for writing, or made


class FileSystem:
    """Counts calls below a root, and spoils the one whose turn it is."""

    def __init__(self, root: str, swapped: str) -> None:
        """Take the folder that counts, and the one that is replaced under the reader's hands."""
        self.root, self._swapped = root, swapped
        self.outside = root + ".outside"  # where a link leads that is put in its place
        self.calls: list[Call] = []
        self.failing, self.fault = -1, ""  # the number of the call, and how
        self._paths: dict[int, str] = {}  # of open files
        self._written, self._locked = set[int](), set[int]()
        self._is_dead = False
        self._real = {name: getattr(os, name) for name in CALLS if name != "flock"}
        self._real["flock"], self._dup2 = fcntl.flock, os.dup2

    @contextmanager
    def spoiled(self, failing: int = -1, fault: str = "") -> Iterator[list[Call]]:
        """Take the place of the system's while the block runs; gives the calls as they come."""
        self.calls, self.failing, self.fault = [], failing, fault
        self._paths, self._is_dead = {}, False
        self._written.clear()
        self._locked.clear()
        opens = builtins.open
        setattr(os, "dup2", lambda one, other, inheritable=True: other)  # noqa: B010
        try:
            for name, real in self._real.items():
                owner = fcntl if name == "flock" else os
                setattr(owner, name, self._made(name, real))
            builtins.open = io.open = _pyio.open
            yield self.calls
        finally:
            builtins.open = io.open = opens
            os.dup2 = self._dup2  # a command that could not write silences its own stdout
            for name, real in self._real.items():
                setattr(fcntl if name == "flock" else os, name, real)

    def _made(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            path = self._path(name, given, named)
            counts = path is not None and f"{path}/".startswith(f"{self.root}/")
            if not counts:
                return real(*given, **named)
            assert path is not None
            if name == "close":
                self._paths.pop(given[0], None)
                self._locked.discard(given[0])
            if self._is_dead and name != "close":
                raise Killed
            made = Call(name, path, self._changes(name, given))
            self.calls.append(made)
            if len(self.calls) > MOST_CALLS:
                raise EndlessError
            number = len(self.calls) - 1
            if number == self.failing or (number > self.failing >= 0 and FOREVER in self.fault):
                return self._spoil(made, real, given, named)
            return self._noted(made, real(*given, **named), given)

        return call

    def _noted(self, made: Call, result: Any, given: tuple[Any, ...]) -> Any:
        if made.name in ("open", "dup"):
            self._paths[result] = made.path
            (self._written.add if made.changes else self._written.discard)(result)
        elif made.name == "flock":
            self._locked.add(given[0])
        return result

    def _changes(self, name: str, given: tuple[Any, ...]) -> bool:
        if name == "open":
            return bool(given[1] & _WRITING)
        if name == "close":
            return given[0] in self._written
        return name in CHANGING

    def _path(self, name: str, given: tuple[Any, ...], named: dict[str, Any]) -> str | None:
        """Name what a call is about; None where that is nothing of ours."""
        first = given[0] if given else named.get("path")
        if isinstance(first, int):
            return self._paths.get(first)
        if name in _ON_DESCRIPTORS or first is None:
            return None
        path = os.fsdecode(first)
        folder = named.get("dir_fd", named.get("src_dir_fd"))
        if folder is not None and not path.startswith("/"):
            if folder not in self._paths:
                return None
            path = f"{self._paths[folder]}/{path}"
        return os.path.normpath(os.path.abspath(path))

    def _spoil(
        self, made: Call, real: Callable[..., Any], given: tuple[Any, ...], named: dict[str, Any]
    ) -> Any:
        fault = self.fault.rstrip(FOREVER)
        if fault == KILL:
            self._is_dead = True
            if made.name == "write":
                real(given[0], bytes(given[1])[: len(given[1]) // 2])
            raise Killed
        if fault == INTERRUPT:
            raise KeyboardInterrupt
        if fault in (EMPTIED, LINKED, GONE):
            self._swap(fault)
            return self._noted(made, real(*given, **named), given)
        if fault == SHORT:
            return real(given[0], bytes(given[1])[: len(given[1]) // 2])
        if not applies(self.fault, made):  # of those behind one that does not pass
            return self._noted(made, real(*given, **named), given)
        if made.name == "access":
            return False
        if made.name == "close":
            real(*given, **named)
        raise OSError(getattr(errno, fault), os.strerror(getattr(errno, fault)), *_name(given))

    def _swap(self, fault: str) -> None:
        """Put another folder, a link or nothing in the place of one."""
        rename, make, link = self._real["rename"], self._real["mkdir"], self._real["symlink"]
        with suppress(OSError):
            rename(self._swapped, f"{self._swapped}.away")
            if fault == EMPTIED:
                make(self._swapped)
            elif fault == LINKED:
                link(self.outside, self._swapped)

    def left_locked(self) -> list[str]:
        """Name the files that were locked and are so still; a program that stays keeps them."""
        found = []
        for descriptor in self._locked:
            with suppress(OSError):
                os.fstat(descriptor)
                found.append(self._paths[descriptor])
                os.close(descriptor)
        return found

    def put_back(self) -> None:
        """Have the folder that was replaced stand where it stood; what stands there now goes."""
        away = f"{self._swapped}.away"
        if not os.path.lexists(away):
            return
        if os.path.islink(self._swapped):
            os.unlink(self._swapped)
        elif os.path.isdir(self._swapped):
            for name in os.listdir(self._swapped):
                os.rename(f"{self._swapped}/{name}", f"{away}/put-back-{name}")
            os.rmdir(self._swapped)  # noqa: PTH106
        os.rename(away, self._swapped)


def _name(given: tuple[Any, ...]) -> tuple[str, ...]:
    return (given[0],) if given and isinstance(given[0], str) else ()


def applies(fault: str, call: Call) -> bool:
    """Tell whether a system would answer a call with a fault."""
    fault, name = fault.rstrip(FOREVER), call.name
    if fault in (KILL, INTERRUPT, EMPTIED, LINKED, GONE):
        return name != "close"
    if fault == SHORT:
        return name == "write"
    if fault in ("ENOSPC", "EDQUOT"):
        return name in _GROWING or (name == "open" and call.changes)
    if fault == "EROFS":
        return call.changes and name not in ("write", "ftruncate", "fsync")
    if fault == "EMFILE":
        return name in ("open", "dup", "scandir", "listdir")
    if fault == "EINTR":
        return name not in _TRIED_AGAIN
    if fault == "ENOLCK":
        return name == "flock"
    if fault == "EACCES":  # of a lock it says that another has it
        return name not in _ON_DESCRIPTORS
    if name == "close":  # what was written is lost then; else nothing is
        return call.changes
    return name not in ("dup", "lseek", "flock", "access")  # EIO, ESTALE


ONCE = (
    "EIO", "EINTR", "EMFILE", "ENOSPC", "EDQUOT", "EROFS", "ESTALE", "EACCES", "ENOLCK", SHORT,
    KILL, INTERRUPT, EMPTIED, LINKED, GONE,
)  # fmt: skip
STAYING = ("EIO+", "ENOSPC+", "EROFS+", "EMFILE+", "EACCES+")
FAULTS = (*ONCE, *STAYING)
