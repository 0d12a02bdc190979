"""Run memcli as processes of its own, in pipes and on a pseudo-terminal.

They know the encoder of the tests, `hashing`.
"""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

COMMAND = (sys.executable, str(Path(__file__).parents[1] / "launch.py"))


def run(*arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run to the end with both streams captured."""
    return subprocess.run(
        [*COMMAND, *arguments],
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )


def start(*arguments: str, **environ: str) -> subprocess.Popen[str]:
    """Start with both streams in pipes."""
    return subprocess.Popen(
        [*COMMAND, *arguments],
        env={**os.environ, **environ},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def on_terminal(*arguments: str, **environ: str) -> str:
    """Run with stdout and stderr on one pseudo-terminal and give what it was sent."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        env={**os.environ, "TERM": "xterm", **environ},
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    received = b""
    while True:
        try:
            block = os.read(ours, 65536)
        except OSError:  # Linux answers EIO when the other end has closed
            break
        if not block:
            break
        received += block
    process.wait()
    os.close(ours)
    return received.decode("utf-8")


class Played(NamedTuple):
    """What a program did at a terminal."""

    code: int
    screen: str  # what was sent to the terminal, with what was typed
    out: str  # what was sent to stdout, where that was a pipe


def played(
    *arguments: str, typed: Sequence[tuple[str, str]] = (), piped: bool = False, **environ: str
) -> Played:
    """Run at a pseudo-terminal, typing each text once the screen shows what it stands behind."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        env={**os.environ, "TERM": "xterm", **environ},
        stdin=theirs,
        stdout=subprocess.PIPE if piped else theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    received, seen, left = b"", 0, list(typed)
    while True:
        while left and left[0][0] in received[seen:].decode("utf-8", "replace"):
            seen = len(received)
            os.write(ours, left.pop(0)[1].encode())
        try:
            block = os.read(ours, 65536)
        except OSError:  # Linux answers EIO when the other end has closed
            break
        if not block:
            break
        received += block
    out = process.stdout.read().decode() if process.stdout else ""
    if process.stdout:
        process.stdout.close()
    os.close(ours)
    return Played(process.wait(), received.decode("utf-8"), out)
