"""A disk that fails a read of SQLite's once, as a bad cable does: the next look finds all whole."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import apsw


def _malformed() -> apsw.Error:
    return apsw.CorruptError("database disk image is malformed")


def _unread() -> apsw.Error:
    fault = apsw.IOError("disk I/O error")
    fault.extendedresult = apsw.SQLITE_IOERR_READ  # type: ignore[attr-defined]
    return fault


FAULTS = {"malformed": _malformed, "unread": _unread}


class FaultyDisk(apsw.VFS):
    """The system's files, of which one read gives an error."""

    def __init__(self) -> None:
        """Take the place of the system's for whatever is opened from now on."""
        super().__init__("faulty", "unix", makedefault=True)
        self.reads = 0
        self.failing = 0  # the number of the read that fails; 0: none
        self.fault = "malformed"  # what SQLite makes of the system's EIO; else "unread"

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:
        """Open a file."""
        return FaultyFile(self, name, flags)


class FaultyFile(apsw.VFSFile):
    """A file on such a disk."""

    def __init__(
        self, disk: FaultyDisk, name: str | apsw.URIFilename | None, flags: list[int]
    ) -> None:
        """Open it."""
        super().__init__("unix", name, flags)
        self._disk = disk

    def xRead(self, amount: int, offset: int) -> bytes:
        """Read, unless it is the one that fails."""
        self._disk.reads += 1
        if self._disk.reads == self._disk.failing:
            raise FAULTS[self._disk.fault]()
        return super().xRead(amount, offset)

    def xLock(self, level: int) -> None:
        """Lock; of a file that is open for reading alone, a lock to write is refused as busy.

        The system's way to say so is an error that SQLite passes over, and apsw raises later.
        """
        try:
            super().xLock(level)
        except apsw.IOError as error:
            raise apsw.BusyError from error


@contextmanager
def faulty_disk() -> Iterator[FaultyDisk]:
    """Put every store on such a disk while the block runs."""
    disk = FaultyDisk()
    try:
        yield disk
    finally:
        apsw.unregister_vfs("faulty")
