"""Run memcli as processes of its own, in pipes and on a pseudo-terminal.

They know the encoder of the tests, `hashing`.
"""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

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
