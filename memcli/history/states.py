"""List the states of a memory along the line of first parents, a day at a time."""

from __future__ import annotations

from datetime import date

from memcli.errors import NotFoundError
from memcli.history.commits import Commit, commit_of
from memcli.history.git import Git
from memcli.record import Record

MOST_COMMITS = 20_000  # commits to look at


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
            at = _parent(git, child)
            if at is None:
                cut = f"the history here goes back only to {child.short} ({child.day})"
    groups: list[list[Commit]] = []
    for each in line:
        if groups and groups[-1][-1].day == each.day:
            groups[-1].append(each)
        else:
            groups.append([each])
    before = [*(group[0] for group in groups[1:]), at][: len(groups)]
    found = [
        DayOfCommits(group[0].day, tuple(group), end)
        for group, end in zip(groups, before, strict=True)
    ]
    if cut and found and found[-1].before is None:  # the changes of its first commit are unknown
        found.pop()
    return found, cut


def _parent(git: Git, commit: Commit) -> Commit | None:
    try:
        return commit_of(git, commit.parents[0])
    except NotFoundError:
        return None
