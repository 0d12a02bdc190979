"""The memory that a server answers from: opened by whoever needs it first, kept for all others."""

from __future__ import annotations

import os
from contextlib import contextmanager
from threading import Lock

from memcli.checking import TYPE_CHECKING
from memcli.errors import NotFoundError, Reason
from memcli.mcp.given import GivenLines
from memcli.record import Record
from memcli.workspace.locate import CONFIG_FILE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from memcli.api.memory import Memory
    from memcli.api.opened import OpenedWorkspace
    from memcli.api.several import Several

_ANY_QUESTION = "memory"


class SyncProgress(Record):
    """How far a first question has brought the index: files that are read, texts embedded."""

    stage: str  # reading | embedding
    done: int
    total: int  # grows when the texts of the files are counted


class HeldMemory:
    """A memory that threads share, and that may not be there yet."""

    progress: SyncProgress | None = None  # while a first question works on the index

    def __init__(
        self, open: Callable[[], Memory], names: Callable[[], Sequence[str]] = tuple
    ) -> None:
        """Take what opens it, and what names the workspaces of several that are one memory.

        Either is asked again as long as it fails.
        """
        self._open, self._names = open, names
        self._opening, self._warming = Lock(), Lock()
        self._memory: Memory | None = None
        self._alone: dict[str, Several] = {}
        self._workspaces: tuple[str, ...] | None = None
        self._left_out: list[int | None] = []
        self._is_warm = False
        self.given = GivenLines()

    def workspaces(self) -> tuple[str, ...]:
        """Name the workspaces where they are several, without opening them."""
        if self._workspaces is None:
            self._workspaces = tuple(self._names())
        return self._workspaces

    def opened(self, workspace: str | None = None) -> Memory:
        """Give the memory, or one workspace of it; the errors of whatever opens it.

        Where a workspace could not be opened with the others, all are opened anew once its folder
        or its settings have changed.
        """
        with self._opening:
            if self._memory is None or _unopened(self._memory) != self._left_out:
                self._memory, self._is_warm = self._open(), False
                self._left_out = _unopened(self._memory)
                self._alone.clear()
            return self._memory if workspace is None else self._only(self._memory, workspace)

    def _only(self, memory: Memory, workspace: str) -> Memory:
        from memcli.api.several import Several

        if not isinstance(memory, Several):
            return memory
        if workspace not in self._alone:
            self._alone[workspace] = memory.only(workspace)
        return self._alone[workspace]

    def own(self) -> OpenedWorkspace:
        """Give the workspace that notes are added to: of several the own one and no other."""
        memory = self.opened()
        if not memory.asked:
            return memory
        name, folder, opened = memory.asked[0]
        if isinstance(opened, Reason):
            raise NotFoundError(f"{name} ({folder}): {opened.text}", hint=opened.hint)
        return opened

    def warm(self, workspace: str | None = None) -> Memory:
        """Give it with its index in step and its model loaded, by a first question.

        Whatever is wrong with that is wrong with any question.
        """
        memory = self.opened()
        with self._warming:
            if not self._is_warm:
                with self._watched(memory):
                    memory.search(_ANY_QUESTION, limit=1)
                self._is_warm = True
        return self.opened(workspace)

    @contextmanager
    def _watched(self, memory: Memory) -> Iterator[None]:
        """Keep `progress` while a memory, or several, are brought in step."""
        counts: dict[tuple[int, str], tuple[int, int]] = {}

        def note(at: int, stage: str, done: int, total: int) -> None:
            counts[at, stage] = done, total
            added = [*map(sum, zip(*counts.copy().values(), strict=True))]
            self.progress = SyncProgress(stage, *added)

        with memory.showing(note):
            try:
                yield
            finally:
                self.progress = None


def _unopened(memory: Memory) -> list[int | None]:
    """Tell when what could not be opened was changed: folders of several and their settings."""
    folders = [folder for _, folder, opened in memory.asked if isinstance(opened, Reason)]
    paths = [path for folder in folders for path in (folder, os.path.join(folder, CONFIG_FILE))]
    return [_changed_ns(path) for path in paths]


def _changed_ns(path: str) -> int | None:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return None
