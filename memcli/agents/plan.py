"""Plan what installing or uninstalling changes, file by file, and carry it out.

The state lists memcli's entries. An entry that it does not list was added by hand, and is left
alone. If a file cannot be edited, the plan has the text to paste.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from memcli.agents import UnfitError, disk, edits
from memcli.agents.disk import FileSnapshot, missing_folders
from memcli.agents.edits import AgentEntry
from memcli.agents.json_edit import AddedSpace
from memcli.agents.places import Machine
from memcli.agents.state import OriginalFile, State, WrittenEntry, save
from memcli.agents.table import USER, VERSION, Agent, PartPlace
from memcli.agents.texts import Launcher, entries, started_by
from memcli.errors import UsageError
from memcli.record import Record

EDITED = "was edited since memcli wrote it"


class FileChange:
    """A file, and what becomes of it."""

    def __init__(self, file: FileSnapshot) -> None:
        self.snapshot, self.after = file, file.text  # None: the file does not exist
        self.parts: dict[str, None] = {}


class Refusal(Record):
    """A file that is left as it is, though it should change."""

    path: str
    part: str
    why: str  # follows the path
    text: str  # the text to add, or that was to be removed


class InstallPlan(Record):
    """The planned changes, and the state after them."""

    changes: tuple[FileChange, ...]
    refusals: tuple[Refusal, ...]
    notes: tuple[str, ...]  # what stays and perhaps should not
    folders: tuple[str, ...]  # made for files, and removed with them if empty
    state: State


class Planner:
    """A plan in the making."""

    def __init__(self, machine: Machine, state: State) -> None:
        """Begin with the present state."""
        self._machine = machine
        self._entries, self._originals = list(state.entries), list(state.originals)
        self._files: dict[str, FileChange | UnfitError] = {}
        self._refusals: list[Refusal] = []
        self._notes: list[str] = []
        self._folders: list[str] = []

    def install(self, agent: Agent, places: Sequence[PartPlace], launcher: Launcher) -> InstallPlan:
        """Plan to write the parts that belong in some places."""
        launcher = started_by(agent, launcher, self._machine)
        for place in places:
            path = place.file(self._machine, os.path.exists)
            project = "" if place.scope == USER else self._machine.project
            listed = entries(agent, place, launcher)
            try:
                file = self._file(path, project)
            except UnfitError as error:
                self._refuse(path, place, str(error), listed)
                continue
            before = file.after
            try:
                for entry in listed:
                    if (
                        entry.slot.path == VERSION
                        and edits.entry_state(file.after, entry) != "absent"
                    ):
                        continue
                    owners, program = (agent.name,), launcher.argv[0]
                    written = WrittenEntry(
                        path, place.part, place.scope, project, program, owners, entry
                    )
                    self._write(file, written)
            except UnfitError as error:
                file.after = before
                self._refuse(path, place, str(error), listed)
            if file.after != before:
                file.parts[place.part] = None
        return self._plan()

    def uninstall(self, agent: Agent, scopes: Sequence[str]) -> InstallPlan:
        """Plan to remove what was written for an agent, the last entry first."""
        for written in reversed(tuple(self._entries)):
            if agent.name not in written.agents or written.scope not in scopes:
                continue
            others = tuple(name for name in written.agents if name != agent.name)
            if others:
                self._entries[self._entries.index(written)] = written._replace(agents=others)
                self._notes.append(
                    f"{written.path} keeps its {written.part} for {', '.join(others)}"
                )
                continue
            try:
                self._take(written)
            except UnfitError as error:
                refusal = Refusal(written.path, written.part, str(error), written.entry.text)
                self._refusals.append(refusal)
        return self._plan()

    def _plan(self) -> InstallPlan:
        files = (file for file in self._files.values() if isinstance(file, FileChange))
        changes = tuple(file for file in files if file.after != file.snapshot.text)
        state = State(tuple(self._entries), tuple(self._originals))
        notes = tuple(dict.fromkeys(self._notes))
        return InstallPlan(changes, tuple(self._refusals), notes, tuple(self._folders), state)

    def _refuse(self, path: str, place: PartPlace, why: str, listed: Sequence[AgentEntry]) -> None:
        self._refusals.append(Refusal(path, place.part, why, edits.file_of(listed)))

    def _file(self, path: str, project: str) -> FileChange:
        """Read a file, once; a link may lead anywhere in the home folder, or in the project."""
        real = os.path.realpath(path)
        if real not in self._files:
            within = (project,) if project else (self._machine.home, os.path.dirname(path))
            try:
                self._files[real] = FileChange(disk.look(path, within))
            except UnfitError as error:  # concerns every entry of the file
                self._files[real] = error
        snapshot = self._files[real]
        if isinstance(snapshot, UnfitError):
            raise snapshot
        return snapshot

    def _write(self, file: FileChange, written: WrittenEntry) -> None:
        """Add an entry if it is missing or outdated."""
        entry = written.entry
        known = [each for each in self._entries if _is_same_place(each, file, entry)]
        same = (k for k in known if edits.entry_state(file.after, k.entry) == "same")
        there = next(same, None)
        if there is None and not self._has_room(file, written, is_known=bool(known)):
            return
        names = dict.fromkeys(name for each in (*known, written) for name in each.agents)
        ours = written._replace(agents=tuple(names))
        for each in known:
            if each is not there:
                self._entries.remove(each)
        if there is None:
            self._entries.append(ours._replace(space=self._put(file, entry)))
        elif there.entry == entry:
            self._entries[self._entries.index(there)] = ours._replace(space=there.space)
        else:
            self._renew(file, there, ours)

    def _has_room(self, file: FileChange, written: WrittenEntry, *, is_known: bool) -> bool:
        """Return whether the place of an entry is free; UnfitError if another one has it."""
        entry = written.entry
        if is_known and edits.is_edited(file.after, entry):
            raise UnfitError(EDITED)
        if hand := edits.by_hand(file.after, entry):
            self._notes.append(f"{written.path} has {hand} already, by hand; it is left as it is")
            return False
        if edits.entry_state(file.after, entry) != "absent":
            raise UnfitError("already has another entry in that place")
        return True

    def _renew(self, file: FileChange, there: WrittenEntry, ours: WrittenEntry) -> None:
        """Replace an older entry of memcli.

        Entries that were added after it are removed first and added again, so that each can later
        be removed without a trace.
        """
        listed = [each for each in self._entries if _is_at(each.path, file)]
        later = listed[listed.index(there) :]
        if any(edits.entry_state(file.after, each.entry) != "same" for each in later):
            later = [there]
        text = file.after
        for each in reversed(later):
            text = edits.take(text or "", each.entry, each.space)
        for each in later:
            entry = ours if each is there else each
            text, space = edits.put(text, entry.entry)
            self._entries[self._entries.index(each)] = entry._replace(space=space)
        file.after = text

    def _put(self, file: FileChange, entry: AgentEntry) -> AddedSpace:
        """Add an entry, and remember what was before the first one."""
        snapshot = file.snapshot
        is_blank = snapshot.text is None or not snapshot.text.strip("\ufeff \t\r\n")
        if is_blank and not any(_is_at(each.path, file) for each in self._originals):
            self._originals.append(
                OriginalFile(snapshot.path, snapshot.text, missing_folders(snapshot.real))
            )
        file.after, space = edits.put(file.after, entry)
        return space

    def _take(self, written: WrittenEntry) -> None:
        """Remove an entry; UnfitError if it was edited."""
        file = self._file(written.path, written.project)
        entry = written.entry
        stands = edits.entry_state(file.after, entry)
        if stands != "same" and self._is_known_better(file, written):
            self._entries.remove(written)
            return
        if edits.is_edited(file.after, entry):
            raise UnfitError(EDITED)
        if stands == "same" and file.after is not None:
            text = edits.take(file.after, entry, written.space)
            if entry.slot.path != VERSION or edits.is_bare(text, entry):
                file.after = text
                file.parts[written.part] = None
        self._entries.remove(written)
        if any(_is_at(each.path, file) for each in self._entries):
            return
        for original in [each for each in self._originals if _is_at(each.path, file)]:
            self._originals.remove(original)
            if stands == "same" and edits.is_bare(file.after, entry):
                file.after = original.before
            if file.after is None:
                self._folders += original.folders

    def _is_known_better(self, file: FileChange, written: WrittenEntry) -> bool:
        """Return whether the state has another entry for the same place, and the file has that one.

        A run that was killed between two writes leaves the removed and the added entry in the
        state.
        """
        return any(
            _is_same_place(other, file, written.entry)
            and edits.entry_state(file.after, other.entry) == "same"
            for other in self._entries
        )


def _is_at(path: str, file: FileChange) -> bool:
    return os.path.realpath(path) == file.snapshot.real


def _is_same_place(written: WrittenEntry, file: FileChange, entry: AgentEntry) -> bool:
    """Return whether the state knows an entry at the place of another one."""
    return written.entry._replace(text="") == entry._replace(text="") and _is_at(written.path, file)


def carry_out(plan: InstallPlan, before: State, path: str) -> None:
    """Write the state first, then each file as a whole.

    If it is killed, each file is either old or new, and the state lists everything that may have
    been written: the same command continues. `path` is that of the state, which the caller has
    locked.
    """
    known = before.and_also(plan.state)
    if known != before:
        save(path, known)
    for named in {
        *(written.path for written in known.entries),
        *(original.path for original in known.originals),
    }:
        disk.remove_unfinished(named)
    for change in plan.changes:
        try:
            if change.after is None:
                disk.remove(change.snapshot)
            else:
                disk.write(change.snapshot, change.after)
        except OSError as error:
            raise UsageError(
                f"{change.snapshot.path} cannot be written: {error.strerror}",
                hint="the same command again, once it can be",
            ) from None
    disk.remove_empty(plan.folders)
    if plan.state == known:
        disk.remove_unfinished(path)
    else:
        save(path, plan.state)
