"""What differs on Windows and macOS, as far as Linux can play it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Literal
from unicodedata import normalize

import pytest

from tests.cli import processes
from tests.support import write

ROOT = Path(__file__).parents[1]
NOW = ("--now", "2026-02-20T12:00")
VERBS = (
    ("index",),
    ("search", "when may we deploy", "-n", "2"),
    ("remember", "The deploy window moves to ten on Fridays."),
    ("search", "deploy window fridays", "-n", "1"),
    ("remember", "--undo"),
    ("get", "MEMORY.md:1-3"),
    ("config", "set", "search.limit", "4"),
    ("compact", "--apply", "--tail", "1", "--tail-days", "1"),
    ("compact", "--undo"),
    ("agents", "install", "claude-code", "--apply"),
    ("agents", "uninstall", "claude-code", "--apply"),
    ("index", "--full"),
    ("status",),
    ("lint",),
)


# Runs lines in one process and prints after each its exit code.
EACH = """
import json, sys
if sys.argv[1] == "tests.elsewhere":
    from tests.elsewhere import become_it
    become_it()
from memcli.cli.main import run
for line in sys.argv[2:]:
    code = run(json.loads(line))
    sys.stderr.flush()
    print(f"exit {code}", flush=True)
"""


def _run_each(module: str, place: Path, lines: Sequence[Sequence[str]]) -> str:
    environ = os.environ | {
        "HOME": str(place / "home"),
        "XDG_CACHE_HOME": str(place / "cache"),
        "XDG_CONFIG_HOME": str(place / "config"),
        "PYTHONPATH": str(ROOT),
    }
    done = subprocess.run(
        [sys.executable, "-c", EACH, module, *map(json.dumps, lines)],
        cwd=place / "notes",
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    said = done.stdout.replace(str(place), "PLACE")
    return re.sub(r"cache/memcli/\w+", "INDEX", said)


def _memcli(place: Path, *arguments: str) -> tuple[int, str]:
    done = processes.run(*arguments, cwd=place / "notes")
    return done.returncode, done.stdout


def _most_logs(folder: str, names: list[str]) -> set[str]:
    """Name what a copy of the notes can do without."""
    return {name for name in sorted(names)[8:] if name.startswith("20")}


def _files(place: Path) -> dict[str, bytes]:
    return {
        str(file.relative_to(place)): file.read_bytes()
        for folder in ("notes", "home", "config")
        for file in (place / folder).rglob("*")
        if file.is_file() and file.suffix != ".lock"  # Windows locks no folder
    }


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="played on Linux only")
def test_every_command_does_the_same_without_what_only_posix_has(
    tmp_path: Path, workspaces: Path
) -> None:
    played, real = tmp_path / "play", tmp_path / "real"  # paths of one length
    for place in (played, real):
        shutil.copytree(workspaces / "engineer", place / "notes", ignore=_most_logs)
        (place / "home" / ".claude").mkdir(parents=True)
    lines = [(*verb, *(() if verb[0] in ("agents", "config") else NOW)) for verb in VERBS]
    shown = _run_each("tests.elsewhere", played, lines)
    assert shown.count("\nexit 0") == len(VERBS)
    assert shown == _run_each("memcli", real, lines)
    assert _files(played) == _files(real)


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_names_match_however_a_disk_keeps_their_accents(
    tmp_path: Path, form: Literal["NFC", "NFD"]
) -> None:
    def kept(path: str) -> str:
        return normalize(form, path)

    notes = tmp_path / "notes"
    write(notes, kept("Café/Müller.md"), "# Müller\n\nThe inflow costs 40 euros a month.\n")
    write(notes, kept("Ärger/a.md"), "# Private\n\nThe inflow is forbidden.\n")
    write(notes, "index.md", "# Index\n\n[[Müller]], [one](Café/Müller.md), [[Café/Müller]]\n")
    write(notes, "memcli.toml", '[files]\nexclude = ["Ärger/**"]\n')
    found = [kept("Café/Müller.md")]
    for path in ("Café", "Café/*", "Café/Müller.md"):
        code, said = _memcli(tmp_path, "search", "inflow", "--path", path, "-f", "paths")
        assert (code, said.splitlines()) == (0, found)
    assert _memcli(tmp_path, "ls", "-f", "paths")[1].splitlines() == [*found, "index.md"]
    assert _memcli(tmp_path, "lint")[0] == 0
    one = '[files]\nscope = "memory"\ninclude = ["Café/M[ü]ller.md"]\n'
    write(notes, "memcli.toml", one)
    assert _memcli(tmp_path, "ls", "-f", "paths")[1].splitlines() == found
