"""What a start may cost, counted instead of timed: other work on the machine changes nothing.

A line that Python runs costs about the same everywhere: the ceilings stand some 15 % above what a
start runs today. When a test fails, `python -X importtime` and a profile tell what came in.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

# Lines and modules, on CPython 3.11. With Typer a keyword search took 361,359 and 215.
CEILINGS = {
    "search pool --mode lexical --no-sync": (141_000, 136),
    "search pool --mode lexical": (141_000, 136),
    "status": (109_000, 121),
    "index": (116_000, 127),
    "ls": (138_000, 139),
    "get MEMORY.md": (96_000, 111),
}
HELP_LINES, HELP_MODULES = 19_500, 25

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
            capture_output=True,
            text=True,
            check=True,
        )
    lines, modules = done.stderr.rpartition("counted ")[2].split()
    return int(lines), int(modules)


def test_one_workspace_loads_nothing_of_several(workspaces: Path) -> None:
    folder = str(workspaces / "engineer")
    code = f"""
import sys
from memcli.cli.main import run
run(["search", "pool", "--mode", "lexical", "-w", {folder!r}])
run(["get", "MEMORY.md", "-w", {folder!r}])
print(*[name for name in sys.modules if "memcli" in name])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split("\n")[-2].split())
    assert "memcli.store.sqlite.reader" in loaded
    assert loaded.isdisjoint({
        "memcli.api.several", "memcli.api.together", "memcli.cli.several",
        "memcli.config.workspaces", "memcli.store.totals", "memcli.store.union",
        "memcli.store.sqlite.totals",
    })  # fmt: skip


def test_top_help_is_next_to_nothing() -> None:
    lines, modules = counted("--help")
    assert lines <= HELP_LINES
    assert modules <= HELP_MODULES


@pytest.mark.parametrize("line", CEILINGS)
def test_a_command_runs_no_more_than_it_needs(
    workspaces: Path, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMCLI_EMBEDDING_ENCODER", "none")
    folder = str(workspaces / "engineer")
    subprocess.run([sys.executable, "-m", "memcli", "index", "-q", "-w", folder], check=True)
    lines, modules = counted(*line.split(), "-w", folder)
    most_lines, most_modules = CEILINGS[line]
    assert lines <= most_lines
    assert modules <= most_modules
