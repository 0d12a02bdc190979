"""What a start may cost, counted instead of timed: other work on the machine changes nothing.

A line that Python runs costs about the same everywhere: the ceilings stand some 15 % above what a
start runs today. When a test fails, `python -X importtime` and a profile tell what came in.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

# CPython 3.11 with Typer 0.28: 15,793 lines and 21 modules; 361,359 lines and 215 modules.
HELP_LINES, HELP_MODULES = 33_000, 40
SEARCH_LINES, SEARCH_MODULES = 430_000, 215

# Counts lines from the first import on, and the modules that are loaded in the end.
COUNTING = """
import sys
lines = 0
def trace(frame, event, argument):
    global lines
    lines += event == "line"
    return trace
before = len(sys.modules)
sys.settrace(trace)
from memcli.cli.main import run
code = run(sys.argv[1:])
sys.settrace(None)
sys.stderr.write(f"\\ncounted {lines} {len(sys.modules) - before}")
sys.exit(code)
"""


def counted(*arguments: str) -> tuple[int, int]:
    """Run memcli, warm, and count the lines that Python ran and the modules it loaded."""
    for _ in range(2):  # the first run may still have to compile
        done = subprocess.run(
            [sys.executable, "-c", COUNTING, *arguments],
            env={**os.environ},
            capture_output=True,
            text=True,
            check=True,
        )
    lines, modules = done.stderr.rpartition("counted ")[2].split()
    return int(lines), int(modules)


def test_top_help_is_next_to_nothing() -> None:
    lines, modules = counted("--help")
    assert lines <= HELP_LINES
    assert modules <= HELP_MODULES


@pytest.mark.parametrize("sync", [("--no-sync",), ()], ids=["as it is", "in step"])
def test_a_keyword_search_runs_no_more_than_it_needs(
    workspaces: Path, sync: tuple[str, ...]
) -> None:
    folder = str(workspaces / "engineer")
    index = [sys.executable, "-m", "memcli", "index", "-q", "-w", folder]
    subprocess.run(index, env={**os.environ, "MEMCLI_EMBEDDING_ENCODER": "none"}, check=True)
    lines, modules = counted("search", "pool", "-w", folder, "--mode", "lexical", *sync)
    assert lines <= SEARCH_LINES
    assert modules <= SEARCH_MODULES
