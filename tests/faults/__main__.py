"""Fail SQLite at every place of every command, cut the power at every step of every run, let
others work at every step of a command, and fail every call to the file system of those that write.

    python -m tests.faults [VERB ... | power | slow | files | files:COMMAND ...] [--most N]

Prints what should not have been, and a row for each: the positions tried, how many broke, and the
positions by what failed there.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.faults.disk import ANY, Disk, faulty_disk
from tests.faults.power import RUNS, Blackout
from tests.faults.slow import SLOW, problems
from tests.faults.trial import Trial
from tests.faults.verbs import VERBS, place
from tests.hashing import register
from tests.machine import tries
from tests.machine.file_system import FAULTS
from tests.machine.verbs import VERBS as COMMANDS
from tests.machine.verbs import Verb as Command

POWER, SLOWLY, FILES = "power", "slow", "files"
SHOWN = 12  # findings of a row
Tried = tuple[str, Sequence[object]]  # of which kind, and what should not have been


@contextmanager
def prepared() -> Iterator[tuple[Path, Disk]]:
    """Make a place for one row, on a disk that can fail."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made).resolve()
        with place(folder / "place"), faulty_disk(folder / "place" / "store") as disk:
            yield folder, disk


def faults(name: str, most: int | None) -> Iterator[Tried]:
    """Try the positions of a verb, all or so many."""
    with prepared() as (folder, disk):
        trial = Trial(VERBS[name], folder, disk)
        for at in trial.positions(most):
            yield f"{at.operation}: {at.kind}", trial.findings(at)


def losses(name: str, most: int | None, *, network: bool) -> Iterator[Tried]:
    """Cut the power in a run, everywhere or so many times."""
    with prepared() as (folder, disk):
        run = Blackout(RUNS[name], folder, disk, network=network)
        for loss, files in run.losses(most):
            yield f"{loss.kept} kept", run.findings(loss, files)


def meetings(name: str, most: int | None) -> Iterator[Tried]:
    """Let each other command come in at every step of a verb, or at so many of them."""
    for line in SLOW[name]:
        with prepared() as (folder, disk):
            trial = Trial(VERBS[name], folder, disk)
            steps = trial.counts[ANY]
            for at in range(min(most or steps, steps)):
                number = 1 + at * steps // min(most or steps, steps)
                yield line, [f"step {number}: {each}" for each in problems(trial, line, number)]


def spoils(command: Command, most: int | None) -> Iterator[Tried]:
    """Fail the calls of a command, all in every way or so many."""
    with tempfile.TemporaryDirectory() as made:
        trial = tries.Trial(command, Path(made).resolve())
        positions = list(trial.faults(FAULTS))
        for number, fault in positions[:: max(1, len(positions) // (most or len(positions)))]:
            yield fault, trial.findings(number, fault)


def told(title: str, tried: Iterator[Tried]) -> int:
    """Print what should not have been, and a row of what was tried; give how much broke."""
    broke, kinds = 0, Counter[str]()
    for kind, found in tried:
        kinds[kind] += 1
        broke += bool(found)
        if found and broke <= SHOWN:
            print(*(f"  {each}" for each in found), sep="\n", flush=True)
    counts = ", ".join(f"{kind} {count}" for kind, count in kinds.items())
    print(f"{title:<34} {kinds.total():>6} tried {broke:>4} broke   {counts}", flush=True)
    return broke


def main() -> int:
    """Try what is named, else all."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults")
    names = [*VERBS, POWER, SLOWLY, FILES, *(f"{FILES}:{each.name}" for each in COMMANDS)]
    default = [*VERBS, POWER, SLOWLY, FILES]
    parser.add_argument("verb", nargs="*", default=default, help=", ".join(names))
    parser.add_argument("--most", type=int, help="so many of each, spread evenly")
    wanted = parser.parse_args()
    register()
    most = wanted.most
    broke = sum(told(name, faults(name, most)) for name in wanted.verb if name in VERBS)
    for name in RUNS if POWER in wanted.verb else ():
        for network, journal in ((False, "write-ahead log"), (True, "rollback journal")):
            broke += told(f"{name}, power, {journal}", losses(name, most, network=network))
    for name in SLOW if SLOWLY in wanted.verb else ():
        broke += told(f"{name}, slow", meetings(name, most))
    for command in COMMANDS:
        if {FILES, f"{FILES}:{command.name}"} & {*wanted.verb}:
            broke += told(f"{command.name}, files", spoils(command, most))
    return 1 if broke else 0


if __name__ == "__main__":
    sys.exit(main())
