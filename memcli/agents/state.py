"""The record of what memcli has written for agents, next to the user's configuration.

It is written before the files. So an entry may not have been added yet, or may be gone, and memcli
looks for it in the file before relying on it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager

from memcli.agents import UnfitError, disk
from memcli.agents.edits import AgentEntry
from memcli.agents.json_edit import AddedSpace, Slot
from memcli.checking import Any
from memcli.errors import BusyError, ConfigError
from memcli.record import Record
from memcli.system import open_lock, try_lock

VERSION = 1  # of the file
FILE = "agents.json"
_REPAIR = "repair it or move it away, then memcli agents"


class WrittenEntry(Record):
    """An entry that was added to a file, and the agents that it is for."""

    path: str  # as the agent names the file
    part: str
    scope: str
    project: str  # that the file belongs to; "" in the scope of the user
    program: str  # that it starts
    agents: tuple[str, ...]
    entry: AgentEntry
    space: AddedSpace = AddedSpace()  # what was added around it


class OriginalFile(Record):
    """A file before the first entry, if it was missing or empty."""

    path: str
    before: str | None
    folders: tuple[str, ...]  # that were made for it


class State(Record):
    """Everything that was written."""

    entries: tuple[WrittenEntry, ...] = ()
    originals: tuple[OriginalFile, ...] = ()

    def and_also(self, other: State) -> State:
        """Return the union of two states."""
        return State(
            tuple(dict.fromkeys((*self.entries, *other.entries))),
            tuple(dict.fromkeys((*self.originals, *other.originals))),
        )


def load(path: str) -> State:
    """Read the state; ConfigError if it cannot be read."""
    try:
        text = disk.peek(path)
        if text is None:
            return State()
        record = json.loads(text)
        if record["version"] != VERSION:
            raise ValueError(f"its version is {record['version']}")
        return State(
            tuple(_entry_of(each) for each in record["entries"]),
            tuple(
                OriginalFile(each["path"], each["before"], tuple(each["folders"]))
                for each in record["files"]
            ),
        )
    except UnfitError as error:
        raise _unusable(path, str(error)) from None
    except ValueError as error:
        raise _unusable(path, f"cannot be read: {error}", _REPAIR) from None
    except (LookupError, TypeError, RecursionError):
        raise _unusable(path, "is not as memcli writes it", _REPAIR) from None


def save(path: str, state: State) -> None:
    """Write the state, or remove it if it is empty."""
    try:
        file = disk.look(path, (os.path.dirname(os.path.realpath(path)),))
        if state == State():
            disk.remove_unfinished(path)
            if file.text is not None:
                disk.remove(file)
            return
        record = {
            "version": VERSION,
            "entries": [_entry(each) for each in state.entries],
            "files": [each._asdict() for each in state.originals],
        }
        disk.write(file, json.dumps(record, indent=1) + "\n")
    except UnfitError as error:
        raise _unusable(path, str(error)) from None
    except OSError as error:
        raise _unusable(path, f"cannot be written: {error.strerror}") from None


def _unusable(
    path: str, why: str, hint: str = "the same command again, once it can be used"
) -> ConfigError:
    return ConfigError(f"{path}, the record of what was written for agents, {why}", hint=hint)


def _entry_of(record: dict[str, Any]) -> WrittenEntry:
    slot = Slot(tuple(record["key"]), is_item=bool(record["is_item"]))
    entry = AgentEntry(record["format"], slot, record["text"])
    space = AddedSpace(record["lead"], record["tail"], record["depth"])
    plain = {key: record[key] for key in ("path", "part", "scope", "project", "program")}
    return WrittenEntry(**plain, agents=tuple(record["agents"]), entry=entry, space=space)


def _entry(written: WrittenEntry) -> dict[str, Any]:
    own = written._asdict()
    format, slot, text = own.pop("entry")
    placed = {"format": format, "key": slot.path, "is_item": slot.is_item, "text": text}
    return {**own, **placed, **own.pop("space")._asdict()}


@contextmanager
def locked(path: str) -> Iterator[None]:
    """Lock the state; BusyError if another memcli writes."""
    folder = os.path.dirname(path)
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        descriptor = open_lock(path)
    except OSError as error:
        raise _unusable(path, f"cannot be written: {error.strerror}") from None
    try:
        try:
            is_ours = try_lock(descriptor)
        except OSError:  # a file system without locks
            is_ours = False
        if not is_ours:
            raise BusyError("another memcli agents is at work", hint="memcli agents, later")
        yield
    finally:
        os.close(descriptor)
