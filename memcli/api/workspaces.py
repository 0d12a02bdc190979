"""One workspace, or several that answer as one; every method of `Memory` uses it.

If there are several, each keeps its settings for reading files; those of the lead apply to a
question. `store.union` merges their ranks and hides private notes of each. If one of them fails,
the others answer, and the freshness names it.
"""

from __future__ import annotations

import os
from _thread import allocate_lock as Lock
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import partial, wraps

from memcli.api.workspace import SYSTEM_CLOCK, Clock, Workspace, current_folder, encoder_settings
from memcli.checking import TYPE_CHECKING, Any
from memcli.config import settings
from memcli.config.keys import nearest
from memcli.config.settings import Config
from memcli.embedding.encoders import IndexModel
from memcli.errors import (
    AwayError,
    BusyError,
    DamagedError,
    IndexMissingError,
    MemcliError,
    NotFoundError,
    Reason,
    StoreError,
    UsageError,
    error_of,
    quote,
)
from memcli.record import Record
from memcli.store.open import open_store, shared_name
from memcli.types import FAILED, FileText
from memcli.workspace.locate import ENV_NAME, holds_markdown, locate

if TYPE_CHECKING:
    from typing import Concatenate, ParamSpec, TypeVar

    from memcli.api.targets import Target
    from memcli.api.workspace import EncoderSource
    from memcli.indexing.freshness import Freshness
    from memcli.indexing.indexer import Progress
    from memcli.indexing.planning import Settings
    from memcli.store.port import SharedIndex, Snapshot, Store
    from memcli.store.union import UnionStore

    Made = TypeVar("Made")
    Others = ParamSpec("Others")


NOT_SHARED = Reason(
    "transcripts",
    "past transcripts are left out, because memcli never stores them in a shared index",
    "memcli help agent-memory",
)


class Selection(Record):
    """The workspaces to open, and their state."""

    folders: tuple[str, ...] = ()  # paths or @names; none: that of the current folder
    everywhere: bool = False  # all that have a name
    with_shared: bool = True  # `everywhere`: also those of the shared index, if one is configured
    as_of: str | None = None  # a day or a commit
    shared: str | None = None  # the name of a workspace of the shared index
    tenant: str | None = None  # all workspaces of a tenant of the shared index
    here: str | None = None  # replaces the current folder
    anywhere: bool = False  # the folder may be without Markdown files
    may_miss: bool = False  # a missing folder is opened as soon as it exists
    now: datetime | None = None  # the moment for relative days; None: the clock
    settings: Mapping[str, Any] = {}  # they override all others, by name
    environ: Mapping[str, str] = os.environ
    clock: Clock = SYSTEM_CLOCK

    @property
    def are_several(self) -> bool:
        """Return whether the options name several workspaces."""
        return self.everywhere or len(self.folders) > 1

    def open(self, folder: str | None, *, shared: EncoderSource | None = None) -> Workspace:
        """Find a workspace and read its configuration, as every command does.

        The default is MEMCLI_WORKSPACE, then the workspace at or above the current folder, then the
        current folder with the agent memories that belong to it. NotFoundError if there is none,
        unless it may be `anywhere`; ConfigError if a setting cannot be used.
        """
        environ, here = self.environ, self.here or current_folder()
        variable, home = environ.get(ENV_NAME), os.path.expanduser("~")
        place = locate(folder, variable, here, home=home, anywhere=self.anywhere)
        config = settings.load(place.root, environ, self.settings, by=place.by)
        is_known = config.is_marked or self.anywhere or bool(config.sources[1:])
        if not (is_known or holds_markdown(place.root)):
            raise NotFoundError(
                f"no workspace at or above {place.root}, and no Markdown files below it",
                hint="memcli init",
            )
        if any(source.is_transcripts for source in config.sources) and shared_name(config, environ):
            config = config._replace(
                sources=tuple(source for source in config.sources if not source.is_transcripts),
                passed=(*config.passed, NOT_SHARED),
            )
        store = open_store(config, environ, self.clock.now_ns)
        return Workspace(config, store, environ=environ, clock=self.clock, shared=shared)

    def check(self) -> None:
        """Raise UsageError if options cannot be combined."""
        others = (self.folders, self.everywhere, self.as_of is not None)
        if self.shared is not None and (any(others) or self.tenant is not None):
            raise UsageError(
                f"{self.shared} is a workspace of the shared index, which cannot be combined with"
                " folders, a tenant or an earlier state",
                hint=f"--workspace-name {self.shared}",
            )
        if self.tenant is not None and any(others):
            raise UsageError(
                f"the workspaces of the tenant {self.tenant} cannot be combined with folders or an"
                " earlier state",
                hint=f"--tenant {self.tenant}",
            )
        if self.are_several and self.as_of is not None:
            raise UsageError(
                "an earlier state belongs to one workspace, and there are several",
                hint="memcli search QUERY -w FOLDER --as-of DATE",
            )


