"""A disk that fails SQLite once at a place of your choice, lets others work there, as they do where
it is slow, or writes down all that is done to it. Where SQLite sleeps, time is counted, not spent.

The system's own VFS is wrapped where SQLite calls it, in C: a VFS in Python has no say over the
shared memory of a write-ahead log, and its exceptions come out where SQLite itself passes over an
error. Here SQLite gets the very codes that the system's VFS gives it.
"""

from __future__ import annotations

import ctypes
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ctypes import CFUNCTYPE, POINTER, Structure, c_int, c_int64, c_void_p
from pathlib import Path
from typing import Any, NamedTuple

import apsw

SHM_LOCK = 2  # of the flags of xShmLock: it locks, and does not unlock
SHORT = -1  # half of the write is done, then the disk is full


class Fault(NamedTuple):
    """What goes wrong, and whether it goes on until the disk is whole again."""

    code: int
    lasts: bool = False


# What each operation may answer; the codes are those of SQLite's VFS for Unix.
FAULTS: dict[str, dict[str, Fault]] = {
    "open": {"error": Fault(apsw.SQLITE_CANTOPEN)},
    "read": {
        "error": Fault(apsw.SQLITE_IOERR_CORRUPTFS),  # EIO
        "unread": Fault(apsw.SQLITE_IOERR_READ),
    },
    "write": {
        "error": Fault(apsw.SQLITE_IOERR_WRITE),
        "full": Fault(apsw.SQLITE_FULL, lasts=True),
        "short": Fault(SHORT),
    },
    "sync": {"error": Fault(apsw.SQLITE_IOERR_FSYNC)},
    "truncate": {"error": Fault(apsw.SQLITE_IOERR_TRUNCATE)},
    "lock": {"error": Fault(apsw.SQLITE_IOERR_LOCK), "busy": Fault(apsw.SQLITE_BUSY)},
    "size": {"error": Fault(apsw.SQLITE_IOERR_FSTAT)},
    "map": {
        "error": Fault(apsw.SQLITE_IOERR_SHMMAP),
        "full": Fault(apsw.SQLITE_IOERR_SHMSIZE, lasts=True),
    },
    "map lock": {"busy": Fault(apsw.SQLITE_BUSY)},
    "delete": {"error": Fault(apsw.SQLITE_IOERR_DELETE)},
}
ANY = (
    "any"  # the n-th operation, whichever it is, and from then on every one fails: the disk is gone
)
POSITIONS = {**FAULTS, ANY: {"gone": Fault(apsw.SQLITE_IOERR, lasts=True)}}


class Position(NamedTuple):
    """The n-th of an operation, and what goes wrong there."""

    operation: str
    kind: str
    number: int


class Event(NamedTuple):
    """What was done to a file: its bytes at an offset, or its length, as far as that applies."""

    operation: str
    path: str
    offset: int = 0
    data: bytes = b""
    syncs: bool = False  # of what is deleted: the folder too


class _Methods(Structure):
    _fields_ = (
        ("iVersion", c_int),
        *(
            (name, c_void_p)
            for name in (
                "xClose", "xRead", "xWrite", "xTruncate", "xSync", "xFileSize", "xLock", "xUnlock",
                "xCheckReservedLock", "xFileControl", "xSectorSize", "xDeviceCharacteristics",
                "xShmMap", "xShmLock", "xShmBarrier", "xShmUnmap", "xFetch", "xUnfetch",
            )
        ),
    )  # fmt: skip


class _File(Structure):
    _fields_ = (("pMethods", c_void_p),)


class _Vfs(Structure):
    _fields_ = (
        ("iVersion", c_int), ("szOsFile", c_int), ("mxPathname", c_int),
        *(
            (name, c_void_p)
            for name in (
                "pNext", "zName", "pAppData", "xOpen", "xDelete", "xAccess", "xFullPathname",
                "xDlOpen", "xDlError", "xDlSym", "xDlClose", "xRandomness", "xSleep",
            )
        ),
    )  # fmt: skip


