"""Keep a few indexes of earlier states next to the index of a workspace.

Each has its own folder, named by a hash of what it depends on, and a file that is written when it
is complete. They are a cache: any of them may be deleted at any time.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import suppress

from memcli.checking import TYPE_CHECKING
from memcli.record import Record
from memcli.store.open import store_at
from memcli.workspace.atomic_write import write_whole

if TYPE_CHECKING:
    from memcli.store.port import Store

KEPT = 4
FOLDER_SUFFIX = ".as-of"  # follows the name of the index of the workspace
INDEX_FILE, WHOLE_FILE = "index", "whole.json"
_NEW = ".new"


class SideState(Record):
    """The record of a complete index of an earlier state."""

    is_embedded: bool  # every text has its vector
    notices: tuple[tuple[str, str], ...]  # (code, text) of what the index lacks


class SideIndex:
    """The index of one state."""

    def __init__(self, local: str, key: str, now_ns: Callable[[], int], shared: str) -> None:
        """Take the path of the index of the workspace, and the name of the state.

        `shared` is the file of the vectors that several indexes share.
        """
        self._all = local + FOLDER_SUFFIX
        self._folder = os.path.join(self._all, key)
        self._path, self._now_ns = os.path.join(self._folder, INDEX_FILE), now_ns
        self.store = store_at(self._path, now_ns, shared=shared)

    def made(self) -> SideState | None:
        """Read the record of the index; None if it is not complete."""
        try:
            with open(os.path.join(self._folder, WHOLE_FILE), encoding="utf-8") as file:
                record = json.load(file)
            notices = tuple((str(code), str(text)) for code, text in record["notices"])
            is_embedded = record["is_embedded"] is True
        except (OSError, ValueError, TypeError, KeyError, RecursionError):
            return None
        return SideState(is_embedded, notices) if self.store.exists() else None

    def begin(self, main: Store, wait_seconds: float, sleep: Callable[[float], None]) -> None:
        """Copy the index of the workspace, if it exists and was not copied before."""
        os.makedirs(self._folder, mode=0o700, exist_ok=True)
        if self.store.exists() or not main.exists():
            return
        with (
            self.store.locked(wait_seconds=wait_seconds, sleep=sleep),
            main.locked(wait_seconds=wait_seconds, sleep=sleep),
        ):
            if self.store.exists():  # another process has been faster
                return
            main.copy_to(store_at(self._path + _NEW, self._now_ns))
            with os.scandir(self._folder) as entries:
                copied = [each.name for each in entries if each.name.startswith(INDEX_FILE + _NEW)]
            for name in copied:
                os.chmod(os.path.join(self._folder, name), 0o600)
            for name in sorted(copied, reverse=True):  # the files next to the index go first
                os.replace(
                    os.path.join(self._folder, name),
                    os.path.join(self._folder, name.replace(_NEW, "", 1)),
                )

    def finish(self, made: SideState) -> None:
        """Note that it is whole, and let go of those that were used longest ago."""
        write_whole(os.path.join(self._folder, WHOLE_FILE), json.dumps(made._asdict()))
        self.touch()
        for name in _by_use(self._all)[KEPT:]:
            _remove(os.path.join(self._all, name))

    def touch(self) -> None:
        """Note that it was used just now."""
        with suppress(OSError):  # the folder is read-only: another one is deleted first
            os.utime(self._folder, ns=(self._now_ns(), self._now_ns()))


def drop_side_indexes(local: str) -> None:
    """Remove all of them for the index of a workspace."""
    folder = local + FOLDER_SUFFIX
    for name in _by_use(folder):
        _remove(os.path.join(folder, name))


def _by_use(folder: str) -> list[str]:
    """List the folders of side indexes, the one used last first."""
    try:
        with os.scandir(folder) as entries:
            folders = [(e.stat().st_mtime_ns, e.name) for e in entries if e.is_dir()]
    except OSError:
        return []
    return [name for _, name in sorted(folders, reverse=True)]


def _remove(folder: str) -> None:
    from shutil import rmtree

    rmtree(folder, ignore_errors=True)
