"""Run memcli as processes of its own, in pipes and on a pseudo-terminal.

They know the encoder of the tests, `hashing`.
"""

from __future__ import annotations

import atexit
import json
import os
import pty
import socket
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile
from typing import NamedTuple

COMMAND = (sys.executable, str(Path(__file__).parents[1] / "launch.py"))


def run(
    *arguments: str, cwd: str | Path | None = None, input: str | bytes = b"", **environ: str
) -> subprocess.CompletedProcess[str]:
    """Run to the end with both streams captured, in a fork of a process that has memcli loaded."""
    names = {"argv": list(arguments), "cwd": os.fspath(cwd or Path.cwd())}
    with TemporaryFile() as stdin, TemporaryFile() as out, TemporaryFile() as err:
        stdin.write(input.encode() if isinstance(input, str) else input)
        stdin.seek(0)
        request = json.dumps({**names, "environ": {**os.environ, **environ}}).encode()
        socket.send_fds(_loaded(), [request], [stdin.fileno(), out.fileno(), err.fileno()])
        code = int(_loaded().recv(16))
        out.seek(0)
        err.seek(0)
        printed = (file.read().decode().replace("\r\n", "\n") for file in (out, err))
        return subprocess.CompletedProcess([*COMMAND, *arguments], code, *printed)


@cache
def _loaded() -> socket.socket:
    """Start the process that forks; it ends when this one does."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("loaded.py")), str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def end() -> None:
        ours.close()
        process.wait()

    atexit.register(end)
    return ours


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
