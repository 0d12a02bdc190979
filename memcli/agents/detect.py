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

# The states of a part: memcli wrote it; somebody else did; edited or removed since memcli wrote it;
# it starts a memcli that no longer exists; its file cannot be read; it is not there.
INSTALLED, BY_HAND, EDITED, GONE, OUT_OF_DATE, UNREADABLE, ABSENT = STATES = (
    "installed", "by hand", "edited", "gone", "out of date", "unreadable", "no",
)  # fmt: skip
# If the entries of a part differ, the first of these describes the part.
_WORST = (EDITED, OUT_OF_DATE, GONE, BY_HAND, INSTALLED, ABSENT)


class PartState(Record):
    """A part of an agent in a scope, and its state."""

    part: str
    scope: str
    file: str
    state: str
    why: str  # why the file cannot be read


def is_here(agent: Agent, machine: Machine, state: State) -> bool:
    """Return whether an agent has a folder here, or a program on the PATH.

    A folder that memcli made counts once it contains more than memcli's files.
    """
    path, folder = machine.environ.get("PATH"), os.path.realpath(agent.home.folder(machine))
    is_there = os.path.isdir(folder)
    made = {os.path.realpath(each) for file in state.originals for each in file.folders}
    if is_there and folder in made:
        ours = {os.path.realpath(each.path) for each in state.originals}
        is_there = any(
            os.path.join(above, name) not in ours
            for above, _, names in os.walk(folder)
            for name in names
        )
    return is_there or any(which(program, path=path) for program in agent.programs)


def part_states(
    agent: Agent, machine: Machine, state: State, launcher: Launcher
) -> list[PartState]:
    """Return the state of each part of an agent, per scope."""
    scopes = SCOPES if machine.project else SCOPES[:1]
    states = []
    for place in agent.places:
        if place.scope in scopes:
            file = place.file(machine, os.path.exists)
            try:
                status, why = _state(file, agent, place, state, launcher), ""
            except UnfitError as error:
                status, why = UNREADABLE, str(error)
            states.append(PartState(place.part, place.scope, file, status, why))
    return states


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
    is_by_hand = any(edits.by_hand(text, entry) for entry in entries(agent, place, launcher))
    return BY_HAND if is_by_hand else ABSENT


def _of_ours(text: str | None, written: WrittenEntry) -> str:
    """Return the state of an entry that memcli has written."""
    entry = written.entry
    if edits.entry_state(text, entry) == "same":
        return INSTALLED if os.path.exists(written.program) else OUT_OF_DATE
    return EDITED if edits.is_edited(text, entry) else GONE
