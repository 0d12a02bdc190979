"""The interface of a place with documents; for type checkers only.

`openat` is the disk, and says what each function does. A folder is whatever
`open_root` and `open_folder` of the place return.
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
    def name(self) -> str: ...
    def is_file(self, *, follow_symlinks: bool = True) -> bool: ...
    def is_dir(self, *, follow_symlinks: bool = True) -> bool: ...
    def is_symlink(self) -> bool: ...
    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result: ...


class FilePlace(Protocol):
    """The place of the folders of sources; each call may raise an OSError with the reason."""

    def open_root(self, path: str) -> int | str: ...
    def open_folder(self, parent: int | str, name: str) -> int | str: ...
    def scan(self, folder: int | str) -> AbstractContextManager[Iterator[FolderEntry]]: ...
    def read_small(self, folder: int | str, name: str, limit: int) -> bytes | None: ...
    def device(self, folder: int | str) -> int: ...
    def is_mounted(self, root: int | str, path: str) -> bool: ...
    def is_empty(self, root: int | str) -> bool: ...
    def close(self, folder: int | str) -> None: ...


class DocumentFiles(Protocol):
    """A place of documents other than the disk: a state that does not change."""

    def listing(self, sources: tuple[Source, ...], *, max_bytes: int) -> Listing:
        """List the documents of the sources."""

    def read(self, root: str, path: str, *, source: str, max_bytes: int) -> FileText | Skip:
        """Read a document below the root of its source; a Skip if it cannot be read."""