class NamedWorkspace(Record):
    """One of several workspaces."""

    name: str
    folder: str
    workspace: Workspace | None  # None: it cannot be opened
    reason: Reason = Reason("not-found", "it cannot be opened")

    def require(self) -> Workspace:
        """Return the workspace, or raise the error that says why it cannot be opened."""
        if self.workspace is None:
            raise error_of(self.reason._replace(text=f"{self.name}: {self.reason.text}"))
        return self.workspace


class DocumentOwner(Record):
    """The workspace of a document, and the document's name there."""

    workspace: Workspace
    target: str  # the name of the document in it
    before: str  # the prefix of its source if several workspaces are searched; "" for one
    is_own: bool  # the workspace that asks: only its private notes may be shown

    def read(self, here: str | None) -> tuple[Target, FileText]:
        """Find and read the document; NotFoundError if it is private to another workspace.

        Relative paths start at `here`.
        """
        place, file = self.workspace.find(self.target, here)
        if self.is_own or not self.workspace.is_private(file):
            return place, file
        option = "-w" if self.workspace.has_files else "--workspace-name"
        name = quote(self.workspace.config.workspace)
        raise NotFoundError(
            f"{self.before}{place.name} is private, and only its own workspace may read it",
            hint=f"memcli get {quote(place.name)} {option} {name}",
        )


