"""Find the commit of a date or of a name, and list the commits of each day along first parents."""

from __future__ import annotations

import os
import re
from datetime import UTC, date, datetime, timedelta, timezone
from itertools import groupby

from memcli.errors import NotFoundError
from memcli.history.git import BrokenObjectError, Git, GitObject
from memcli.record import Record

MOST_COMMITS = 20_000  # commits to look at
SHORT = 7  # digits of a hash to show
# `Name <address> SECONDS +HHMM`, in the header of a commit.
_COMMITTED = re.compile(rb"^committer .*> (-?\d{1,15}) ([+-])(\d\d)(\d\d)$", re.MULTILINE)
_FIRST_YEAR = datetime(1970, 1, 1, tzinfo=UTC)


class Commit(Record):
    """A commit, with the fields that memcli uses."""

    oid: str
    tree: str
    parents: tuple[str, ...]  # the first one continues its own line
    moment: datetime  # when it was committed, in the committer's time zone

    @property
    def short(self) -> str:
        """Return the beginning of its hash."""
        return self.oid[:SHORT]

    @property
    def day(self) -> str:
        """Return the day of it as an ISO date."""
        return self.moment.date().isoformat()


def commit_of(git: Git, name: str) -> Commit | None:
    """Read a commit by any of its names; None if there is no such commit."""
    try:
        if git.info(f"{name}^{{commit}}") is None:
            return None
        return _parsed(git.read(f"{name}^{{commit}}"))
    except BrokenObjectError as error:
        raise NotFoundError(f"{name}: {error}", hint="git fsck") from None


def commit_named(git: Git, name: str) -> Commit:
    """Read a commit by its name; NotFoundError if there is no such commit."""
    if "\n" not in name and not name.startswith("-") and (commit := commit_of(git, name)):
        return commit
    head_of(git)
    beyond = beginning_of(git)
    why = f"; {beyond}" if beyond else ""
    raise NotFoundError(
        f"no commit is called {name!r}, and it is not a date{why}", hint="git log --oneline"
    )


def head_of(git: Git) -> Commit:
    """Read the newest commit; NotFoundError before the first one."""
    commit = commit_of(git, "HEAD")
    if commit is None:
        raise NotFoundError(
            f"{_shown(git)} has no commits, so there is no earlier state",
            hint="git add --all && git commit -m notes",
        )
    return commit


def commit_at(git: Git, end: datetime) -> Commit:
    """Find the last commit of the first-parent line at or before a moment.

    NotFoundError if all known commits are newer.
    """
    head = head_of(git)
    if head.moment <= end:
        return head
    seconds = int((end - _FIRST_YEAR) / timedelta(seconds=1))
    age = f"--min-age={max(seconds, 0)}"
    listed = git.commits("--first-parent", "--max-count=1", age, head.oid, "--")
    commit = commit_of(git, listed[0]) if listed and seconds >= 0 else None
    if commit is not None:
        return commit
    oldest = first_of(git)
    raise NotFoundError(
        f"no commit is as old as {end.date().isoformat()}: {beginning_of(git) or _begins(oldest)}",
        hint=f"--as-of {(oldest or head).day}",
    )


def first_of(git: Git) -> Commit | None:
    """Read the oldest commit of the first-parent line, as far as it is here."""
    listed = git.commits("--first-parent", "--max-parents=0", "--max-count=1", "HEAD", "--")
    return commit_of(git, listed[0]) if listed else None


def beginning_of(git: Git) -> str:
    """Say where the history of a shallow clone ends; "" if it is complete."""
    folder = _named_by(git.folder, "gitdir: ")
    common = _named_by(os.path.join(folder, "commondir"), "") if folder else ""
    if not any(os.path.isfile(os.path.join(each, "shallow")) for each in (folder, common) if each):
        return ""
    oldest = first_of(git)
    return f"this clone is shallow, and its {_begins(oldest)}" if oldest else "this is shallow"


def _named_by(path: str, lead: str) -> str:
    """Return a folder, or the folder that a file in its place names."""
    if not os.path.isfile(path):
        return path
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        return os.path.join(os.path.dirname(path), file.read(4096).removeprefix(lead).strip())


def _begins(oldest: Commit | None) -> str:
    return f"history begins with {oldest.short} ({oldest.day})" if oldest else "history has no end"


def _shown(git: Git) -> str:
    return os.path.dirname(git.folder) if git.folder.endswith(".git") else git.folder


def _parsed(commit: GitObject) -> Commit:
    header = commit.data.partition(b"\n\n")[0]
    lines = header.decode("ascii", "replace").split("\n")
    tree = next((line[5:] for line in lines if line.startswith("tree ")), "")
    parents = tuple(line[7:] for line in lines if line.startswith("parent "))
    return Commit(commit.oid, tree, parents, _moment(header))


def _moment(header: bytes) -> datetime:
    """Return the moment of a commit; 1970 if it has none in the range of the calendar."""
    match = _COMMITTED.search(header)
    if match is None:
        return _FIRST_YEAR
    minutes = int(match[3]) * 60 + int(match[4])
    ahead = timedelta(minutes=-minutes if match[2] == b"-" else minutes)
    try:
        return (_FIRST_YEAR + timedelta(seconds=int(match[1]))).astimezone(timezone(ahead))
    except (ValueError, OverflowError):
        return _FIRST_YEAR


class DayOfCommits(Record):
    """The commits of one day, and the states before and after them."""

    day: str
    commits: tuple[Commit, ...]  # the newest first
    before: Commit | None  # None: the memory was empty


def days_of(
    git: Git, newest: Commit, since: date, *, history: str = ""
) -> tuple[list[DayOfCommits], str]:
    """Group the commits from `newest` back to the first one before a day, the newest day first.

    The commit with the hash `history` also ends the list, and is not part of it. Days are in the
    committer's time zone; only the line of commits decides the order. The second value says where
    the history is cut off, if it is: a shallow clone, or a missing object.
    """
    line: list[Commit] = []
    at: Commit | None = newest
    cut = ""
    while at is not None and at.oid != history and at.moment.date() >= since:
        if len(line) == MOST_COMMITS:
            cut = f"more than {MOST_COMMITS} commits; shown back to {at.short} ({at.day})"
            break
        line.append(at)
        child, at = at, None
        if child.parents:
            at = parent_of(git, child)
            if at is None:
                cut = f"the history here goes back only to {child.short} ({child.day})"
    groups = [tuple(group) for _, group in groupby(line, key=lambda each: each.day)]
    before = [*(group[0] for group in groups[1:]), at][: len(groups)]
    days = [DayOfCommits(g[0].day, g, end) for g, end in zip(groups, before, strict=True)]
    if cut and days and days[-1].before is None:  # the changes of its first commit are unknown
        days.pop()
    return days, cut


def parent_of(git: Git, commit: Commit) -> Commit | None:
    """Return the first parent of a commit; None if this repository does not have it."""
    try:
        return commit_of(git, commit.parents[0])
    except NotFoundError:
        return None
