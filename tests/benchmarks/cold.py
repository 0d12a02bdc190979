"""Measure what new processes cost beside bare ones of the same run; not part of the suite.

    python -m tests.benchmarks.cold WORKSPACE QUESTION [--runs 12]

Takes the least CPU time of each kind, since other work on a machine only adds to one. The bare
process loads the model and embeds the question, and does nothing else.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from collections.abc import Sequence

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
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, wall, after.ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workspace")
    parser.add_argument("question")
    parser.add_argument("--runs", type=int, default=12)
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
        "bare": [*python, "-c", BARE, given.question],
    }
    runs: dict[str, list[tuple[float, float, float]]] = {name: [] for name in kinds}
    for _ in range(given.runs):
        for name, command in kinds.items():
            runs[name].append(timed(command))
    cpu = {name: min(one[0] for one in found) for name, found in runs.items()}
    for name, found in runs.items():
        wall = sorted(one[1] for one in found)[len(found) // 2]
        print(f"{name:8} CPU {1000 * cpu[name]:6.1f} ms  wall p50 {1000 * wall:6.1f} ms")
    peak = max(one[2] for found in runs.values() for one in found)
    print(f"help / pass                {cpu['help'] / cpu['pass']:6.2f}  goal <= 9")
    print(f"keyword / pass             {cpu['keyword'] / cpu['pass']:6.2f}  goal <= 11")
    print(f"hybrid / keyword           {cpu['hybrid'] / cpu['keyword']:6.2f}  goal <= 1.8")
    both = cpu["keyword"] + cpu["bare"]
    print(f"hybrid / (keyword + bare)  {cpu['hybrid'] / both:6.2f}  goal <= 1.4")
    print(f"peak of any {peak:.0f} MB, goal <= 100")


if __name__ == "__main__":
    main()
