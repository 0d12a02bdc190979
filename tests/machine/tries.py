"""Spoil each call of a command in turn, and look at what is left and what the next run makes."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from memcli.errors import ExitCode
from memcli.workspace.atomic_write import BEGUN
from tests.commands import Said
from tests.machine.file_system import (
    EMPTIED,
    GONE,
    KILL,
    LINKED,
    Call,
    EndlessError,
    FileSystem,
    Killed,
    applies,
)
from tests.machine.verbs import Place, Verb

Tree = dict[str, bytes]
# What memcli notes of the files that it has written tells of those that were replaced too.
OWN_NOTES = ("home/config/memcli/agents.json",)
NOTHING = "cannot be written"  # says that a file is as it was
_OUTSIDE = b"what lies outside\n"


class Finding(NamedTuple):
    """What a fault led to that it should not have."""

    number: int
    call: Call
    fault: str
    what: str

    def __str__(self) -> str:
        return f"{self.number} {self.call.name} {self.call.path} {self.fault}: {self.what}"


class Trial:
    """A command, what it does undisturbed, and a place to disturb it in."""

    def __init__(self, verb: Verb, folder: Path) -> None:
        """Run it once undisturbed, which imports all that it needs, and once more to count."""
        root = folder / "place"
        self.verb, self._root, self._kept = verb, root, folder / "kept"
        self._place = Place(root)
        verb.prepare(self._place)
        shutil.copytree(root, self._kept, symlinks=True)
        self._before = self._place.tree()
        self._file_system = FileSystem(str(root), str(root / verb.swapped))
        self._outside = Path(self._file_system.outside)
        verb.act(self._place)
        self._restore()
        with self._file_system.spoiled() as calls:
            self._right = verb.act(self._place)
        self.calls: Sequence[Call] = tuple(calls)
        self._after = self._tree()

    def faults(self, names: Sequence[str], every: int = 1) -> Iterator[tuple[int, str]]:
        """Give the positions and what can go wrong there, or one in so many of them."""
        found = ((n, f) for n, call in enumerate(self.calls) for f in names if applies(f, call))
        return (each for number, each in enumerate(found) if number % every == 0)

    def findings(self, number: int, fault: str) -> list[Finding]:
        """Try one fault; nothing is found where all is well."""
        self._restore()
        told: list[str] = []
        outcome = self._spoiled(number, fault, told)
        seen = self._tree()
        is_swapped = fault in (EMPTIED, LINKED, GONE)
        told += self._lost(seen, is_killed=fault == KILL)
        if outcome is not None:
            told += self._misleading(outcome, seen, is_swapped=is_swapped)
        outside, names = self._outside_tree(), self._names_outside()
        is_memory = self.verb.swapped.startswith("home/notes")
        if {outside.get(name) for name in names} - {_OUTSIDE} or (
            is_memory and len(outside) > len(names)
        ):
            told.append(f"what lies outside was changed: {sorted(outside)}")
        for path in self._root.rglob("put-back-*"):
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
        told += self._unmended(is_swapped=is_swapped)
        call = self.calls[number]._replace(path=self._shown(self.calls[number].path))
        return [Finding(number, call, fault, what) for what in told]

    def _spoiled(self, number: int, fault: str, told: list[str]) -> Said | None:
        outcome = None
        try:
            with self._file_system.spoiled(number, fault):
                outcome = self.verb.act(self._place)
        except (Killed, KeyboardInterrupt):
            pass
        except EndlessError:
            told.append("it never ends")
        except Exception as error:
            told.append(f"{type(error).__name__} escapes: {self._shown(str(error))}")
        is_killed = self._file_system.fault == KILL
        locked = self._file_system.left_locked()
        if locked and not is_killed:
            told.append(f"left locked: {[self._shown(path) for path in locked]}")
        self._file_system.put_back()
        return outcome

    def _lost(self, seen: Tree, *, is_killed: bool) -> Iterator[str]:
        """Name what is neither as it was nor as it is to be."""
        for path, data in self._before.items():
            now, right = seen.get(path), self._after.get(path)
            if now in (data, right) or self._is_own(path):
                continue
            is_begun = now is not None and right is not None and right.startswith(now)
            if not (is_killed and is_begun and now is not None and now.startswith(data)):
                yield f"{path} is lost" if now is None else f"{path} holds {now!r}"

    def _misleading(self, outcome: Said, seen: Tree, *, is_swapped: bool) -> Iterator[str]:
        """Name what was said that is not so, and what is so and was not said."""
        listed = {path: data for path, data in seen.items() if BEGUN not in path}
        is_done = self._without_spare(listed) == self._without_spare(self._after)
        said = f"exit {outcome.code}: {self._shown(outcome.err.strip())!r}"
        if outcome.code == ExitCode.BUG or "Traceback" in outcome.err:
            yield said
        elif outcome.code == self._right.code:
            is_same = is_done and outcome.out == self._right.out
            is_silence = self.verb.may_be_silent and not outcome.out
            if not (is_same or is_swapped or is_silence) and outcome.err == self._right.err:
                yield f"nothing is said of what differs: {self._differing(seen, self._after)}"
        elif outcome.code == ExitCode.INTERRUPTED:
            return
        elif outcome.code != ExitCode.NEGATIVE and "\nTry: " not in outcome.err:
            yield f"no next command: {said}"
        elif is_done and not is_swapped and self._changes_home() and NOTHING in said:
            yield f"all was done: {said}"

    def _changes_home(self) -> bool:
        """Tell that more than a file is written that was named on the command line."""
        changed = self._differing(self._before, self._after)
        return any(path.startswith("home/") and not self._is_spare(path) for path in changed)

    def _unmended(self, *, is_swapped: bool) -> Iterator[str]:
        """Name what the next run does not set right."""
        try:
            again = self.verb.act(self._place)
        except Exception as error:
            yield f"then {type(error).__name__} escapes: {error}"
            return
        if again.code not in (self._right.code, *self.verb.again):
            yield f"then exit {again.code}: {self._shown(again.err.strip())!r}"
        if is_swapped and not self.verb.outlasts_swaps:
            return
        if self.verb.check is not None and self.verb.check(self._place):
            return
        seen = self._tree()
        if self.verb.tidy is not None and any(BEGUN in path for path in seen):
            self.verb.tidy(self._place)  # takes what a run that was cut off began
            seen = self._tree()
        also = OWN_NOTES if is_swapped else ()
        if self._without_spare(seen, also) != self._without_spare(self._after, also):
            paths = self._differing(self._without_spare(seen), self._without_spare(self._after))
            yield f"then not as it should be: {paths}"
        stray = set(seen) - set(self._after) - set(self._before)
        grows = self.verb.grows or "\0"
        left = sorted(
            path
            for path in stray
            if self._is_own(path) and not path.endswith("/") and grows not in path
        )
        if left:
            yield f"then left behind: {left}"

    def _restore(self) -> None:
        shutil.rmtree(self._root)
        shutil.copytree(self._kept, self._root, symlinks=True)
        if self._outside.exists():
            shutil.rmtree(self._outside)
        self._outside.mkdir()
        for name in self._names_outside():
            (self._outside / name).write_bytes(_OUTSIDE)

    def _names_outside(self) -> list[str]:
        """Name the files of the folder that is replaced: a link leads to others of these names."""
        place = self._kept / self.verb.swapped
        return [each.name for each in place.iterdir() if each.is_file()] if place.is_dir() else []

    def _outside_tree(self) -> Tree:
        return {
            str(path.relative_to(self._outside)): path.read_bytes()
            for path in self._outside.rglob("*")
            if path.is_file()
        }

    def _tree(self) -> Tree:
        return {path: self.verb.settle(path, data) for path, data in self._place.tree().items()}

    def _without_spare(self, tree: Tree, also: tuple[str, ...] = ()) -> Tree:
        return {
            path: data
            for path, data in tree.items()
            if not (self._is_spare(path) or path.endswith("/") or path.startswith(also))
        }

    def _is_own(self, path: str) -> bool:
        """Tell what no person has written."""
        return path.startswith((*self.verb.spare, *OWN_NOTES)) or path.endswith("/")

    def _is_spare(self, path: str) -> bool:
        return path.startswith(self.verb.spare)

    def _differing(self, one: Tree, other: Tree) -> list[str]:
        paths = {**one, **other}
        return sorted(path for path in paths if one.get(path) != other.get(path))

    def _shown(self, text: str) -> str:
        return text.replace(str(self._root), "")
