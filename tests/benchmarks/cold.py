"""Measure what new processes cost beside bare ones of the same run; not part of the suite.

    python -m tests.benchmarks.cold WORKSPACE QUESTION [--runs 15]

Commands run in turns. A ratio is taken of the least CPU time of each kind, since other work on a
machine only adds to one; the median beside it tells how much. The bare process loads the model and
embeds the question, and does nothing else.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from statistics import median

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
    kinds = {
        "pass": [*python, "-c", "pass"],
        "help": [*memcli, "--help"],
        "keyword": [*search, "--mode", "lexical"],
        "hybrid": search,
        "status": [*memcli, "status", "-w", given.workspace],
        "index": [*memcli, "index", "-w", given.workspace],
        "context": [*memcli, "context", given.question, "-w", given.workspace],
        "ls": [*memcli, "ls", "-w", given.workspace],
        "bare": [*python, "-c", BARE, given.question],
    }
    runs: dict[str, list[tuple[float, float, float]]] = {name: [] for name in kinds}
    for _ in range(given.runs):
        for name, command in kinds.items():
            runs[name].append(timed(command))
    least = min(one[0] for one in runs["pass"])
    usual = median(one[0] for one in runs["pass"])
    print(
        f"load {os.getloadavg()[0]:.1f}; CPU ms: least, median, most; wall ms: median; CPU / pass"
    )
    for name, found in runs.items():
        cpu = sorted(1000 * one[0] for one in found)
        wall = 1000 * median(one[1] for one in found)
        ratio = cpu[0] / 1000 / least
        print(
            f"{name:8} {cpu[0]:6.1f} {median(cpu):6.1f} {cpu[-1]:6.1f}  {wall:6.1f}"
            f"  {ratio:5.2f} of the least, {median(cpu) / 1000 / usual:5.2f} of the median"
            f"{f', goal <= {GOALS[name]}' if name in GOALS else ''}"
        )
    peak = max(one[2] for found in runs.values() for one in found)
    print(f"peak of any {peak:.0f} MB, goal <= 100")


if __name__ == "__main__":
    main()