class Workspaces:
    """One workspace, or several that answer as one. Threads may share it."""

    def __init__(
        self,
        lead: Workspace,
        members: Sequence[NamedWorkspace] = (),
        *,
        config: Config | None = None,
        store: Store | UnionStore | None = None,
        has_own: bool = True,
        named_by: str = "",
        shared_index: SharedIndex | None = None,
    ) -> None:
        """Take a workspace; `join_workspaces` joins several.

        The settings of the lead apply to a question. `members` are several by their names, the
        primary one first, including those that cannot be opened; `config` has the sources of all by
        their full names, and `store` answers for all. Without `has_own` none of them is primary: no
        private notes are shown. `named_by` are the options that name them in a command, and
        `shared_index` is that of members without files.
        """
        self.lead, self.members = lead, members
        self.config: Config = config or lead.config
        self.store: Store | UnionStore = store or lead.store
        self.has_own, self.named_by, self.shared_index = has_own, named_by, shared_index
        self.clock, self.environ = lead.clock, lead.environ

    @property
    def opened(self) -> Sequence[Workspace]:
        """Return every workspace that could be opened."""
        opened = [each.workspace for each in self.members if each.workspace]
        return opened or [self.lead]

    def alone(self) -> Workspace:
        """Return the one workspace; UsageError if there are several."""
        if self.members:
            names = ", ".join(each.name for each in self.members)
            raise UsageError(
                f"this works on one workspace, but several are open: {names}", hint="-w FOLDER"
            )
        return self.lead

    def moment(self) -> datetime:
        """Return the moment of questions that name none."""
        return self.lead.moment()

    def provenance(self) -> Reason | None:
        """Describe the past or stored state that is read; None for files, and for several."""
        return None if self.members else self.lead.provenance()

    def index_settings(self) -> Settings:
        """Return the settings for reading documents."""
        settings = self.lead.index_settings()
        return settings._replace(sources=self.config.sources) if self.members else settings

    def index_model(self) -> IndexModel:
        """Read which model made the index, or the first of several indexes that can be read."""
        if not self.members:
            return self.lead.index_model()
        for each in self.opened:
            with suppress(BusyError, AwayError):
                own = each.index_model()
                if own.fingerprint:
                    return own
        return IndexModel(None, None)

    def by_model(self, snapshot: Snapshot) -> Sequence[tuple[tuple[str, ...], Workspace, Snapshot]]:
        """Group the workspaces by the model of their vectors; those without vectors come first.

        Returns the names of each group, the workspace that opens its model, and the snapshot to
        search. The lead opens the model of the first workspace.
        """
        if not self.members:
            return [((), self.lead, snapshot)]
        from memcli.store.union import Union

        parts = snapshot.by_model() if isinstance(snapshot, Union) else []
        opened = {each.name: each.workspace for each in self.members if each.workspace}
        opened[next(iter(opened))] = self.lead
        return [(names, opened[names[0]], part) for names, part in parts]

    def owner_of(self, target: str) -> DocumentOwner:
        """Return the workspace of a document: the one in `name:path`, or else the first."""
        from memcli.api.targets import bare

        is_named = any(target.startswith(f"{each.name}:") for each in self.members)
        name, colon, rest = (target if is_named else bare(target)).partition(":")
        if not self.members:
            # A citation of an answer from several workspaces of a shared index begins with a name.
            is_stored = not self.lead.has_files and name == self.config.workspace
            return DocumentOwner(self.lead, rest if colon and is_stored else target, "", True)
        for number, each in enumerate(self.members):
            if colon and each.name == name:
                is_own = self.has_own and number == 0
                return DocumentOwner(each.require(), rest, f"{name}:", is_own)
        first = next(each for each in self.members if each.workspace)
        return DocumentOwner(first.require(), target, f"{first.name}:", self.has_own)

    def only(self, name: str) -> Workspaces:
        """Return one workspace, still with its name; both share an open encoder.

        UsageError for an unknown name; for a workspace that cannot be opened, the reason.
        """
        if not self.members:
            raise UsageError(
                f"only {self.config.workspace} is open, so there is nothing to choose",
                hint="use this memory as it is, or open several workspaces",
            )
        own = next((each for each in self.members if each.name == name), None)
        if own is None:
            names = [each.name for each in self.members]
            raise UsageError(
                f"no workspace here is called {name!r}; the names are {', '.join(names)}",
                hint=nearest(name, names),
            )
        workspace = own.require()
        if encoder_settings(workspace.config) == encoder_settings(self.config):
            workspace = workspace.sharing_encoder(self.lead)
        # Searched by itself, it is an ordinary workspace.
        return join_workspaces(
            [own],
            shared_index=self.shared_index,
            has_own=self.has_own and own is self.members[0],
            named_by=f"-w {quote(own.folder)}",
            lead=workspace,
        )

    def having(self, change: Callable[[Config], Config]) -> Workspaces:
        """Return the same workspaces with changed settings."""

        def changed(workspace: Workspace) -> Workspace:
            return workspace.having(config=change(workspace.config))

        return Workspaces(
            changed(self.lead),
            [m._replace(workspace=m.workspace and changed(m.workspace)) for m in self.members],
            config=change(self.config),
            store=self.store,
            has_own=self.has_own,
            named_by=self.named_by,
            shared_index=self.shared_index,
        )

    def without_failed(self, freshness: Freshness) -> Workspaces:
        """Leave out the workspaces that could not be updated: memcli does not wait again."""
        failed = {s.name: s.reason for s in freshness.workspaces if s.state == FAILED and s.reason}
        return (self._without(failed) if failed else None) or self

    def _with_local(self, names: Sequence[str], error: MemcliError) -> Workspaces | None:
        """Let the indexes of this machine answer for some workspaces; None if there is none."""
        if not isinstance(error, StoreError):
            return None
        local = {name: each.with_local_index(error) for name, each in self._named(names)}
        if not any(local.values()):
            return None
        if not self.members:
            return Workspaces(local[""] or self.lead)
        return self._joined(
            [m._replace(workspace=local.get(m.name) or m.workspace) for m in self.members]
        )

    def _named(self, names: Sequence[str]) -> list[tuple[str, Workspace]]:
        """Return the open workspaces with these names. A single workspace is named ""."""
        if not self.members:
            return [("", self.lead)]
        there = ((each.name, each.workspace) for each in self.members)
        return [(name, workspace) for name, workspace in there if workspace and name in names]

    def _without(self, failed: Mapping[str, Reason]) -> Workspaces | None:
        """Leave out some workspaces, with the reasons; None if no other can answer."""

        def left(each: NamedWorkspace) -> NamedWorkspace:
            workspace, why = each.workspace, failed.get(each.name)
            if workspace is None or why is None:
                return each
            reason = for_folder(why, each.folder) if workspace.has_files else why
            return each._replace(workspace=None, reason=reason)

        members = [left(each) for each in self.members]
        return self._joined(members) if any(each.workspace for each in members) else None

    def _joined(self, members: Sequence[NamedWorkspace]) -> Workspaces:
        """Join the same workspaces in another state; the settings of a question stay."""
        made = join_workspaces(
            members, shared_index=self.shared_index, named_by=self.named_by, lead=self.lead
        )
        made.config = self.config
        return made

    def with_fallback(self, make: Callable[[Workspaces], Made], *, mends: bool) -> Made:
        """Answer a question; if an index fails, another one or the other workspaces answer.

        If the server of an index becomes unreachable, it asks once more, perhaps another configured
        server. If none answers, it asks the local index of the same files. With `mends`, it builds
        a damaged index again.
        """
        current, may_ask_again = self, True
        rebuilt: set[str] = set()
        cause: MemcliError | None = None
        try:
            while True:
                try:
                    return make(current)
                except IndexMissingError:
                    if cause is None or current is self or self.members:
                        raise
                    raise cause from None  # do not build it now: only the server is missing
                except Exception as error:  # `_failure` raises what is no failure of an index
                    names, cause = current._failure(error)
                if may_ask_again and isinstance(cause, AwayError) and cause.was_there:
                    may_ask_again = False
                    continue
                if mends and isinstance(cause, DamagedError) and not rebuilt.issuperset(names):
                    rebuilt.update(names)
                    if all(each.start_over(cause) for _, each in current._named(names)):
                        continue
                others = current._with_local(names, cause)
                others = others or current._without(dict.fromkeys(names, cause.reason))
                if others is None:
                    raise cause
                current = others
        finally:
            for each in current.opened:
                if each.fallback_reason:
                    each.store.close()

    def _failure(self, error: Exception) -> tuple[Sequence[str], MemcliError]:
        """Return the names of the workspaces whose index failed, and why; raise other errors."""
        if not self.members:
            if isinstance(error, StoreError):
                return [""], error
            raise error
        from memcli.store.qualified_names import FailedStoreError

        if isinstance(error, FailedStoreError):
            return error.names, error.cause
        raise error

    @contextmanager
    def showing(self, progress: Progress) -> Iterator[None]:
        """Show the progress of index updates: of each stage, the sum over all workspaces.

        Each workspace may have its own thread; `progress` is called by one at a time.
        """
        before = [(each, each.on_progress) for each in self.opened]
        counts: dict[str, dict[int, tuple[int, int]]] = {}
        guard = Lock()

        def add(at: int, stage: str, done: int, total: int) -> None:
            with guard:
                of_stage = counts.setdefault(stage, {})
                of_stage[at] = done, total
                progress(stage, *map(sum, zip(*of_stage.values(), strict=True)))

        for at, (each, _) in enumerate(before):
            each.on_progress = partial(add, at)
        try:
            yield
        finally:
            for each, own in before:
                each.on_progress = own

    def close(self) -> None:
        """Close indexes and models; a later question opens them again."""
        for each in dict.fromkeys([self.lead, *self.opened]):
            each.close()
        if self.members:
            self.store.close()


