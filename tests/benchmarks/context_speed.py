"""Time `context` against `search`, each a new process, by turns; not part of the suite.

    python -m tests.benchmarks.context_speed WORKSPACE QUERIES.jsonl [--questions 30]

Prints the median wall and CPU time of each and the median of the ratios question by question.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from memcli.bench.queries import read_queries

COMMANDS = {
    "search --budget 2000": ("search", "--budget", "2000"),
    "search --budget 2000, again": ("search", "--budget", "2000"),
    "context --tail 0": ("context", "--budget", "2000", "--tail", "0"),
    "context": ("context", "--budget", "2000"),
}
Times = tuple[float, float]  # wall and CPU seconds


def timed(arguments: Sequence[str]) -> Times:
    before, start = os.times(), time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "memcli", *arguments], check=True, stdout=subprocess.DEVNULL
    )
    after = os.times()
    used = after.children_user + after.children_system
    return time.perf_counter() - start, used - before.children_user - before.children_system


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workspace")
    parser.add_argument("queries", type=Path)
    parser.add_argument("--questions", type=int, default=30)
    given = parser.parse_args()
    with given.queries.open(encoding="utf-8") as file:
        queries = list(read_queries(file, str(given.queries)))[: given.questions]
    subprocess.run(
        [sys.executable, "-m", "memcli", "index", "-q", "-w", given.workspace], check=True
    )
    times: dict[str, list[Times]] = {name: [] for name in COMMANDS}
    for query in queries:
        for name, (command, *flags) in COMMANDS.items():
            times[name].append(timed([command, query.text, *flags, "-q", "-w", given.workspace]))
    floor = times["search --budget 2000"]
    for name, rows in times.items():
        ratios = [
            statistics.median(one[at] / base[at] for one, base in zip(rows, floor, strict=True))
            for at in (0, 1)
        ]
        wall, cpu = (statistics.median(row[at] for row in rows) * 1000 for at in (0, 1))
        print(
            f"{name:<28} wall {wall:6.0f} ms, x {ratios[0]:.2f}   CPU {cpu:6.0f} ms,"
            f" x {ratios[1]:.2f}"
        )


if __name__ == "__main__":
    main()
