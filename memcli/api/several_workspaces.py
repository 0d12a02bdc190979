"""Open several workspaces as one, and share equal encoders.

The primary workspace is that of the current folder, or else the first one. Its settings apply to
the question, and it wins ties. Every other workspace keeps the settings for reading its files.
"""

from __future__ import annotations

import os
from _thread import allocate_lock as Lock
from collections.abc import Callable, Collection, Mapping, Sequence
from shlex import quote

from memcli.api.workspace import LOCAL_FALLBACK, Workspace, current_folder
from memcli.api.workspaces import NamedWorkspace, Selection, Workspaces, for_folder, join_workspaces
from memcli.checking import TYPE_CHECKING, Any
from memcli.config.settings import user_file
from memcli.config.workspaces import SIGN, folder_of_name, named_workspaces
from memcli.embedding.encoders import OpenedEncoder
from memcli.errors import (
    ConfigError,
    IndexMissingError,
    MemcliError,
    Reason,
    StoreError,
    UsageError,
    error_of,
)
from memcli.indexing.freshness import Freshness
from memcli.record import Record
from memcli.store.qualified_names import FailedStoreError
from memcli.threads import side_by_side
from memcli.types import EMPTY, FAILED, NOT_INDEXED, OUT_OF_DATE, REMOTE, UP_TO_DATE
from memcli.workspace.locate import ENV_NAME, locate

if TYPE_CHECKING:
    from typing import TypeVar

    from memcli.api.status import WorkspaceStatus
    from memcli.api.sync import IndexRun

    Made = TypeVar("Made")


def open_several(selected: Selection) -> Workspaces:
    """Open workspaces by folder or @name; `everywhere` adds all that have a name.

    A workspace that cannot be opened is left out and named, if another can be opened. The primary
    one is that of MEMCLI_WORKSPACE, of `here`, or of the current folder. NotFoundError if a folder
    is missing, unless it `may_miss`: then it is left out, and opened once it exists. UsageError for
    an unknown name.
    """
    named, everywhere, environ = selected.folders, selected.everywhere, selected.environ
    folders = folders_of(named, environ, everywhere=everywhere, may_miss=selected.may_miss)
    guard, encoders = Lock(), dict[object, OpenedEncoder]()

    def shared(key: object, open_: Callable[[], OpenedEncoder]) -> OpenedEncoder:
        with guard:  # workspaces that are configured alike share an encoder
            if key not in encoders:
                encoders[key] = open_()
            return encoders[key]

    def opened(name: str, folder: str) -> NamedWorkspace:
        if not os.path.isdir(folder):
            hint = f"correct [workspaces] in {user_file(environ)}"
            reason = Reason("not-found", f"there is no folder {folder}", hint)
            return NamedWorkspace(name, folder, None, reason)
        try:
            workspace = selected.open(folder, shared=shared)
        except MemcliError as error:
            return NamedWorkspace(name, folder, None, for_folder(error.reason, folder))
        return NamedWorkspace(name, folder, workspace)

    members = [opened(*each) for each in own_first(folders, environ, selected.here)]
    files = [each.workspace.store.state_path for each in members if each.workspace]
    if len(set(files)) < len(files):
        raise ConfigError(
            "store.path is one file, and each of several workspaces needs an index of its own",
            hint="memcli config store.path",
        )
    reasons = [each.reason for each in members if each.workspace is None]
    if len(reasons) == len(members):
        text = f"none of the workspaces can be opened: {reasons[0].text}"
        raise error_of(reasons[0]._replace(text=text))
    options = [f"-w {quote(each)}" for each in named] + ["--everywhere"] * everywhere
    return join_workspaces(members, named_by=" ".join(options))


