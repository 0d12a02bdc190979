"""Update the indexes of several workspaces in parallel, and report them as one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from memcli.api.workspace import STANDS_IN
from memcli.api.workspaces import NamedWorkspace, for_folder
from memcli.checking import TYPE_CHECKING
from memcli.errors import IndexMissingError, MemcliError, Reason, StoreError, UsageError
from memcli.indexing.freshness import Freshness
from memcli.record import Record
from memcli.store.named_errors import FailedStoreError
from memcli.store.union import StoreState
from memcli.threads import side_by_side
from memcli.types import EMPTY, FAILED, NOT_INDEXED, OUT_OF_DATE, REMOTE, UP_TO_DATE

if TYPE_CHECKING:
    from typing import TypeVar

    from memcli.api.status import WorkspaceStatus
    from memcli.api.sync import IndexRun, Job
    from memcli.api.workspace import Workspace
    from memcli.api.workspaces import Workspaces

    Made = TypeVar("Made")

ANSWERING = (UP_TO_DATE, OUT_OF_DATE, REMOTE)


def together(
    members: Sequence[NamedWorkspace],
    bring_up_to_date: Callable[[Workspace], Freshness],
) -> Freshness:
    """Update each workspace; if one fails, the others answer.

    IndexMissingError if none can answer. FailedStoreError if a server fails and the index of this
    machine can answer instead.
    """
    lost: dict[str, StoreError] = {}
    states = side_by_side(lambda each: _state(each, bring_up_to_date, lost), members)
    if lost:
        raise FailedStoreError([*lost], next(iter(lost.values())))
    if all(state.state == FAILED for state in states):
        raise IndexMissingError(
            f"none of the workspaces can answer: {'; '.join(map(_line, states))}",
            hint="memcli status --everywhere",
        )
    first = states[0]
    return joined([first._replace(is_own=first.state != REMOTE), *states[1:]])


def joined(states: Sequence[StoreState]) -> Freshness:
    """Combine the freshness of several workspaces: what one lacks, the answer lacks."""
    there = [state for state in states if state.state in ANSWERING]
    waiting = [state for state in states if state.state not in (*ANSWERING, EMPTY)]
    left_out = [_left_out(state) for state in waiting if state.reason]
    own = (notice for state in states for notice in state.notices)
    notices = [*left_out, *own]
    if not there:
        state = NOT_INDEXED if waiting else EMPTY
        reason = left_out[0] if left_out else next((s.reason for s in states if s.reason), None)
        return Freshness(state, 0, reason, (), tuple(states))
    stored = [state for state in there if state.state == REMOTE]
    behind = [state for state in there if state.reason and state.state != REMOTE]
    reason = behind[0].reason if behind else None
    if reason and len(behind) > 1:
        names = ", ".join(state.name for state in behind)
        text = f"{names}: {reason.text}" if reason.code == STANDS_IN else f"in {names}"
        reason = reason._replace(text=text)
    elif reason:
        reason = reason._replace(text=f"{behind[0].name}: {reason.text}")
    if stored:
        note = as_stored(stored)
        reason = reason._replace(text=f"{reason.text}; {note.text}") if reason else note
    own_states = {state.state for state in there}
    whole = next(state for state in (OUT_OF_DATE, REMOTE, UP_TO_DATE) if state in own_states)
    pending = sum(state.pending for state in there)
    missing = [state.missing for state in there if state.missing]
    named = missing[0] if len(missing) == 1 else ""
    return Freshness(whole, pending, reason, tuple(notices), tuple(states), named)


def as_stored(states: Sequence[StoreState]) -> Reason:
    """Return the notice that other machines stored these workspaces."""
    first = states[0]
    if len(states) > 1:
        return Reason(REMOTE, f"{len(states)} workspaces are read as they are stored", "")
    return Reason(REMOTE, f"{first.name}: {first.reason.text if first.reason else REMOTE}", "")


def _state(
    each: NamedWorkspace,
    bring_up_to_date: Callable[[Workspace], Freshness],
    lost: dict[str, StoreError],
) -> StoreState:
    name, folder, workspace, why_not = each
    if workspace is None:
        return StoreState(name, folder, FAILED, 0, why_not)
    try:
        freshness = bring_up_to_date(workspace)
    except UsageError:  # the command line is wrong, not a workspace
        raise
    except (MemcliError, OSError) as error:
        if isinstance(error, StoreError) and workspace.store.stand_in() is not None:
            lost[name] = error
        why = error.reason if isinstance(error, MemcliError) else Reason("system", str(error))
        return StoreState(name, folder, FAILED, 0, for_folder(why, folder))
    reason = freshness.reason and for_folder(freshness.reason, folder)
    own_notices = (for_folder(notice, folder) for notice in freshness.notices)
    notices = tuple(notice._replace(text=f"{name}: {notice.text}") for notice in own_notices)
    return StoreState(
        name, folder, freshness.state, freshness.pending, reason, notices, missing=freshness.missing
    )


def _left_out(state: StoreState) -> Reason:
    reason = state.reason or Reason(FAILED, "")
    return reason._replace(text=f"{_line(state)}; it is left out")


def _line(state: StoreState) -> str:
    return f"{state.name}: {state.reason.text if state.reason else state.state}"


class MemberStatus(Record):
    """The status of one of several workspaces, or its error."""

    name: str
    path: str
    primary: bool
    status: WorkspaceStatus | None
    error: Reason | None = None


class SeveralStatus(Record):
    """The status of several workspaces: `memcli.status-several/1`."""

    schema: str
    workspaces: tuple[MemberStatus, ...]

    @property
    def is_behind(self) -> bool:
        """Return whether something is, or may be, missing in the index of any workspace."""
        return any(each.status is None or each.status.is_behind for each in self.workspaces)


class MemberRun(Record):
    """The run of one of several workspaces, or its error."""

    name: str
    path: str
    primary: bool
    index_: IndexRun | None
    error: Reason | None = None


class SeveralRuns(Record):
    """The runs of several workspaces: `memcli.index-several/1`."""

    schema: str
    workspaces: tuple[MemberRun, ...]


def status_of_each(memory: Workspaces, *, deep: bool) -> SeveralStatus:
    """Describe each workspace; if one fails, the others continue."""
    from memcli.api.status import status

    each = [MemberStatus(*fields) for fields in _each(memory, lambda one: status(one, deep=deep))]
    return SeveralStatus("memcli.status-several/1", tuple(each))


def index_each(memory: Workspaces, job: Job) -> SeveralRuns:
    """Index each workspace; if one fails, the others continue."""
    from memcli.api.sync import Vectors, run_record, sync

    def index(one: Workspace) -> IndexRun:
        return run_record(sync(one, job, Vectors(one)), one)

    return SeveralRuns(
        "memcli.index-several/1", tuple(MemberRun(*fields) for fields in _each(memory, index))
    )


def _each(
    memory: Workspaces, work: Callable[[Workspace], Made]
) -> Iterator[tuple[str, str, bool, Made | None, Reason | None]]:
    for place, (name, folder, workspace, why_not) in enumerate(memory.members):
        made, error = None, why_not
        if workspace is not None:
            try:
                made = work(workspace)
            except MemcliError as raised:
                error = raised.reason
        yield name, folder, place == 0, made, error
