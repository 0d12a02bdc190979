"""Time any command lines beside memcli on one folder; not part of the suite.

    python -m tests.benchmarks.rivals FOLDER QUESTION [NAME=COMMAND ...] [--runs 11]
        [--write PAGE.md]

A COMMAND is a template in which {folder} and {question} stand for what is asked, such as
`"ripgrep=rg -n {question} {folder}"`; no shell reads it. `words` and `hybrid`, memcli's own, take
part always, on an index that is in step, and `pass`, a bare Python. Commands run in turns,
A B C A B C, so that what else the machine does falls on all alike. Prints wall and CPU time (least,
median, most; `*n` for n outliers, as `bench speed` has them) and the greatest memory of each, the
ratio of CPU time to `words` turn by turn (median, and the middle half of them), and the load. One
that fails is told and left out.
"""

from __future__ import annotations

import argparse
import os
import shlex
import statistics
import subprocess
import sys
from collections.abc import Sequence

from tests.benchmarks.figures import add_write, spread_text, table, write
from tests.benchmarks.started import Cost, cost_of, warn_of_bytecode

ENTRY = "from memcli.cli.main import main; main()"  # what an installed command runs
OWN, FLOOR = "words", "pass"


def filled(template: str, folder: str, question: str) -> list[str]:
    """Put folder and question into the words of a template."""
    words = shlex.split(template)
    return [word.replace("{folder}", folder).replace("{question}", question) for word in words]


def in_turns(commands: dict[str, list[str]], runs: int) -> dict[str, list[Cost]]:
    """Run all commands in turns; the first turn warms caches and does not count."""
    found: dict[str, list[Cost]] = {name: [] for name in commands}
    for turn in range(runs + 1):
        for name in list(found):
            try:
                took = cost_of(commands[name])
                if took.code:
                    raise subprocess.CalledProcessError(took.code, commands[name])
            except (OSError, subprocess.CalledProcessError) as error:
                print(f"{name} is left out: {error}", file=sys.stderr)
                del found[name]
                continue
            if turn:
                found[name].append(took)
    return found


def ratio(turns: Sequence[Cost], others: Sequence[Cost]) -> str:
    """Write the median of the ratios of CPU time turn by turn, and the middle half of them."""
    low, middle, high = statistics.quantiles(
        [a.cpu / b.cpu for a, b in zip(turns, others, strict=True)], n=4
    )
    return f"{middle:.2f} ({low:.2f} to {high:.2f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("question")
    parser.add_argument("commands", nargs="*", metavar="NAME=COMMAND")
    parser.add_argument("--runs", type=int, default=11)
    add_write(parser)
    given = parser.parse_args()
    warn_of_bytecode()
    memcli = [sys.executable, "-c", ENTRY]
    subprocess.run([*memcli, "index", "-q", "-w", given.folder], check=True)
    search = [*memcli, "search", given.question, "-w", given.folder]
    commands = {
        FLOOR: [sys.executable, "-c", "pass"],
        OWN: [*search, "--mode", "keyword"],
        "hybrid": search,
    }
    for one in given.commands:
        name, _, template = one.partition("=")
        commands[name] = filled(template, given.folder, given.question)
    found = in_turns(commands, max(2, given.runs))
    print(f"{max(2, given.runs)} turns, load {os.getloadavg()[0]:.1f}; least / median / most")
    print(f"{'':<12}{'wall ms':>24}{'CPU ms':>24}{'MB':>7}  CPU / {OWN}")
    rows = []
    for name, turns in found.items():
        wall = spread_text([1000 * turn.wall for turn in turns], 0)
        cpu = spread_text([1000 * turn.cpu for turn in turns], 0)
        peak = max(turn.peak for turn in turns)
        print(f"{name:<12}{wall:>24}{cpu:>24}{peak:>7.0f}  {ratio(turns, found[OWN])}")
        rows.append([f"`{name}`", wall, cpu, f"{peak:.0f}", ratio(turns, found[OWN])])
    head = [f"{max(2, given.runs)} turns, load {os.getloadavg()[0]:.1f}",
            "wall ms: least / median / most", "CPU ms", "MB, 10 at least",
            f"CPU / `{OWN}`"]  # fmt: skip
    write(given.write, "rivals", table(head, rows))


if __name__ == "__main__":
    main()
