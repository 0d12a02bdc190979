"""A workspace as it was at a commit of its repository; read-only.

Documents come from the repository, settings from the `memcli.toml` of that commit. memcli searches
a separate index next to the workspace's own. It starts as a copy of that index, and both share the
vectors of the user, so only private texts and those with a secret may be embedded twice. Each such
index belongs to one tree and one set of settings, so it is never out of date. The last four are
kept.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, date, datetime, time

from memcli.api.sync import Job, Vectors, sync
from memcli.api.workspace import Workspace, local
from memcli.api.workspaces import Selection, Workspaces
from memcli.checking import TYPE_CHECKING, Any
from memcli.config import settings as configured
from memcli.config.bounds import MOST_BYTES
from memcli.config.settings import Config
from memcli.dates.find import parse_date
from memcli.digests import sha256
from memcli.errors import (
    ConfigError,
    DamagedError,
    IncompleteError,
    IndexMissingError,
    NotFoundError,
    Reason,
)
from memcli.history.commits import Commit, commit_at, commit_named
from memcli.history.git import BrokenObjectError, Git, repository_of
from memcli.history.side_indexes import SideIndex, SideState
from memcli.history.tree import CommitFiles
from memcli.indexing.freshness import NOTICES, WAIT_SECONDS, Freshness
from memcli.markdown import CHUNKER_VERSION
from memcli.record import Record
from memcli.store.open import VECTORS
from memcli.types import AS_OF, EMPTY, shown

if TYPE_CHECKING:
    from memcli.indexing.indexer import Report
    from memcli.store.port import Sleep, Store


class PastState(Record):
    """The past state of a workspace."""

    commit: Commit
    moment: datetime  # the moment of questions that name none
    git: Git
    files: CommitFiles
    side: SideIndex
    now: Workspace  # the workspace as it is today
    left_out: tuple[Reason, ...]  # sources outside the repository

    def reason(self, store: Store | None = None) -> Reason:
        """Return the notice that names the state."""
        return Reason(AS_OF, f"as of {self.commit.short} ({self.commit.day})")

    def close(self) -> None:
        """Close the repository and the workspace as it is today."""
        self.git.close()
        self.now.close()

    def freshness(self, workspace: Workspace, *, sync: bool | None) -> Freshness:
        """Build the separate index if it is missing; `sync` False leaves that to another run."""
        setting, reason = workspace.config, self.reason()
        wants_vectors = (
            setting("search.mode") != "keyword" and setting("embedding.encoder") != "none"
        )
        made = self.side.made()
        if sync is False and made is None:
            raise IndexMissingError(
                f"the memory {reason.text} is not indexed, and no index may be made",
                hint=f"memcli search QUERY --as-of {self.commit.short}",
            )
        # A missing file may be readable later, because git fetches and repairs objects.
        is_whole = made and not made.notices and (made.is_embedded or not wants_vectors)
        if made is None or not (is_whole or sync is False):
            made = _make(self, workspace, wants_vectors=wants_vectors)
        self.side.touch()
        try:
            state = _state(workspace.store)
        except (DamagedError, IncompleteError):
            made = _make(self, workspace, wants_vectors=wants_vectors)
            state = _state(workspace.store)
        notices = (*self.left_out, *(Reason(*each) for each in made.notices))
        return Freshness(state, 0, reason, notices)


def _state(store: Store) -> str:
    with store.snapshot() as snapshot:
        return AS_OF if snapshot.counts().documents else EMPTY


def _make(past: PastState, workspace: Workspace, *, wants_vectors: bool) -> SideState:
    """Build the separate index, or continue an interrupted build."""
    sleep = workspace.clock.sleep
    if not past.now.store.exists():  # the past state uses its vectors too
        from memcli.api.ask import bring_up_to_date

        bring_up_to_date(Workspaces(past.now), None, workspace.config("search.mode"), sync=None)
    past.side.begin(past.now.store, WAIT_SECONDS, sleep)
    job = Job(texts=None if wants_vectors else 0)
    done = sync(workspace, job, Vectors(workspace, workspace.on_progress))
    _drop_unread(workspace.store, done.report, sleep)
    made = SideState(is_embedded=wants_vectors and not done.pending, notices=_notices(done.report))
    past.side.finish(made)
    return made


def _drop_unread(store: Store, report: Report, sleep: Sleep) -> None:
    """Remove files from the copy that the commit cannot read: their text is from another day."""
    unread = {(s.source, s.path) for s in report.skips if s.reason == "unreadable"}
    if not unread:
        return
    with store.change(wait_seconds=WAIT_SECONDS, sleep=sleep) as change:
        for key in sorted(unread & change.known().keys()):
            change.remove(key)


def _notices(report: Report) -> tuple[tuple[str, str], ...]:
    """List what is missing from the commit."""
    unread = [skip for skip in report.skips if skip.reason == "unreadable"]
    skipped = [(f"{shown(s.source, s.path or '.')}", s.detail) for s in (*report.unlisted, *unread)]
    lines = [("unread", f"{name} is left out: {why}") for name, why in skipped]
    if len(lines) > NOTICES:
        return (*lines[:NOTICES], ("unread", f"{len(lines) - NOTICES} more are left out"))
    return tuple(lines)


def open_as_of(selected: Selection, folder: str | None) -> Workspaces:
    """Open a workspace as it was at the end of a day, or at a commit.

    A day is written as for `--until`, relative to `now`; a commit by any name that git knows.
    UsageError without git or a repository, NotFoundError if there is no such commit.
    """
    settings, environ, clock = selected.settings, selected.environ, selected.clock
    today = selected.open(folder)
    root = today.config.workspace
    named, top = repository_of(root)
    git = Git(named, environ)
    try:
        commit, moment = commit_meant(git, selected.as_of or "", today, selected.now)
        files = Repository(git, root, top, environ).files(commit)
        config, left_out = _settled(today.config, files, commit, environ, settings)
    except BaseException:
        git.close()
        raise
    vectors = os.path.join(configured.cache_folder(environ), VECTORS)
    side = SideIndex(today.store.state_path, _key(config, files.tree), clock.now_ns, vectors)
    past = PastState(commit, moment, git, files, side, today, left_out)
    return Workspaces(Workspace(config, side.store, environ=environ, clock=clock, state=past))


def commit_meant(
    git: Git, when: str, today: Workspace, now: datetime | None
) -> tuple[Commit, datetime]:
    """Find the commit and its moment."""
    day = day_named(when, today, now)
    if day is None:
        commit = commit_named(git, when)
        return commit, commit.moment
    end = datetime.combine(day, time(23, 59, 59), tzinfo=now.tzinfo if now else None)
    end = end if end.tzinfo else local(end)
    end = end if end.tzinfo else end.replace(tzinfo=UTC)  # beyond the ends of the calendar
    return commit_at(git, end), end


def day_named(
    when: str | None, workspace: Workspace, now: datetime | None, *, is_first: bool = False
) -> date | None:
    """Read a date as its last day, or as its first; None if it is not a date."""
    try:
        span = parse_date(
            when or "",
            (now or workspace.moment()).date(),
            day_first=workspace.config("search.date_order") == "dmy",
        )
    except ValueError:
        return None
    day = span.start if is_first else span.end
    return date.fromisoformat(day) if day else None


class Repository(Record):
    """The repository of a workspace."""

    git: Git
    root: str  # folder of the workspace
    top: str  # folder of the repository
    environ: Mapping[str, str]

    def files(self, commit: Commit) -> CommitFiles:
        """Return the files of the workspace in a commit; NotFoundError if it has no such folder."""
        return CommitFiles(self.git, self._tree(commit), self.root, self._submodule)

    def files_if_any(self, commit: Commit) -> CommitFiles | None:
        """Return the files of the workspace in a commit; None if it did not exist yet."""
        with suppress(NotFoundError):
            return self.files(commit)
        return None

    def _tree(self, commit: Commit) -> str:
        below = os.path.relpath(self.root, self.top).replace(os.sep, "/")
        if below == ".":
            return commit.tree
        with suppress(BrokenObjectError):
            tree = self.git.info(f"{commit.oid}:{below}")
            if tree is not None and tree.kind == "tree":
                return tree.oid
        raise NotFoundError(
            f"{below} is not a folder of the repository as of {commit.short} ({commit.day})",
            hint="git log --oneline -- .",
        )

    def _submodule(self, path: str) -> Git | None:
        """Open the repository of a submodule by its path in the workspace."""
        named = os.path.join(self.root, path, ".git")
        return Git(named, self.environ) if os.path.lexists(named) else None


def _settled(
    today: Config,
    files: CommitFiles,
    commit: Commit,
    environ: Mapping[str, str],
    flags: Mapping[str, Any],
) -> tuple[Config, tuple[Reason, ...]]:
    """Read the configuration of the commit; sources from elsewhere have no commit."""
    name, root = configured.WORKSPACE_FILE, today.workspace
    try:
        own = files.file(name, MOST_BYTES) or b""
        config = configured.load(root, environ, flags, by=today.by, own=own)
    except ConfigError as error:
        text = f"as of {commit.short} ({commit.day}): {error.message}"
        raise ConfigError(text, hint="git log --oneline -- memcli.toml") from None
    except (OSError, BrokenObjectError) as error:
        raise ConfigError(
            f"{name} as of {commit.short} cannot be read: {error}", hint="git fsck"
        ) from None
    config = config.having({"terminal.hyperlink": "none"})
    inside = tuple(s for s in config.sources if f"{s.root}/".startswith(os.path.join(root, "")))
    outside = [source.name for source in config.sources if source not in inside]
    text = f"{', '.join(outside)}: not part of this repository, and left out"
    left_out = (Reason("outside", text),) if outside else ()
    return config._replace(sources=inside), left_out


def _key(config: Config, tree: str) -> str:
    """Name a state by everything that its index depends on."""
    made_by = ("embedding.", "onnx.", "openai.", "chunk.", "files.", "secrets")
    values = sorted((n, repr(v.value)) for n, v in config.values.items() if n.startswith(made_by))
    text = repr((CHUNKER_VERSION, tree, config.sources, values))
    return sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:20]
