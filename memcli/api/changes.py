"""List what is new in a workspace: from the commits of its repository, or from dated logs."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from datetime import date, datetime, timedelta
from functools import partial
from itertools import chain
from math import fsum

from memcli.api.as_of import Repository, commit_meant, day_named
from memcli.api.targets import stored_logs
from memcli.api.workspace import Workspace
from memcli.api.workspaces import NamedWorkspace, Workspaces, join_workspaces
from memcli.checking import Any
from memcli.compaction.similarity import idf
from memcli.errors import MemcliError, NotFoundError, Reason, UsageError, error_of
from memcli.history import differences
from memcli.history.commits import Commit, DayOfCommits, commit_named, days_of, head_of
from memcli.history.differences import DayChanges, MemoryChange, MemoryPassage, Name
from memcli.history.git import Git, repository_of
from memcli.history.tree import NO_FILE, CommitFiles
from memcli.indexing.planning import Settings, listing_of, read
from memcli.language.terms import content
from memcli.markdown.frontmatter import split
from memcli.record import Record
from memcli.types import DATE_KEYS, FileText, Listing, Skip, shown
from memcli.workspace.dating import document_days
from memcli.workspace.ignore import Rules, load_rules

DAYS = 7  # default length of the span
NAMED = 5  # files that cannot be compared
NOTHING = "nothing"  # code of the notice that no change is within the span


class LearnedThatDay(Record):
    """The changes of one day."""

    day: str
    commits: tuple[str, ...]  # shortened hashes, newest first; none for dated logs
    before: str | None  # shortened hash of the commit before
    learned: DayChanges


class ChangeList(Record):
    """The changes in a span of days."""

    since: str
    until: str
    days: tuple[LearnedThatDay, ...]  # the newest first
    ranked: tuple[RankedChange, ...]  # best first, if there is a question
    by: str  # git | logs
    notices: tuple[Reason, ...]


def changes(
    memory: Workspaces,
    text: str = "",
    *,
    since: str | None = None,
    until: str | None = None,
    by: str = "",
    now: datetime,
) -> ChangeList:
    """List what was learned between two days or commits, ranked by the text if there is one.

    `by` keeps only lines of documents with this source_kind. They are dated by their logs, because
    a commit does not say who wrote a line.

    A day is written as for `search --since`, and includes its commits. A commit at the start does
    not belong to the span. Without a repository, the lines of dated logs count as new. If one of
    several workspaces fails, a notice names it. Private notes of other workspaces are left out.
    """
    span = ChangeSpan(since, until, now, by)
    result = _of_several(memory, span) if memory.members else _of_one(memory, span)
    if not text.strip():
        return result
    each = [(day.day, change) for day in result.days for change in day.learned.changes]
    return result._replace(ranked=ranked_by(text, each))


class ChangeSpan(Record):
    """The days or commits of a question, and the author of the lines."""

    since: str | None
    until: str | None
    now: datetime
    by: str = ""
    hides_private: bool = False
    before: str = ""  # the name of the workspace, before each source


def _of_several(memory: Workspaces, request: ChangeSpan) -> ChangeList:
    """Ask the workspaces with files one by one, and those of a shared index together."""
    parts: list[tuple[str, Callable[[], ChangeList]]] = []
    stored = [each for each in memory.members if each.workspace and not each.workspace.has_files]
    for at, each in enumerate(memory.members):
        if each not in stored:
            own = request._replace(hides_private=at > 0 or not memory.has_own)
            parts.append((each.name, partial(_of_folder, each, own)))
    if stored:
        from memcli.api.remote import SHARED

        together = join_workspaces(stored, shared_index=memory.shared_index, has_own=False)
        ask_stored = partial(_of_stored, request=request)
        parts.append((SHARED, partial(together.with_fallback, ask_stored, mends=False)))
    lists: list[ChangeList] = []
    reasons: list[Reason] = []
    for name, ask in parts:
        try:
            lists.append(ask())
        except UsageError:  # the command line is wrong, not a workspace
            raise
        except MemcliError as error:
            reasons.append(_left_out(name, error.reason))
    if not lists:
        raise error_of(reasons[0])
    return _merged(lists, reasons)


def _of_folder(each: NamedWorkspace, request: ChangeSpan) -> ChangeList:
    result = _of_one(Workspaces(each.require()), request._replace(before=f"{each.name}:"))
    notices = (notice._replace(text=f"{each.name}: {notice.text}") for notice in result.notices)
    return result._replace(notices=tuple(notices))


def _of_stored(memory: Workspaces, *, request: ChangeSpan) -> ChangeList:
    left_out = [_left_out(each.name, each.reason) for each in memory.members if not each.workspace]
    result = _of_one(memory, request)
    return result._replace(notices=(*left_out, *result.notices))


def _left_out(name: str, reason: Reason) -> Reason:
    return reason._replace(text=f"{name}: {reason.text}; it is left out")


def _merged(lists: Sequence[ChangeList], reasons: Sequence[Reason]) -> ChangeList:
    """Merge the days of several workspaces; say why nothing changed only if all are empty."""
    by_day: dict[str, list[LearnedThatDay]] = {}
    for day in chain.from_iterable(each.days for each in lists):
        by_day.setdefault(day.day, []).append(day)
    notices = [*reasons, *chain.from_iterable(each.notices for each in lists)]
    nothing = [each for each in notices if each.code == NOTHING]
    newest = max(nothing, key=lambda each: ("--since" in each.hint, each.hint), default=None)
    return ChangeList(
        min(each.since for each in lists),
        max(each.until for each in lists),
        tuple(_one_day(day, by_day[day]) for day in sorted(by_day, reverse=True)),
        (),
        "git" if any(each.by == "git" for each in lists) else "logs",
        tuple(e for e in notices if e.code != NOTHING or (e is newest and not by_day)),
    )


def _one_day(day: str, each: Sequence[LearnedThatDay]) -> LearnedThatDay:
    learned = DayChanges(
        tuple(chain.from_iterable(one.learned.moves for one in each)),
        tuple(chain.from_iterable(one.learned.changes for one in each)),
    )
    commits = tuple(chain.from_iterable(one.commits for one in each))
    return LearnedThatDay(day, commits, each[0].before if len(each) == 1 else None, learned)


def _of_one(memory: Workspaces, request: ChangeSpan) -> ChangeList:
    """Ask one workspace, or several from a shared index."""
    workspace = memory.lead
    named = top = ""
    if workspace.has_files and not request.by:
        with suppress(UsageError):
            named, top = repository_of(workspace.config.workspace)
    if not named:
        return _by_logs(memory, request)
    with closing(Git(named, workspace.environ)) as git:
        repository = Repository(git, workspace.config.workspace, top, workspace.environ)
        return _by_commits(workspace, repository, request)


def _by_commits(workspace: Workspace, repository: Repository, request: ChangeSpan) -> ChangeList:
    git, since, until, now = repository.git, request.since, request.until, request.now
    newest = _last_commit(git, until, workspace, now)
    start = day_named(since, workspace, now, is_first=True)
    behind = ""
    if start is None and since is not None:
        behind, start = commit_named(git, since).oid, date.min
    if start is None:
        end = newest.moment.date() if until is not None else now.date()
        start = _a_week_before(day_named(until, workspace, now) or end, now)
    changed_days, cut = days_of(git, newest, start, history=behind)
    if behind and changed_days and changed_days[-1].before is None and not cut:
        raise UsageError(
            f"{since} is not on the line of first parents that ends in {newest.short}",
            hint=f"memcli changes --since {changed_days[-1].day}",
        )
    notices = [Reason("history", cut, "git fetch --unshallow")] if cut else []
    days = []
    for each in changed_days:
        learned, notes = _of_day(workspace, repository, each, request)
        notices += notes
        if learned.moves or learned.changes:
            commits = tuple(commit.short for commit in each.commits)
            before = each.before.short if each.before else None
            days.append(LearnedThatDay(each.day, commits, before, learned))
    if not changed_days:
        text = f"nothing was committed since {since if behind else start.isoformat()}"
        text += f"; the newest commit is from {newest.day}"
        notices.append(Reason(NOTHING, text, f"memcli changes --since {newest.day}"))
    if until is None and (left := _uncommitted(workspace, repository, newest)):
        are = "changed file is" if left == 1 else "changed files are"
        text = f"{left} {are} not committed and not listed"
        notices.append(Reason("uncommitted", text, "git status --short"))
    first = start.isoformat()
    if behind:
        first = changed_days[-1].day if changed_days else newest.day
    return ChangeList(first, newest.day, tuple(days), (), "git", tuple(notices))


def _uncommitted(workspace: Workspace, repository: Repository, head: Commit) -> int:
    """Count the documents that are not as the newest commit has them.

    A file of the same size that is older than the commit is not read.
    """
    settings = workspace.index_settings()
    root = settings.sources[0].root
    inside = tuple(s for s in settings.sources if f"{s.root}/".startswith(os.path.join(root, "")))
    settings = settings._replace(sources=inside)
    state = repository.files_if_any(head)
    committed = settings._replace(files=state)
    here, there = listing_of(settings), listing_of(committed) if state else Listing((), (), ())
    now, was = ({(file.source, file.path): file for file in each.files} for each in (here, there))
    for skip in (*here.skips, *there.skips):  # such as a file of Git LFS
        now.pop((skip.source, skip.path), None)
        was.pop((skip.source, skip.path), None)
    moment = head.moment.timestamp() * 1e9

    def is_same(name: Name) -> bool:
        if now[name].size == was[name].size and now[name].mtime_ns < moment:
            return True
        one, other = (read(each, *name) for each in (settings, committed))
        if isinstance(one, Skip) or isinstance(other, Skip):
            return True
        return one.text.replace("\r\n", "\n") == other.text.replace("\r\n", "\n")

    return len(now.keys() ^ was.keys()) + sum(not is_same(n) for n in now.keys() & was.keys())


def _last_commit(git: Git, until: str | None, workspace: Workspace, now: datetime) -> Commit:
    if until is None:
        return head_of(git)
    try:
        return commit_meant(git, until, workspace, now)[0]
    except NotFoundError as error:
        hint = error.hint.replace("--as-of", "memcli changes --until")
        raise NotFoundError(error.message, hint=hint) from error


def _a_week_before(day: date, now: datetime) -> date:
    """Go back by DAYS from a day, or from today if the day is in the future."""
    day = min(day, now.date())
    return day - timedelta(days=min(DAYS, day.toordinal() - 1))


def _of_day(
    workspace: Workspace, repository: Repository, day: DayOfCommits, request: ChangeSpan
) -> tuple[DayChanges, list[Reason]]:
    settings = workspace.index_settings()
    after = repository.files_if_any(day.commits[0])
    before = repository.files_if_any(day.before) if day.before else None
    if after is None and before is None:
        return DayChanges((), ()), []
    notices: list[Reason] = []
    try:
        names = list(after.differing(before)) if after else list(before.differing(None))  # type: ignore[union-attr]
    except OSError as error:
        return DayChanges((), ()), [_unread(f"the state of {day.day}", str(error.strerror))]
    sides = []
    for files in (before, after):
        by_name: dict[Name, Sequence[MemoryPassage]] = {}
        if files is not None:
            of_state = settings._replace(files=files)
            for name in _documents(files, of_state, names):
                file = read(of_state, *name)
                if not isinstance(file, Skip):
                    if not (request.hides_private and workspace.is_private(file)):
                        full = request.before + name[0], name[1]
                        by_name[full] = differences.passages(full, file.text)
                elif file.detail != NO_FILE and len(notices) < NAMED:
                    notices.append(_unread(f"{shown(*name)} of {day.day}", file.detail))
        sides.append(by_name)
    return differences.compare(*sides), notices


def _unread(what: str, why: str) -> Reason:
    return Reason("unread", f"{what} is left out: {why}")


def _documents(files: CommitFiles, settings: Settings, paths: Sequence[str]) -> Iterator[Name]:
    """Name the documents among some files, each with the innermost source that contains it."""
    root = settings.sources[0].root
    rules: list[tuple[str, str, Rules]] = []
    for source in sorted(settings.sources, key=lambda each: -len(each.root)):
        below = os.path.relpath(source.root, root).replace(os.sep, "/")
        if below.startswith(".."):
            continue
        prefix = "" if below == "." else f"{below}/"
        try:
            rules.append((source.name, prefix, load_rules(source, at=files)))
        except OSError:  # without the ignore file, no document is shown
            rules.append((source.name, prefix, Rules(source._replace(include=()))))
    for path in paths:
        for name, prefix, rule in rules:
            if path.startswith(prefix) and rule.accepts(path.removeprefix(prefix)):
                yield name, path.removeprefix(prefix)
                break


def _by_logs(memory: Workspaces, request: ChangeSpan) -> ChangeList:
    """Count the lines of dated logs as new on those days."""
    since, until, now, by, hides, before = request
    workspace, settings = memory.lead, memory.index_settings()
    end = day_named(until, workspace, now)
    start = day_named(since, workspace, now, is_first=True)
    last = end or now.date()
    first = start or _a_week_before(last, now)
    if (since is not None and start is None) or (until is not None and end is None):
        raise UsageError(
            f"{_no_repository(memory)}, so only days can be compared",
            hint="memcli changes --since 2026-02-01",
        )
    if first > last and until is not None:
        raise UsageError(
            f"the span from {first} to {last} ends before it begins",
            hint=f"memcli changes --since {last}",
        )
    by_day: dict[str, list[MemoryChange]] = {}
    newest = ""
    logs = (
        _logs_of_files(settings)
        if workspace.has_files
        else stored_logs(memory.store, first.isoformat(), last.isoformat())
    )
    date_keys = {source.name: source.date_keys for source in settings.sources}
    for name, metadata, file in logs:
        if by and metadata.get("source_kind") != by:
            continue
        days, stamped = document_days(metadata, name[1], date_keys.get(name[0], DATE_KEYS))
        if not days or stamped or days[1] > last.isoformat():
            continue
        if hides and workspace.is_private(file):
            continue
        newest = max(newest, days[1])
        if days[1] >= first.isoformat():
            new = differences.passages((before + name[0], name[1]), file.text)
            by_day.setdefault(days[1], []).extend(
                MemoryChange(differences.ADDED, None, each) for each in new
            )
    result = tuple(
        LearnedThatDay(day, (), None, DayChanges((), tuple(by_day[day])))
        for day in sorted(by_day, reverse=True)
    )
    text = f"{_no_repository(memory)}: showing dated notes"
    notices = [] if by else [Reason("logs", text)]
    if newest and not result:
        span = f"{first} to {last}" if first <= last else f"{first}, which is in the future"
        text = f"no note has a date from {span}; the newest one before is {newest}"
        notices.append(Reason(NOTHING, text, f"memcli changes --since {newest}"))
    elif not result:
        writer = f" of the {by}" if by else ""
        text = f"no note{writer} here has a date up to {last}"
        notices.append(Reason(NOTHING, text, "memcli help changes"))
    return ChangeList(first.isoformat(), last.isoformat(), result, (), "logs", tuple(notices))


def _logs_of_files(settings: Settings) -> Iterator[tuple[Name, Mapping[str, Any], FileText]]:
    for stat in listing_of(settings).files:
        file = read(settings, stat.source, stat.path)
        if not isinstance(file, Skip):
            front_matter, _ = split(tuple(file.text.split("\n")))
            yield (stat.source, stat.path), front_matter, file


def _no_repository(memory: Workspaces) -> str:
    if len(memory.opened) > 1:
        return f"the files of {len(memory.opened)} workspaces are not on this machine"
    name = memory.opened[0].config.workspace
    if memory.lead.has_files:
        return f"{name} is not in a git repository"
    return f"the git repository of {name} is not on this machine"


LEAST_STEM = 4  # letters that a word needs to match a longer word that begins with it


class RankedChange(Record):
    """A change, and the share of the question's words in it."""

    day: str
    change: MemoryChange
    score: float  # 0 to 1


def ranked_by(text: str, each: Sequence[tuple[str, MemoryChange]]) -> tuple[RankedChange, ...]:
    """Order the changes by their share of the question's words, weighted by IDF."""
    query_words = content(text)
    weights = idf(change.text for _, change in each)
    most = max(weights.values(), default=1.0)
    by_word = {word: weights.get(word, most) for word in query_words}
    whole = fsum(by_word.values()) or 1.0
    ranked = []
    for day, change in each:
        change_words = content(f"{' '.join(change.place.headings)} {change.text}")
        shared = fsum(weight for word, weight in by_word.items() if _holds(change_words, word))
        if shared:
            ranked.append(RankedChange(day, change, shared / whole))
    ranked.sort(key=lambda r: (r.change.place.name, r.change.place.start_line))
    ranked.sort(key=lambda r: (r.score, r.day), reverse=True)
    return tuple(ranked)


def _holds(known: set[str], word: str) -> bool:
    if word in known:
        return True
    return any(
        min(len(word), len(each)) >= LEAST_STEM and (each.startswith(word) or word.startswith(each))
        for each in known
    )
