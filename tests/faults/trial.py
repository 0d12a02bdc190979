"""One verb and one fault, and what should not come of it.

A finding is a note that was changed, an internal error, a failure without the next command, an
index that does not end in the state that a run without a fault gives.
"""

from __future__ import annotations

import gc
import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import apsw

from memcli.errors import ExitCode
from memcli.store.sqlite.driver import DAMAGED_SUFFIX
from tests.faults.disk import ANY, POSITIONS, Disk, Position
from tests.faults.verbs import GONE, NOW, Verb, run
from tests.store.damage import results
from tests.store_check import assert_sound, dump_without_times

ASKED = f"search pool --no-sync --json {NOW}"
FAILED = (ExitCode.NO_INDEX, ExitCode.BUSY)
WRITING = ("write", "sync", "truncate", "map", "delete", ANY)


class Finding(NamedTuple):
    """What one fault has led to that it should not."""

    position: Position
    problem: str

    def __str__(self) -> str:
        at = self.position
        return f"{at.operation} {at.number}, {at.kind}: {self.problem}"


class State(NamedTuple):
    """What is there at the end: rows, notes, and what a search finds."""

    rows: dict[str, Any]
    notes: dict[str, bytes]
    answer: Any
    files: frozenset[str]


class Trial:
    """A verb, the state it begins in, and the state it has to end in."""

    def __init__(self, verb: Verb, folder: Path, disk: Disk) -> None:
        """Prepare the beginning, and run the verb once without a fault."""
        self.verb, self.disk = verb, disk
        self.base, self.kept = folder / "place", folder / "kept"
        self.base.mkdir(parents=True)
        verb.prepare(self.base)
        shutil.copytree(self.base, self.kept)
        self.before = _notes(self.base)
        self.reset()
        code, _, err = self.run(verb.line)
        assert code == ExitCode.OK, err
        self.counts = dict(disk.counts)
        self.after = _notes(self.base)
        code, _, err = self.run("index")
        assert code == ExitCode.OK, err
        self.end = self.state()

    def run(self, line: str) -> tuple[int, str, str]:
        """Run a command in the workspace."""
        return run(line, self.base, remote=self.verb.remote)

    def reset(self, position: Position | None = None) -> None:
        """Go back to the beginning, and let the next run meet a fault, if any."""
        if apsw.connections():
            gc.collect()
        shutil.rmtree(self.base)
        shutil.copytree(self.kept, self.base)
        self.disk.arm(position)

    def positions(self, most: int | None = None) -> list[Position]:
        """Give every place where something can go wrong, or so many of them, spread evenly."""
        found = [
            Position(operation, kind, number)
            for operation, kinds in POSITIONS.items()
            for kind in kinds
            for number in range(1, self.counts.get(operation, 0) + 1)
        ]
        if most is None or len(found) <= most:
            return found
        return [found[at * len(found) // most] for at in range(most)]

    def state(self) -> State:
        """Look at what there is now."""
        store = os.environ["MEMCLI_STORE"]
        code, out, err = self.run(ASKED)
        assert code == ExitCode.OK, err
        assert_sound(store)
        files = frozenset(file.name for file in Path(store).parent.iterdir())
        return State(dump_without_times(store), _notes(self.base), results(out), files)

    def _connections(self) -> int:
        """Count what is open of this trial: another test of the process may have left more."""
        return sum(each.filename.startswith(str(self.base)) for each in apsw.connections())

    def findings(self, position: Position) -> list[Finding]:
        """Let one fault happen; give what should not have come of it."""
        self.reset(position)
        code, _, err = self.run(self.verb.line)
        struck = self.disk.struck
        self.disk.arm(None)
        found = [*self._at_once(code, err)]
        if "cannot be written" in err and position.operation not in WRITING:
            found.append(f"a read is told as a write: {err.strip()}")
        if (
            code != ExitCode.OK
            and position.kind in ("full", "short")
            and "free some space" not in err
        ):
            found.append(f"a full disk is told as something else: {err.strip()}")
        if self._connections():
            gc.collect()  # a memory that nobody closes may go with the error it met
        open_now = self._connections()
        if open_now:
            found.append(f"{open_now} connections stay open")
        if not struck:
            return [Finding(position, "the place was not reached")]
        for line in ("search pool --no-sync", "status"):
            found += _refusal(line, *self.run(line))
        found += self.unmended()
        return [Finding(position, problem) for problem in found]

    def _at_once(self, code: int, err: str) -> Iterator[str]:
        yield from _refusal(self.verb.line, code, "", err)
        if Path(os.environ["MEMCLI_STORE"] + DAMAGED_SUFFIX).exists():
            yield f"a sound index was set aside: {err.strip()}"
        now = _notes(self.base)
        if not self.verb.writes and now != self.before:
            yield "notes were changed"
        for path in {*self.before, *now}:
            if now.get(path) not in (self.before.get(path), self.after.get(path)):
                yield f"{path} is neither as it was nor as it should be"
        if self.verb.line.startswith("index") and code == ExitCode.OK:
            rows = dump_without_times(os.environ["MEMCLI_STORE"])
            if rows != self.end.rows:
                yield f"exit 0, and other {_difference(rows, self.end.rows)}: {err.strip()}"
        is_done = now == self.after
        if self.verb.writes and is_done != (code == ExitCode.OK):
            yield f"exit {code}, and the notes are {'' if is_done else 'not '}written: {err}"

    def unmended(self) -> Iterator[str]:
        """Name what the next run does not bring to the end that an undisturbed one has."""
        lines = ["index"] if _notes(self.base) == self.after else [self.verb.line, "index"]
        for line in lines:
            code, _, err = self.run(line)
            if code != ExitCode.OK:
                yield f"{line} afterwards: exit {code}, {err}"
                return
        try:
            end = self.state()
        except AssertionError as error:
            yield f"unsound in the end: {str(error)[:200]}"
            return
        for name, value in self.end._asdict().items():
            if getattr(end, name) != value:
                yield f"other {name} in the end: {_difference(getattr(end, name), value)}"
        folder = Path(os.environ["MEMCLI_STORE"]).parent
        if "memory/gone.md" not in self.before:
            for file in folder.iterdir():
                if GONE in file.read_bytes():
                    yield f"deleted text is in {file.name}"


def _refusal(line: str, code: int, _out: str, err: str) -> Iterator[str]:
    """Hold an exit code and what was said against what a user can do something with."""
    if "not an error" in err:
        yield f"{line}: {err.strip()[:300]}"
    if "Traceback" in err or (code != ExitCode.OK and code not in FAILED):
        yield f"{line}: exit {code}: {err.strip()[:300]}"
    elif code != ExitCode.OK and "\nTry: " not in err:
        yield f"{line}: exit {code} without the next command: {err.strip()[:300]}"


def _difference(found: Any, wanted: Any) -> str:
    if isinstance(wanted, Mapping):
        return ", ".join(str(key) for key in {*found, *wanted} if found.get(key) != wanted.get(key))
    return f"{found!r} for {wanted!r}"[:300]


def _notes(base: Path) -> dict[str, bytes]:
    root = base / "ws"
    return {
        str(file.relative_to(root)): file.read_bytes()
        for file in sorted(root.rglob("*"))
        if file.is_file()
    }