def folders_of(
    named: Sequence[str], environ: Mapping[str, str], *, everywhere: bool, may_miss: bool = False
) -> dict[str, str]:
    """Return the folder of each workspace by its name, each folder once.

    The errors are those of `open_several`. A named folder `may_miss`.
    """
    known = named_workspaces(environ)
    if everywhere and not known:
        raise UsageError(
            "no workspace has a name, so there is nothing to search everywhere",
            hint="memcli help workspaces",
        )
    cwd = current_folder()
    listed = [
        (each.removeprefix(SIGN), folder_of_name(each, environ))
        if each.startswith(SIGN)
        else ("", _located(each, cwd, may_miss=may_miss))
        for each in named
    ]
    listed += known.items() if everywhere else ()
    folders = {*known.values(), *(folder for _, folder in listed)}
    real_of = {folder: os.path.realpath(folder) for folder in folders}
    names = {real_of[folder]: name for name, folder in reversed(known.items())}
    by_name: dict[str, str] = {}
    for name, folder in listed:
        real = real_of[folder]
        if real not in by_name.values():
            proposed = name or names.get(real) or _name_of(real)
            used = {*by_name, *known} - {name, names.get(real, "")}
            by_name[_free(proposed, used)] = real
    return by_name


def _located(named: str, cwd: str | None, *, may_miss: bool) -> str:
    whole = os.path.abspath(os.path.join(cwd or os.sep, os.path.expanduser(named)))
    if may_miss and not os.path.exists(whole):
        return whole
    return locate(named, None, cwd).root


def _name_of(folder: str) -> str:
    """Make a name of the last part of a path."""
    name = "".join(c if c.isalnum() or c in "_.-" else "-" for c in os.path.basename(folder))
    return name.strip(".-") or "workspace"


def _free(name: str, used: Collection[str]) -> str:
    """Return an unused name: notes, notes-2, notes-3."""
    numbered = (f"{name}-{number}" if number > 1 else name for number in range(1, len(used) + 2))
    return next(each for each in numbered if each not in used)


def own_first(
    folders: Mapping[str, str], environ: Mapping[str, str], here: str | None
) -> list[tuple[str, str]]:
    """Put the innermost workspace around the current folder first, if there is one."""
    here = os.path.realpath(environ.get(ENV_NAME) or here or current_folder() or os.sep)
    around = [
        folder for folder in folders.values()
        if os.path.join(here, "").startswith(os.path.join(folder, ""))
    ]  # fmt: skip
    own = max(around, key=len, default="")
    return sorted(folders.items(), key=lambda each: each[1] != own)


ANSWERING = (UP_TO_DATE, OUT_OF_DATE, REMOTE)


def update_each(
    members: Sequence[NamedWorkspace], bring_up_to_date: Callable[[Workspace], Freshness]
) -> Freshness:
    """Update each workspace; if one fails, the others answer.

    IndexMissingError if none can answer. FailedStoreError if a server fails and the index of this
    machine can answer instead.
    """
    lost: dict[str, StoreError] = {}
    states = side_by_side(lambda each: _freshness_of(each, bring_up_to_date, lost), members)
    if lost:
        raise FailedStoreError([*lost], next(iter(lost.values())))
    if all(state.state == FAILED for state in states):
        raise IndexMissingError(
            f"none of the workspaces can answer: {'; '.join(map(_line, states))}",
            hint="memcli status --everywhere",
        )
    first = states[0]
    return joined_freshness([first._replace(is_own=first.state != REMOTE), *states[1:]])


def joined_freshness(states: Sequence[Freshness]) -> Freshness:
    """Combine the freshness of several workspaces: what one lacks, the answer lacks."""
    answering = [state for state in states if state.state in ANSWERING]
    waiting = [state for state in states if state.state not in (*ANSWERING, EMPTY)]
    left_out = [
        state.reason._replace(text=f"{_line(state)}; it is left out")
        for state in waiting
        if state.reason
    ]
    if not answering:
        reasons = [*left_out, *(state.reason for state in states if state.reason)]
        state = NOT_INDEXED if waiting else EMPTY
        return Freshness(state, 0, next(iter(reasons), None), (), tuple(states))
    reasons = [
        *_why_out_of_date([s for s in answering if s.reason and s.state != REMOTE]),
        *_why_stored([s for s in answering if s.state == REMOTE]),
    ]
    text = "; ".join(reason.text for reason in reasons)
    there = {state.state for state in answering}
    missing = [state.missing for state in answering if state.missing]
    return Freshness(
        next(state for state in (OUT_OF_DATE, REMOTE, UP_TO_DATE) if state in there),
        sum(state.pending for state in answering),
        reasons[0]._replace(text=text) if reasons else None,
        (*left_out, *(notice for state in states for notice in state.notices)),
        tuple(states),
        missing[0] if len(missing) == 1 else "",
    )


