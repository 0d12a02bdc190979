"""Fail SQLite at every place of every command, cut the power at every step of every run, and let
others work at every step of a command.

    python -m tests.faults [VERB ... | power | slow] [--most N]

Prints what should not have been, and a row for each: the positions tried, how many broke, and the
positions by what failed there.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.faults.disk import ANY, Disk, faulty_disk
from tests.faults.power import RUNS, Blackout
from tests.faults.slow import SLOW, problems
from tests.faults.trial import Trial
from tests.faults.verbs import VERBS, place
from tests.hashing import register

POWER, SLOWLY = "power", "slow"
SHOWN = 12  # findings of a row


@contextmanager
def prepared() -> Iterator[tuple[Path, Disk]]:
    """Make a place for one row, on a disk that can fail."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made).resolve()
        with place(folder / "place"), faulty_disk(folder / "place" / "store") as disk:
            yield folder, disk


def tried(name: str, most: int | None) -> int:
    """Try the positions of a verb, all or so many."""
    broke = 0
    with prepared() as (folder, disk):
        trial = Trial(VERBS[name], folder, disk)
        positions = trial.positions(most)
        for position in positions:
            found = trial.findings(position)
            broke += bool(found)
            if found and broke <= SHOWN:
                print(*(f"  {each}" for each in found), sep="\n", flush=True)
    counts = Counter(f"{p.operation}: {p.kind}" for p in positions)
    row(name, len(positions), broke, counts)
    return broke


def darkened(name: str, most: int | None, *, network: bool) -> int:
    """Cut the power in a run, everywhere or so many times."""
    broke, kinds = 0, Counter[str]()
    with prepared() as (folder, disk):
        run = Blackout(RUNS[name], folder, disk, network=network)
        for loss, files in run.losses(most):
            kinds[f"{loss.kept} kept"] += 1
            found = run.findings(loss, files)
            broke += bool(found)
            if found and broke <= SHOWN:
                print(*(f"  {each}" for each in found), sep="\n", flush=True)
    journal = "rollback journal" if network else "write-ahead log"
    row(f"{name}, power, {journal}", kinds.total(), broke, kinds)
    return broke


def interrupted(name: str, most: int | None) -> int:
    """Let each other command come in at every step of a verb, or at so many of them."""
    broke, kinds = 0, Counter[str]()
    for line in SLOW[name]:
        with prepared() as (folder, disk):
            trial = Trial(VERBS[name], folder, disk)
            steps = trial.counts[ANY]
            for at in range(min(most or steps, steps)):
                number = 1 + at * steps // min(most or steps, steps)
                found = [*problems(trial, line, number)]
                kinds[line] += 1
                broke += bool(found)
                if found and broke <= SHOWN:
                    print(*(f"  step {number}: {each}" for each in found), sep="\n", flush=True)
    row(f"{name}, slow", kinds.total(), broke, kinds)
    return broke


def row(name: str, total: int, broke: int, kinds: Counter[str]) -> None:
    """Print what was tried."""
    told = ", ".join(f"{kind} {count}" for kind, count in kinds.items())
    print(f"{name:<34} {total:>6} tried {broke:>4} broke   {told}", flush=True)


def main() -> int:
    """Try what is named, else all."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults")
    names = [*VERBS, POWER, SLOWLY]
    parser.add_argument("verb", nargs="*", default=names, help=", ".join(names))
    parser.add_argument("--most", type=int, help="so many of each, spread evenly")
    wanted = parser.parse_args()
    register()
    broke = sum(tried(name, wanted.most) for name in wanted.verb if name in VERBS)
    if POWER in wanted.verb:
        for name in RUNS:
            broke += sum(darkened(name, wanted.most, network=on) for on in (False, True))
    if SLOWLY in wanted.verb:
        broke += sum(interrupted(name, wanted.most) for name in SLOW)
    return 1 if broke else 0


if __name__ == "__main__":
    sys.exit(main())
