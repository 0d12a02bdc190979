"""The memory that a server answers from: the first call opens it, and all calls share it."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Event, Lock

from memcli.api.ask import WITHOUT_BOUND
from memcli.api.workspace import Workspace
from memcli.checking import TYPE_CHECKING
from memcli.errors import BusyError, NotFoundError, UsageError
from memcli.markdown.parse import parse
from memcli.markdown.units import units, with_speaker
from memcli.mcp.preparation import IndexProgress, Preparation
from memcli.search.follow_up import EARLIER
from memcli.search.question import Question
from memcli.workspace.locate import CONFIG_FILE, is_everything, mark_of

if TYPE_CHECKING:
    from memcli.api.workspaces import Workspaces

PATIENCE_SECONDS = 20.0  # that a call waits for a first index; clients wait for a minute
STAGES = {"reading": "files have been read", "embedding": "texts have been embedded"}


class SharedMemory:
    """A memory that threads share, and that is opened when it is first needed."""

    def __init__(
        self,
        open: Callable[[str | None], Workspaces],
        names: Callable[[], Sequence[str]] = tuple,
        *,
        open_folder: Callable[[str], Workspaces] | None = None,
        roots: Sequence[str] = (),
        may_move: bool = False,
    ) -> None:
        """Take the functions that open the memory and that name its workspaces.

        If they fail, they are called again. `open` takes the folder to start from, which the client
        may choose if it `may_move`. `open_folder` opens a folder that a call names, which must be
        in one of the `roots`.
        """
        self._open, self._names, self._open_folder = open, names, open_folder
        self.roots = list(roots)  # and the folders that the client has open
        self._opening = Lock()
        self._memory: Workspaces | None = None
        self._preparation: Preparation | None = None
        self._alone: dict[str, Workspaces] = {}  # by name, or by folder
        self._workspaces: tuple[str, ...] | None = None
        self._left_out: list[int | None] = []
        self._calls, self._idle = 0, Event()
        self._idle.set()
        self._replaced: list[Workspaces] = []  # closed once no call is being answered
        self.may_move = may_move
        self.folder: str | None = None  # of the client
        self.seen = SeenLines()
        self.questions: deque[Question] = deque(maxlen=EARLIER)  # for those that follow

    def workspaces(self) -> tuple[str, ...]:
        """Name the workspaces if there are several, without opening them."""
        if self._workspaces is None:
            self._workspaces = tuple(self._names())
        return self._workspaces

    @contextmanager
    def call(self) -> Iterator[None]:
        """Answer a call: no memory is closed meanwhile, and no batch is embedded."""
        with self._opening:
            self._calls += 1
            self._idle.clear()
            preparation = self._preparation
        try:
            if preparation is not None:
                preparation.wait_for_turn()
            yield
        finally:
            closed: list[Workspaces] = []
            with self._opening:
                self._calls -= 1
                if not self._calls:
                    self._idle.set()
                    closed, self._replaced = self._replaced, closed
            for each in closed:
                each.close()

    def opened(self, workspace: str | None = None) -> Workspaces:
        """Return the memory, one workspace of it, or that of a folder in one of the roots.

        If a workspace could not be opened with the others, all are opened again once its folder or
        its settings have changed.
        """
        with self._opening:
            if workspace is not None and is_path(workspace) and self._open_folder is not None:
                return self._of_folder(workspace)
            if self._memory is None or _unopened(self._memory) != self._left_out:
                opened = _without_bound(self._open(self.folder))
                if self._preparation is not None:
                    self._preparation.stop()
                    self._preparation = None
                if self._memory is not None:
                    self._replaced.append(self._memory)
                self._memory, self._left_out = opened, _unopened(opened)
                self._alone.clear()
            if missing := _missing(self._memory):
                raise missing
            return self._memory if workspace is None else self._only(self._memory, workspace)

    def _only(self, memory: Workspaces, workspace: str) -> Workspaces:
        if not memory.members:
            name = os.path.basename(memory.config.workspace)
            if workspace in (name, memory.config.workspace):
                return memory
            raise UsageError(
                f"no workspace here is called {workspace!r:.80}; the name is {name}", hint=name
            )
        if workspace not in self._alone:
            self._alone[workspace] = memory.only(workspace)
        return self._alone[workspace]

    def _of_folder(self, path: str) -> Workspaces:
        folder = os.path.realpath(os.path.join(self.roots[0] if self.roots else "/", path))
        roots = [os.path.realpath(each) for each in self.roots]
        # A server that starts in the home folder is not meant for every folder in it.
        if self._open_folder is None or not any(
            f"{folder}{os.sep}".startswith(root.rstrip(os.sep) + os.sep)
            and (_is_marked(folder, root) or not _is_home(root))
            for root in roots
        ):
            known = ", ".join(each for each in roots if not _is_home(each))
            what = f"in {known}" if known else "a workspace in the folder of the server"
            raise UsageError(f"{path!r:.200} is not {what}", hint="the same call without workspace")
        if folder not in self._alone:
            self._alone[folder] = _without_bound(self._open_folder(folder))
        return self._alone[folder]

    def own(self) -> Workspace:
        """Return the workspace that notes are added to: if there are several, the first."""
        memory = self.opened()
        if not memory.members:
            return memory.lead
        name, folder, workspace, why_not = memory.members[0]
        if workspace is None:
            raise NotFoundError(f"{name} ({folder}): {why_not.text}", hint=why_not.hint)
        if workspace.has_files and not os.path.isdir(folder):
            text = f"the folder of the workspace no longer exists: {folder}"
            raise NotFoundError(text, hint="put it back, then the same call")
        return workspace

    def prepare(self) -> Preparation:
        """Begin to index and to embed, unless that has begun; the errors of opening."""
        memory = self.opened()
        with self._opening:
            if self._preparation is None or self._preparation.memory is not memory:
                self._preparation = Preparation(memory, self._idle)
                self._preparation.start()
            return self._preparation

    def warm(self, workspace: str | None = None) -> Workspaces:
        """Return the memory with its index up to date and its model loaded.

        BusyError if the first index takes longer than a call may wait.
        """
        if workspace is not None and is_path(workspace):
            return self.opened(workspace)
        preparation = self.prepare()
        if not preparation.is_readable.wait(PATIENCE_SECONDS):
            far = ""
            if now := preparation.progress:
                far = f": {now.done:,} of {now.total:,} {STAGES[now.stage]}"
            text = f"the first index is being built{far}"
            raise BusyError(text, hint="the same call in 20 seconds")
        if preparation.error is not None:
            with self._opening:
                if self._preparation is preparation:
                    self._preparation = None  # the next call tries again
            raise preparation.error
        return self.opened(workspace)

    @property
    def progress(self) -> IndexProgress | None:
        """Return the progress of the first index while it is made."""
        preparation = self._preparation
        return preparation.progress if preparation is not None else None

    def embeds(self, *, is_outdated: bool, has_vectors: bool) -> bool:
        """Return whether texts are being embedded; start again if files or vectors are missing."""
        preparation = self._preparation
        if preparation is None:
            return False
        if is_outdated or (not has_vectors and preparation.may_embed):
            preparation.start()
        return preparation.is_embedding


def is_path(workspace: str) -> bool:
    """Return whether a call names a workspace by its folder."""
    return "/" in workspace or os.sep in workspace


def _is_marked(folder: str, root: str) -> bool:
    """Return whether a folder in a root, or one between them, is a workspace."""
    while folder != root:
        if mark_of(folder):
            return True
        folder = os.path.dirname(folder)
    return False


def _is_home(root: str) -> bool:
    return is_everything(root, os.path.expanduser("~"))


def _without_bound(memory: Workspaces) -> Workspaces:
    """Let a first index of any size be made: a server lives for hours."""
    return memory.having(lambda config: config.having({"sync.first": WITHOUT_BOUND}))


def _unopened(memory: Workspaces) -> list[int | None]:
    """Return the mtimes of the folders and settings of workspaces that failed to open."""
    folders = [each.folder for each in memory.members if each.workspace is None]
    paths = [path for folder in folders for path in (folder, os.path.join(folder, CONFIG_FILE))]
    return [_changed_ns(path) for path in paths]


def _changed_ns(path: str) -> int | None:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return None


def _missing(memory: Workspaces) -> NotFoundError | None:
    """Return the error for a workspace that was deleted since it was opened; of several, all."""
    names = [memory.config.workspace]
    if memory.members:
        names = [each.folder for each in memory.members]
    are_stored = (not each.has_files for each in memory.opened)  # in a shared index
    if any(map(os.path.isdir, names)) or any(are_stored):
        return None
    return NotFoundError(
        f"the folder of the workspace no longer exists: {', '.join(names)}",
        hint="put it back, then the same call",
    )


MOST_LINES = 20_000  # only so many of the newest lines are remembered


class SeenLines:
    """Lines, items and paragraphs by their document, newest last; threads may add at once."""

    def __init__(self) -> None:
        self._lines: dict[tuple[str, str, str], None] = {}
        self._adding = Lock()

    def add(self, source: str, path: str, text: str) -> None:
        """Remember the lines of a text of a document."""
        with self._adding:
            for line in _sayings(text):
                key = source, path, line
                self._lines.pop(key, None)
                self._lines[key] = None
            while len(self._lines) > MOST_LINES:
                del self._lines[next(iter(self._lines))]

    def __call__(self, source: str, path: str, line: str) -> bool:
        """Return whether a line was shown, with or without its Markdown marks."""
        text = line.strip()
        with self._adding:
            return any(
                text in seen and (source, path) == (its_source, its_path)
                for its_source, its_path, seen in self._lines
            )


def _sayings(text: str) -> Iterator[str]:
    """Yield each line, and each item and paragraph as one line, because a note may repeat it."""
    lines = text.split("\n")
    yield from filter(None, map(str.strip, lines))
    for block in parse(text).blocks:
        yield from map(with_speaker, units(block, lines))