def has_fallback(
    make: Callable[Concatenate[Workspaces, Others], Made],
) -> Callable[Concatenate[Workspaces, Others], Made]:
    """Let a function answer by `Workspaces.with_fallback`; with `sync` False, it mends nothing."""

    @wraps(make)
    def answer(workspaces: Workspaces, /, *others: Others.args, **named: Others.kwargs) -> Made:
        mends = named.get("sync") is not False
        return workspaces.with_fallback(lambda each: make(each, *others, **named), mends=mends)

    return answer


def join_workspaces(
    members: Sequence[NamedWorkspace],
    *,
    shared_index: SharedIndex | None = None,
    has_own: bool = True,
    named_by: str = "",
    lead: Workspace | None = None,
) -> Workspaces:
    """Join workspaces, the primary one first; at least one can be opened.

    Those without files come from a shared index, and last; none of them is primary. The default
    `lead` is the first that can be opened.
    """
    from memcli.store.union import UnionStore

    there = [(each.name, each.workspace) for each in members if each.workspace]
    name, first = there[0]
    shared_names = [name for name, workspace in there if not workspace.has_files]
    shared_index = shared_index if shared_names else None
    # No other workspace becomes primary: its private notes would be shown.
    has_own = has_own and members[0].name == name and first.has_files
    store = UnionStore(
        [(name, workspace.store) for name, workspace in there if workspace.has_files],
        has_own=has_own,
        shared_index=shared_index,
        shared_names=shared_names,
    )
    return Workspaces(
        lead or first,
        members,
        config=_config_of(there),
        store=store,
        has_own=has_own,
        named_by=named_by,
        shared_index=shared_index,
    )


def _config_of(there: Sequence[tuple[str, Workspace]]) -> Config:
    """Return the settings of the first, with the sources of all by their full names."""
    sources = tuple(
        source._replace(name=f"{name}:{source.name}")
        for name, workspace in there
        for source in workspace.config.sources
    )
    passed = tuple(
        reason._replace(text=f"{name}: {reason.text}")
        for name, workspace in there
        for reason in workspace.config.passed
    )
    return there[0][1].config._replace(sources=sources, passed=passed)


def for_folder(reason: Reason, folder: str) -> Reason:
    """Add the workspace to a hint."""
    from memcli.render.reasons import for_workspace

    return reason._replace(hint=for_workspace(reason.hint, folder))
