"""Measure what new processes cost beside bare ones of the same run; not part of the suite.

    python -m tests.benchmarks.cold WORKSPACE QUESTION [--runs 15]

Commands run in turns. A ratio is taken of the least CPU time of each kind, since other work on a
machine only adds to one; median and most beside it tell how much, and `*n` that n runs are
outliers, as `bench speed` has them. The middle half of the ratios turn by turn follows. The bare
process loads the model and embeds the question, and does nothing else.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from statistics import quantiles

from memcli.bench.speed import told
from memcli.embedding.models import locate

ENTRY = "from memcli.cli.main import main; main()"  # what an installed command runs
BARE = (
    "import os, sys\n"
    "from memcli.embedding.models import locate\n"
    "from memcli.embedding.quick import QuickModel\n"
    "QuickModel(locate()[0]).embed(sys.argv[1])\n"
    "os._exit(0)\n"
)


def timed(command: Sequence[str]) -> tuple[float, float, float]:
    """Run a command; give its CPU and wall seconds and the peak of all so far in MB."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, wall, after.ru_maxrss / 1024


# Times the CPU time of `python -c pass` that a command may take.
GOALS = {"help": 2.0, "keyword": 5.5, "hybrid": 10.0, "status": 5.0, "index": 5.0}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workspace")
    parser.add_argument("question")
    parser.add_argument("--runs", type=int, default=15)
    given = parser.parse_args()
    assert locate(), "the bundled model is not installed"
    python, memcli = [sys.executable], [sys.executable, "-c", ENTRY]
    search = [*memcli, "search", given.question, "-w", given.workspace]
    subprocess.run([*memcli, "index", "-q", "-w", given.workspace], check=True)
    cited = subprocess.run([*search, "-f", "paths"], check=True, capture_output=True, text=True)
    kinds = {
        "pass": [*python, "-c", "pass"],
        "help": [*memcli, "--help"],
        "keyword": [*search, "--mode", "lexical"],
        "hybrid": search,
        "status": [*memcli, "status", "-w", given.workspace],
        "index": [*memcli, "index", "-w", given.workspace],
        "context": [*memcli, "context", given.question, "-w", given.workspace],
        "ls": [*memcli, "ls", "-w", given.workspace],
        "get": [*memcli, "get", cited.stdout.split("\n")[0], "-w", given.workspace],
        "bare": [*python, "-c", BARE, given.question],
    }
    given.runs = max(2, given.runs)
    runs: dict[str, list[tuple[float, float, float]]] = {name: [] for name in kinds}
    for _ in range(given.runs):
        for name, command in kinds.items():
            runs[name].append(timed(command))
    passed = [one[0] for one in runs["pass"]]
    print(
        f"load {os.getloadavg()[0]:.1f}, {given.runs} turns; least/median/most\n"
        f"{'':8}{'CPU ms':>22}{'wall ms':>22}  CPU / pass: of the least (of turns)"
    )
    for name, found in runs.items():
        cpu = [one[0] for one in found]
        low, _, high = quantiles([a / b for a, b in zip(cpu, passed, strict=True)], n=4)
        print(
            f"{name:8}{told([1000 * each for each in cpu], 1):>22}"
            f"{told([1000 * one[1] for one in found], 1):>22}"
            f"  {min(cpu) / min(passed):5.2f} ({low:.2f} to {high:.2f})"
            f"{f', goal <= {GOALS[name]}' if name in GOALS else ''}"
        )
    peak = max(one[2] for found in runs.values() for one in found)
    print(f"peak of any {peak:.0f} MB, goal <= 100")


if __name__ == "__main__":
    main()
