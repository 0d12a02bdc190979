"""Processes that write at once lose and mix nothing; one that is killed leaves a whole file."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from tests.remember.test_append import names

PROCESSES, EACH = 4, 8
WRITER = """
import sys
import time
from pathlib import Path
from tests.remember.test_append import add
root, name, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
print("ready", flush=True)
for number in range(count):
    text = f"note {number} of {name} " + "word " * (number % 7) + "\\nwith a second line"
    add(root, text, sleep=time.sleep)
    print(number, flush=True)
"""


def _start(root: Path, name: str, count: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(root), name, str(count)],
        stdout=subprocess.PIPE,
        text=True,
    )


def _notes(file: Path) -> list[str]:
    """Give the notes of a log, each with both its lines."""
    lines = file.read_text("utf-8").split("\n")
    assert lines[:2] == ["# Log", ""]
    assert lines[-1] == ""
    body = lines[2:-1]
    assert all(line == "  with a second line" for line in body[1::2])
    assert all(line.startswith("- note ") for line in body[::2])
    return [" ".join(line.split()[1:5]) for line in body[::2]]


def test_four_processes_at_once_lose_and_mix_nothing(tmp_path: Path) -> None:
    writers = [_start(tmp_path, f"w{at}", EACH) for at in range(PROCESSES)]
    assert [writer.communicate()[0].count("\n") for writer in writers] == [EACH + 1] * PROCESSES
    assert [writer.returncode for writer in writers] == [0] * PROCESSES
    notes = _notes(tmp_path / "memory" / "log.md")
    for at in range(PROCESSES):
        own = [note for note in notes if note.endswith(f" w{at}")]
        assert own == [f"note {number} of w{at}" for number in range(EACH)]
    assert len(notes) == PROCESSES * EACH
    assert names(tmp_path / "memory") == ["log.md"]


@pytest.mark.parametrize("seed", range(6))
def test_a_killed_process_leaves_whole_notes(tmp_path: Path, seed: int) -> None:
    """What it said is kept, and at most the one it was writing is there beside."""
    killed_after = Random(seed).randint(0, 30)
    writer = _start(tmp_path, "w", 10_000)
    assert writer.stdout is not None
    told = [writer.stdout.readline() for _ in range(killed_after + 1)]
    os.kill(writer.pid, signal.SIGKILL)
    told += writer.stdout.readlines()
    writer.wait()
    writer.stdout.close()
    file = tmp_path / "memory" / "log.md"
    said = sum(line.strip().isdecimal() and line.endswith("\n") for line in told)
    notes = _notes(file) if file.exists() else []
    assert said <= len(notes) <= said + 1
    assert notes == [f"note {number} of w" for number in range(len(notes))]
