"""Time `memory_search` in warm servers, of this tree and of others by turns; not part of the suite.

    python -m tests.benchmarks.mcp_speed WORKSPACE QUERIES.jsonl [--against TREE] [--questions 60]

Prints how long a client waits for an answer and the CPU time of the server meanwhile, for questions
that it is asked for the first time: the median and the 95th percentile. Then the size of an answer
in tokens, as memcli estimates them.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO, NamedTuple

from memcli.language.tokens import estimate
from tests.mcp.test_life import MODERN

GOAL_MS = 30.0
HERE = Path(__file__).parents[2]


class Timed(NamedTuple):
    wall: float  # seconds
    cpu: float
    tokens: int


class Server:
    """A server of one tree."""

    def __init__(self, tree: Path, workspace: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "memcli", "mcp", "-q", "-w", str(workspace.resolve())],
            env={**os.environ, "PYTHONPATH": str(tree)},
            cwd=tree,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        # The clock of the CPU time of another process, as clock_getcpuclockid(3) of Linux makes it.
        self._clock = (~self._process.pid << 3) | 2

    def ask(self, query: str) -> Timed:
        arguments = {"name": "memory_search", "arguments": {"query": query}, "_meta": MODERN}
        request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": arguments}
        cpu, wall = time.clock_gettime(self._clock), time.perf_counter()
        stdin = _pipe(self._process.stdin)
        stdin.write(json.dumps(request).encode() + b"\n")
        stdin.flush()
        answer = json.loads(_pipe(self._process.stdout).readline())
        waited = time.perf_counter() - wall
        text = answer["result"]["content"][0]["text"]
        assert not answer["result"].get("isError"), text
        return Timed(waited, time.clock_gettime(self._clock) - cpu, estimate(text))

    def close(self) -> None:
        _pipe(self._process.stdin).close()
        self._process.wait()


def _pipe(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None
    return stream


def told(figures: Sequence[float]) -> str:
    last = sorted(figures)[int(0.95 * (len(figures) - 1))]
    return f"{statistics.median(figures):6.1f} {last:6.1f}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workspace", type=Path)
    parser.add_argument("queries", type=Path)
    parser.add_argument("--against", type=Path, action="append", default=[], metavar="TREE")
    parser.add_argument("--questions", type=int, default=60)
    parser.add_argument("--warm-up", type=int, default=5)
    arguments = parser.parse_args()
    trees = [HERE, *arguments.against]
    servers = [Server(tree.resolve(), arguments.workspace) for tree in trees]
    lines = arguments.queries.read_text("utf-8").splitlines()
    queries = [json.loads(line)["query"] for line in lines]
    queries = queries[: arguments.questions + arguments.warm_up]
    timed: list[list[Timed]] = [[] for _ in servers]
    for number, query in enumerate(queries):
        for server, times in zip(servers, timed, strict=True):
            found = server.ask(query)
            if number >= arguments.warm_up:
                times.append(found)
    for server in servers:
        server.close()
    print("          wall ms        CPU ms         tokens\n          p50    p95     p50    p95")
    for tree, times in zip(trees, timed, strict=True):
        wall, cpu = ([1000 * each[at] for each in times] for at in (0, 1))
        name = "this" if tree is HERE else "against"
        print(f"{name:8}{told(wall)}  {told(cpu)}  {told([each.tokens for each in times])}")
    p95 = sorted(each.wall for each in timed[0])[int(0.95 * (len(timed[0]) - 1))] * 1000
    return int(p95 > GOAL_MS)


if __name__ == "__main__":
    sys.exit(main())