_TYPES = {
    "xOpen": CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p, c_int, c_void_p),
    "xDelete": CFUNCTYPE(c_int, c_void_p, c_void_p, c_int),
    "xSleep": CFUNCTYPE(c_int, c_void_p, c_int),
    "xClose": CFUNCTYPE(c_int, c_void_p),
    "xRead": CFUNCTYPE(c_int, c_void_p, c_void_p, c_int, c_int64),
    "xWrite": CFUNCTYPE(c_int, c_void_p, c_void_p, c_int, c_int64),
    "xTruncate": CFUNCTYPE(c_int, c_void_p, c_int64),
    "xSync": CFUNCTYPE(c_int, c_void_p, c_int),
    "xFileSize": CFUNCTYPE(c_int, c_void_p, POINTER(c_int64)),
    "xLock": CFUNCTYPE(c_int, c_void_p, c_int),
    "xShmMap": CFUNCTYPE(c_int, c_void_p, c_int, c_int, c_int, c_void_p),
    "xShmLock": CFUNCTYPE(c_int, c_void_p, c_int, c_int, c_int),
}
_OF_VFS = ("xOpen", "xDelete", "xSleep")
_kept: list[object] = []  # what C code may still call: a file may outlive its disk


class Disk:
    """The files below a folder, as SQLite sees them."""

    def __init__(self, folder: str) -> None:
        """Fail nothing and write nothing down until told to."""
        self.folder = folder
        self.counts: Counter[str] = Counter()
        self.events: list[Event] | None = None  # written down where it is a list
        self.struck = False
        self.slept_seconds = 0.0
        self._position: Position | None = None
        self._meanwhile: tuple[int, Callable[[], None]] | None = None
        self._paths: dict[int, str] = {}
        self._real: dict[str, Any] = {}
        self._wrapped: dict[int, int] = {}

    def arm(self, position: Position | None) -> None:
        """Count anew, and fail at this position; None: nowhere."""
        self.counts.clear()
        self.struck, self._position, self._meanwhile = False, position, None
        self.slept_seconds = 0.0

    def meanwhile(self, number: int, do: Callable[[], None]) -> None:
        """Let somebody else work before the n-th operation from now on, whichever it is."""
        self._meanwhile = (self.counts[ANY] + number, do)

    def _strike(self, operation: str) -> Fault | None:
        """Count an operation; give what goes wrong with it."""
        self.counts[operation] += 1
        self.counts[ANY] += 1
        if self._meanwhile is not None and self.counts[ANY] == self._meanwhile[0]:
            (_, do), self._meanwhile = self._meanwhile, None
            do()
        at = self._position
        if at is None or at.operation not in (operation, ANY):
            return None
        fault, count = POSITIONS[at.operation][at.kind], self.counts[at.operation]
        if count < at.number or (count > at.number and not fault.lasts):
            return None
        self.struck = True
        return FAULTS[operation].get("error") if at.operation == ANY else fault

    def _note(
        self, operation: str, path: str, offset: int = 0, data: bytes = b"", *, syncs: bool = False
    ) -> None:
        if self.events is not None:
            self.events.append(Event(operation, path, offset, data, syncs))

    def open(self, vfs: int, name: int, file: int, flags: int, out: int) -> int:
        """Open a file, and stand between it and SQLite."""
        path = ctypes.string_at(name).decode() if name else ""
        if not path.startswith(self.folder):
            return int(self._real["xOpen"](vfs, name, file, flags, out))
        if fault := self._strike("open"):
            _File.from_address(file).pMethods = None
            return fault.code
        is_new = not Path(path).exists()
        code = int(self._real["xOpen"](vfs, name, file, flags, out))
        if code == apsw.SQLITE_OK:
            self._paths[file] = path
            if is_new:
                self._note("make", path)
            opened = _File.from_address(file)
            opened.pMethods = self._wrapping(opened.pMethods)
        return code

    def delete(self, vfs: int, name: int, sync: int) -> int:
        """Delete a file."""
        path = ctypes.string_at(name).decode()
        if path.startswith(self.folder) and (fault := self._strike("delete")):
            return fault.code
        code = int(self._real["xDelete"](vfs, name, sync))
        if code == apsw.SQLITE_OK:
            self._note("delete", path, syncs=bool(sync))
        return code

    def sleep(self, vfs: int, microseconds: int) -> int:
        """Let no time pass."""
        self.slept_seconds += microseconds / 1e6
        return microseconds

    def _wrapping(self, address: int) -> int:
        """Give methods that ask this disk before the real ones; one set for each real set."""
        if address not in self._wrapped:
            real = _Methods.from_address(address)
            made = _Methods.from_buffer_copy(real)
            for name, method in self._methods(real).items():
                called = _TYPES[name](method)
                _kept.append(called)
                setattr(made, name, ctypes.cast(called, c_void_p).value)
            _kept.append(made)
            self._wrapped[address] = ctypes.addressof(made)
        return self._wrapped[address]

    def _methods(self, real: _Methods) -> dict[str, Callable[..., int]]:
        called = {
            name: _TYPES[name](address)
            for name in _TYPES
            if name not in _OF_VFS and (address := getattr(real, name))
        }

        def close(file: int) -> int:
            self._paths.pop(file, None)
            return int(called["xClose"](file))

        def write(file: int, data: int, amount: int, offset: int) -> int:
            fault = self._strike("write")
            if fault and fault.code != SHORT:
                return fault.code
            done = amount // 2 if fault else amount
            code = int(called["xWrite"](file, data, done, offset))
            if code == apsw.SQLITE_OK and self.events is not None:
                self._note("write", self._paths[file], offset, ctypes.string_at(data, done))
            return apsw.SQLITE_FULL if fault else code

        def truncate(file: int, size: int) -> int:
            if fault := self._strike("truncate"):
                return fault.code
            self._note("truncate", self._paths[file], size)
            return int(called["xTruncate"](file, size))

        def sync(file: int, flags: int) -> int:
            if fault := self._strike("sync"):
                return fault.code
            self._note("sync", self._paths[file])
            return int(called["xSync"](file, flags))

        def shm_lock(file: int, offset: int, count: int, flags: int) -> int:
            fault = self._strike("map lock") if flags & SHM_LOCK else None
            return fault.code if fault else int(called["xShmLock"](file, offset, count, flags))

        def asked(operation: str, name: str) -> Callable[..., int]:
            def method(*arguments: Any) -> int:
                fault = self._strike(operation)
                return fault.code if fault else int(called[name](*arguments))

            return method

        found: dict[str, Callable[..., int]] = {
            "xClose": close, "xWrite": write, "xTruncate": truncate, "xSync": sync,
            "xShmLock": shm_lock, "xRead": asked("read", "xRead"), "xLock": asked("lock", "xLock"),
            "xFileSize": asked("size", "xFileSize"), "xShmMap": asked("map", "xShmMap"),
        }  # fmt: skip
        return {name: method for name, method in found.items() if name in called}

    @contextmanager
    def under_sqlite(self) -> Iterator[None]:
        """Stand between SQLite and its files while the block runs."""
        vfs = _vfs()
        before = {name: getattr(vfs, name) for name in _OF_VFS}
        self._real = {name: _TYPES[name](address) for name, address in before.items()}
        own: dict[str, Callable[..., int]] = {
            "xOpen": self.open, "xDelete": self.delete, "xSleep": self.sleep,
        }  # fmt: skip
        for name, method in own.items():
            called = _TYPES[name](method)
            _kept.append(called)
            setattr(vfs, name, ctypes.cast(called, c_void_p).value)
        try:
            yield
        finally:
            for name, address in before.items():
                setattr(vfs, name, address)


def _vfs() -> _Vfs:
    """Find the VFS that SQLite opens files by."""
    connection, address = apsw.Connection(":memory:"), c_void_p()
    connection.file_control("main", apsw.SQLITE_FCNTL_VFS_POINTER, ctypes.addressof(address))
    connection.close()
    assert address.value is not None
    return _Vfs.from_address(address.value)


@contextmanager
def faulty_disk(folder: Path) -> Iterator[Disk]:
    """Put what SQLite keeps below a folder on such a disk while the block runs."""
    disk = Disk(str(folder))
    with disk.under_sqlite():
        yield disk