def _why_out_of_date(states: Sequence[Freshness]) -> list[Reason]:
    """Return the reason of the first workspace, with the names of all."""
    reasons = [state.reason for state in states if state.reason]
    if not reasons:
        return []
    names, reason = ", ".join(state.name for state in states), reasons[0]
    is_one_text = len(states) == 1 or reason.code == LOCAL_FALLBACK
    return [reason._replace(text=f"{names}: {reason.text}" if is_one_text else f"in {names}")]


def _why_stored(states: Sequence[Freshness]) -> list[Reason]:
    """Say that some workspaces are read from the shared index."""
    if len(states) > 1:
        text = f"{len(states)} workspaces are searched as the shared index has them"
        return [Reason(REMOTE, text)]
    return [Reason(REMOTE, _line(state)) for state in states]


def _freshness_of(
    member: NamedWorkspace,
    bring_up_to_date: Callable[[Workspace], Freshness],
    lost: dict[str, StoreError],
) -> Freshness:
    """Update one workspace; add it to `lost` if the index of this machine can answer instead."""
    name, folder, workspace, why_not = member
    failed = Freshness(FAILED, 0, why_not, (), name=name, folder=folder)
    if workspace is None:
        return failed
    try:
        freshness = bring_up_to_date(workspace)
    except UsageError:  # the command line is wrong, not a workspace
        raise
    except (MemcliError, OSError) as error:
        if isinstance(error, StoreError) and workspace.store.local_fallback() is not None:
            lost[name] = error
        why = error.reason if isinstance(error, MemcliError) else Reason("system", str(error))
        return failed._replace(reason=for_folder(why, folder))
    notices = (for_folder(notice, folder) for notice in freshness.notices)
    return freshness._replace(
        name=name,
        folder=folder,
        reason=freshness.reason and for_folder(freshness.reason, folder),
        notices=tuple(notice._replace(text=f"{name}: {notice.text}") for notice in notices),
    )


def _line(state: Freshness) -> str:
    return f"{state.name}: {state.reason.text if state.reason else state.state}"


class MemberResult(Record):
    """The status or the run of one of several workspaces, or its error."""

    name: str
    path: str
    primary: bool
    status: WorkspaceStatus | None = None
    index_: IndexRun | None = None
    error: Reason | None = None

    @property
    def json_omits(self) -> list[str]:
        """Name the fields that JSON leaves out."""
        return [name for name in ("status", "index_", "error") if getattr(self, name) is None]


class SeveralResults(Record):
    """The results of several workspaces: `memcli.status-several/1`, `memcli.index-several/1`."""

    schema: str
    workspaces: tuple[MemberResult, ...]

    @property
    def is_behind(self) -> bool:
        """Return whether something is, or may be, missing in the index of any workspace."""
        return any(each.status is None or each.status.is_behind for each in self.workspaces)


def of_each(
    workspaces: Workspaces, what: str, work: Callable[[Workspace], object]
) -> SeveralResults:
    """Work on each workspace; if one fails, the others continue. `what` is a field of a result."""
    results = []
    for number, member in enumerate(workspaces.members):
        made, error = attempt(member, work)
        fields: dict[str, Any] = {what: made, "error": error and error.reason}
        results.append(MemberResult(member.name, member.folder, number == 0, **fields))
    return SeveralResults(f"memcli.{what.rstrip('_')}-several/1", tuple(results))


def attempt(
    member: NamedWorkspace, work: Callable[[Workspace], Made]
) -> tuple[Made | None, MemcliError | None]:
    """Work on a workspace; return the result, or why it cannot be opened or failed."""
    if member.workspace is None:
        return None, error_of(member.reason)
    try:
        return work(member.workspace), None
    except MemcliError as error:
        return None, error
