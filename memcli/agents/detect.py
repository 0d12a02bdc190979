"""Find the agents on a machine, and the state of memcli in each."""

from __future__ import annotations

import os
from shutil import which

from memcli.agents import UnfitError, disk, edits
from memcli.agents.places import Machine
from memcli.agents.state import State, WrittenEntry
from memcli.agents.table import SCOPES, Agent, PartPlace
from memcli.agents.texts import Launcher, entries
from memcli.record import Record

# The states of a part: written by memcli; added by somebody else; written by memcli and edited or
# removed since; written by a memcli that no longer exists; in a file that cannot be read; none of
# these.
WIRED, BY_HAND, EDITED, GONE, STALE, UNREADABLE, ABSENT = (
    "wired", "by hand", "edited", "gone", "stale", "unreadable", "no",
)  # fmt: skip
STATES = (WIRED, BY_HAND, EDITED, GONE, STALE, UNREADABLE, ABSENT)
# If the entries of a part differ, the first of these describes the part.
_WORST = (EDITED, STALE, GONE, BY_HAND, WIRED, ABSENT)


class PartState(Record):
    """A part of an agent in a scope, and its state."""

    part: str
    scope: str
    file: str
    state: str
    why: str  # why the file cannot be read


def is_here(agent: Agent, machine: Machine) -> bool:
    """Return whether an agent has a folder here, or a program on the PATH."""
    path = machine.environ.get("PATH")
    return os.path.isdir(agent.home.folder(machine)) or any(
        which(program, path=path) for program in agent.programs
    )


def wires(agent: Agent, machine: Machine, state: State, launcher: Launcher) -> list[PartState]:
    """Yield the state of each part of an agent, per scope."""
    scopes = SCOPES if machine.project else SCOPES[:1]
    found = []
    for place in agent.places:
        if place.scope in scopes:
            file = place.file(machine, os.path.exists)
            try:
                what, why = _state(file, agent, place, state, launcher), ""
            except UnfitError as error:
                what, why = UNREADABLE, str(error)
            found.append(PartState(place.part, place.scope, file, what, why))
    return found


def _state(file: str, agent: Agent, place: PartPlace, state: State, launcher: Launcher) -> str:
    real = os.path.realpath(file)
    known = [
        written
        for written in state.entries
        if agent.name in written.agents
        and written.part == place.part
        and os.path.realpath(written.path) == real
    ]
    text = disk.peek(file)
    if known:
        return min((_of_ours(text, written) for written in known), key=_WORST.index)
    listed = entries(agent, place, launcher)
    if any(edits.by_hand(text, entry) for entry in listed):
        return BY_HAND
    return ABSENT


def _of_ours(text: str | None, written: WrittenEntry) -> str:
    """Return the state of an entry that memcli has written."""
    entry = written.put.entry
    if edits.entry_state(text, entry) == "same":
        return WIRED if os.path.exists(written.program) else STALE
    return EDITED if edits.is_edited(text, entry) else GONE
