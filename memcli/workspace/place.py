"""The interface of a place with documents; for type checkers only.

`openat` is the disk. A folder is whatever `open_root` and `open_folder` of the place return.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Protocol

from memcli.types import FileText, Listing, Skip, Source


class FolderEntry(Protocol):
    """An entry of a folder, as `os.DirEntry` has it."""

    @property
    def name(self) -> str:
        """Return its name."""

    def is_file(self, *, follow_symlinks: bool = True) -> bool:
        """Return whether it is a regular file."""

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        """Return whether it is a folder."""

    def is_symlink(self) -> bool:
        """Return whether it is a link."""

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        """Return size, times and number; OSError if that is impossible."""


class FilePlace(Protocol):
    """The place of the folders of sources; each call may raise an OSError with the reason."""

    def open_root(self, path: str) -> int | str:
        """Open the folder of a source by its absolute path."""

    def open_folder(self, parent: int | str, name: str) -> int | str:
        """Open a folder in a folder."""

    def scan(self, folder: int | str) -> AbstractContextManager[Iterator[FolderEntry]]:
        """List the entries of a folder."""

    def read_small(self, folder: int | str, name: str, limit: int) -> bytes | None:
        """Read a small file of a folder, None if there is none."""

    def device(self, folder: int | str) -> int:
        """Return the device that a folder is on."""

    def is_mounted(self, root: int | str, path: str) -> bool:
        """Return whether a root is on another device than the folder above it."""

    def is_empty(self, root: int | str) -> bool:
        """Return whether a folder has no entry at all."""

    def close(self, folder: int | str) -> None:
        """Close a folder of `open_root` or `open_folder`."""


class DocumentFiles(Protocol):
    """A place of documents other than the disk: a state that does not change."""

    def listing(self, sources: tuple[Source, ...], *, max_bytes: int) -> Listing:
        """List the documents of the sources."""

    def read(self, root: str, path: str, *, source: str, max_bytes: int) -> FileText | Skip:
        """Read a document below the root of its source; a Skip if it cannot be read."""
