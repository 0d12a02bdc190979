"""Follow lines of a document back through their versions."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import closing
from difflib import SequenceMatcher

from memcli.api import targets
from memcli.api.as_of import Repository
from memcli.api.read import get
from memcli.api.workspaces import Workspaces
from memcli.errors import Reason
from memcli.history.commits import MOST_COMMITS, Commit, head_of, parent_of
from memcli.history.differences import common_start
from memcli.history.git import Git, repository_of
from memcli.history.tree import CommitFiles
from memcli.indexing.planning import Settings, read
from memcli.record import Record
from memcli.types import Skip, cite
from memcli.workspace.ignore import load_rules

ALIKE = 0.5  # least share of the lines of an earlier file in the later one


class Version(Record):
    """Lines as a commit changed them."""

    commit: str | None  # shortened hash; None: on disk, not committed
    day: str | None
    source: str
    path: str
    start_line: int
    end_line: int
    text: str

    @property
    def citation(self) -> str:
        """Name the lines."""
        return cite(self.source, self.path, self.start_line, self.end_line)


class _State(Record):
    """A file at a commit, and the place of the lines in it."""

    path: str
    number: int  # number of its bytes
    lines: tuple[str, ...]
    place: tuple[int, int]

    @property
    def text(self) -> str:
        return "\n".join(self.lines[self.place[0] - 1 : self.place[1]])


def versions(
    memory: Workspaces,
    target: str,
    *,
    first: int | None = None,
    count: int | None = None,
    here: str | None = None,
) -> tuple[list[Version], list[Reason]]:
    """Follow the lines of `get` back along first parents, through renames of the file.

    Return the versions, the newest first, and notices.

    UsageError without a repository, NotFoundError if there is no such document.
    """
    workspace = memory.alone()
    workspace.need_files()
    lines = get(memory, target, first=first, count=count, here=here)
    settings = workspace.index_settings()
    file = targets.read(targets.Target(lines.source, lines.path), settings)
    now = _State(lines.path, file.stat.inode, _lines(file.text), (lines.start_line, lines.end_line))
    named, top = repository_of(workspace.config.workspace)
    with closing(Git(named, workspace.environ)) as git:
        repository = Repository(git, workspace.config.workspace, top, workspace.environ)
        past = _Past(repository, settings, lines.source)
        return _followed(past, now, head_of(git))


class _Past(Record):
    """The source of earlier states of a document."""

    repository: Repository
    settings: Settings
    source: str

    def state(self, files: CommitFiles, path: str) -> tuple[tuple[str, ...], int] | None:
        """Read a file: its lines, and the number of its bytes."""
        file = read(self.settings._replace(files=files), self.source, path)
        return None if isinstance(file, Skip) else (_lines(file.text), file.stat.inode)


def _followed(past: _Past, now: _State, head: Commit) -> tuple[list[Version], list[Reason]]:
    """Go back from the newest commit until the lines are missing."""
    result: list[Version] = []
    newest: Commit | None = None  # None: the file on disk
    state, at = now, head
    newer: CommitFiles | None = None
    for _ in range(MOST_COMMITS):
        files = past.repository.files_if_any(at)
        earlier = _before(past, files, state, newer) if files else None
        if earlier is None:
            break
        if earlier.text != state.text:
            result.append(_version(past, state, newest))
        state, newest, newer = earlier, at, files
        if not at.parents:
            break
        parent = parent_of(past.repository.git, at)
        if parent is None:
            cut = Reason("history", f"the history here goes back only to {at.short} ({at.day})",
                         "git fetch --unshallow")  # fmt: skip
            return [*result, _version(past, state, newest)], [cut]
        at = parent
    return [*result, _version(past, state, newest)], []


def _before(
    past: _Past, files: CommitFiles, state: _State, newer: CommitFiles | None
) -> _State | None:
    """Find the lines in an earlier state; None if they are missing there."""
    if newer is not None and files.tree == newer.tree:
        return state
    earlier, path = past.state(files, state.path), state.path
    if earlier is None and newer is not None:
        path = _earlier_name(past, files, newer, state)
        earlier = past.state(files, path) if path else None
    if earlier is None:
        return None
    lines, number = earlier
    if number == state.number or lines == state.lines:
        return state._replace(path=path, number=number)
    place = lines_before(lines, state.lines, state.place)
    return _State(path, number, lines, place) if place else None


def _earlier_name(past: _Past, files: CommitFiles, newer: CommitFiles, state: _State) -> str:
    """Find the earlier name of a renamed file by its lines; "" if there is none."""
    root = os.path.relpath(past.settings.source(past.source).root, past.repository.root)
    prefix = "" if root == "." else f"{root}/".replace(os.sep, "/")
    try:
        rules = load_rules(past.settings.source(past.source), at=files)
        paths = [path for path in newer.differing(files) if path.startswith(prefix)]
    except OSError:  # a missing folder has no earlier name
        return ""
    best, name = ALIKE, ""
    for below in (path.removeprefix(prefix) for path in paths):
        earlier = past.state(files, below) if rules.accepts(below) else None
        if earlier is None or past.state(newer, below) is not None:
            continue
        share = likeness(earlier[0], state.lines)
        if share >= best:
            best, name = share, below
    return name


def _version(past: _Past, state: _State, commit: Commit | None) -> Version:
    short, day = (commit.short, commit.day) if commit else (None, None)
    return Version(short, day, past.source, state.path, *state.place, state.text)


def _lines(text: str) -> tuple[str, ...]:
    return tuple(text.removesuffix("\n").split("\n"))


def lines_before(
    old: Sequence[str], new: Sequence[str], lines: tuple[int, int]
) -> tuple[int, int] | None:
    """Find the place of some lines in the version before; None if they are all new.

    If lines replaced equally many others, each gets the place of the line that it replaced.
    Otherwise they get the place of all those lines.
    """
    first, end = lines[0] - 1, lines[1]
    head = common_start(old, new)
    tail = common_start(old[head:][::-1], new[head:][::-1])
    places: list[int] = []
    middle = SequenceMatcher(
        None, old[head : len(old) - tail], new[head : len(new) - tail], autojunk=False
    )
    shifted = (
        (tag, a + head, b + head, c + head, d + head) for tag, a, b, c, d in middle.get_opcodes()
    )
    blocks = [
        ("equal", 0, head, 0, head),
        *shifted,
        ("equal", len(old) - tail, len(old), len(new) - tail, len(new)),
    ]
    for tag, a, b, c, d in blocks:
        low, high = max(first, c), min(end, d)
        if low >= high or a == b:
            continue
        if tag == "equal" or b - a == d - c:
            places += [a + low - c, a + high - 1 - c]
        else:
            places += [a, b - 1]
    return (min(places) + 1, max(places) + 1) if places else None


def likeness(old: Sequence[str], new: Sequence[str]) -> float:
    """Return the share of lines that two files have in common, without blank lines."""
    ours, theirs = ({line.strip() for line in each if line.strip()} for each in (old, new))
    return len(ours & theirs) / max(1, len(ours), len(theirs))
