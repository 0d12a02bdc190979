"""Fail SQLite at every place of every command; print a row for each verb.

    python -m tests.faults [VERB ...] [--most N]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path

from tests.faults.disk import POSITIONS, faulty_disk
from tests.faults.verbs import VERBS, Trial, place
from tests.hashing import register

SHOWN = 12  # findings of a verb


def tried(name: str, most: int | None) -> int:
    """Try the positions of a verb, all or so many; print what came of it."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made).resolve()
        with place(folder / "place"), faulty_disk(folder / "place" / "store") as disk:
            trial = Trial(VERBS[name], folder, disk)
            positions = trial.positions(most)
            broken: Counter[tuple[str, str]] = Counter()
            total = 0
            for position in positions:
                found = trial.findings(position)
                if found:
                    broken[position.operation, position.kind] += 1
                    total += 1
                    if total <= SHOWN:
                        print(*(f"    {each}" for each in found), sep="\n", flush=True)
    counts = Counter((p.operation, p.kind) for p in positions)
    print(f"{name}: {len(positions)} positions, {total} broke", flush=True)
    for operation, kinds in POSITIONS.items():
        told = ", ".join(
            f"{kind} {counts[operation, kind]}"
            + (f" ({broken[operation, kind]} broke)" if broken[operation, kind] else "")
            for kind in kinds
        )
        print(f"  {operation:<9} {told}", flush=True)
    return total


def main() -> int:
    """Try the verbs that are named, else all."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults")
    parser.add_argument("verb", nargs="*", default=[*VERBS], help=", ".join(VERBS))
    parser.add_argument("--most", type=int, help="so many positions of each, spread evenly")
    wanted = parser.parse_args()
    register()
    return 1 if sum(tried(name, wanted.most) for name in wanted.verb) else 0


if __name__ == "__main__":
    sys.exit(main())
