"""What a start may cost, counted instead of timed: other work on the machine changes nothing.

A line that Python runs costs about the same everywhere: the ceilings stand some 15 % above what a
start runs today. When a test fails, `python -X importtime` and a profile tell what came in.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import loaded_by

# Lines and modules, on CPython 3.11.
# With Typer a keyword search took 361,359 and 215.
CEILINGS = {
    "search pool --mode keyword --no-sync": (178_000, 146),
    "search pool --mode keyword": (178_000, 146),
    "status": (109_000, 121),
    "index": (116_000, 130),
    "ls": (138_000, 140),
    "get MEMORY.md": (97_500, 113),
}
HOOK_LINES, HOOK_MODULES = 185_000, 138
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


# A hook keeps to a limit of time, which counting makes it miss.
PATIENT = "from memcli.cli import hook_reply\nhook_reply.LIMIT_SECONDS = 600.0\n"


def counted(*arguments: str, program: str = COUNTING, sent: str = "") -> tuple[int, int]:
    """Run memcli, warm, and count the lines that Python ran and the modules it loaded."""
    for _ in range(2):  # the first run may still have to compile
        done = subprocess.run(
            [sys.executable, "-c", program, *arguments],
            input=sent,
            capture_output=True,
            text=True,
            check=True,
        )
    lines, modules = done.stderr.rpartition("counted ")[2].split()
    return int(lines), int(modules)


OF_SEVERAL = (
    "memcli.api.several_workspaces", "memcli.config.workspaces",
    "memcli.store.qualified_names", "memcli.store.totals", "memcli.store.union",
)  # fmt: skip
OF_HISTORY = ("memcli.history", "memcli.api.as_of", "memcli.api.superseded")
OF_A_SERVER = (
    "memcli.store.postgres", "memcli.config.attached", "memcli.api.remote", "psycopg",
)  # fmt: skip


@pytest.mark.parametrize(
    ("lines", "needed", "others"),
    [
        ("search pool --mode keyword; get MEMORY.md", "reader", OF_SEVERAL),
        ("search pool --mode keyword; get MEMORY.md; context", "reader", OF_HISTORY),
        ("index -q; search pool; get MEMORY.md; context; status; ls", "writer", OF_A_SERVER),
    ],
    ids=("of several workspaces", "of the past", "of a shared index"),
)
def test_what_is_not_asked_for_is_not_loaded(
    workspaces: Path, lines: str, needed: str, others: tuple[str, ...]
) -> None:
    commands = [[*line.split(), "-w", str(workspaces / "engineer")] for line in lines.split("; ")]
    loaded = loaded_by(
        f"from memcli.cli.main import run\nfor line in {commands}: run(line)",
        MEMCLI_EMBEDDING_ENCODER="none",
    )
    assert f"memcli.store.sqlite.{needed}" in loaded
    assert [name for name in loaded if name.startswith(others)] == []


@pytest.mark.parametrize("line", ["--help", "help", "help files"])
def test_top_help_and_topics_are_next_to_nothing(line: str) -> None:
    lines, modules = counted(*line.split())
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
    # From 3.14 on, `types` is made from an extension module.
    assert modules <= most_modules + (sys.version_info >= (3, 14))


def test_a_hook_runs_little_more_than_a_search(
    workspaces: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It runs at every prompt; what it needs beside a search is JSON, a file and the notes."""
    monkeypatch.setenv("MEMCLI_EMBEDDING_ENCODER", "none")
    folder = str(workspaces / "engineer")
    subprocess.run([sys.executable, "-m", "memcli", "index", "-q", "-w", folder], check=True)
    sent = json.dumps({"cwd": folder, "prompt": "why did the pool run dry"})
    lines, modules = counted("hook", "prompt", program=PATIENT + COUNTING, sent=sent)
    assert lines <= HOOK_LINES
    assert modules <= HOOK_MODULES
