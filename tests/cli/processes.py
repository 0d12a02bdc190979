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
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, NamedTuple

COMMAND = (sys.executable, str(Path(__file__).parents[1] / "launch.py"))


def _startup(environ: Mapping[str, str]) -> dict[str, str]:
    return {n: text for n, text in environ.items() if n.startswith(("PYTHON", "LC_", "LANG"))}


STARTUP = _startup(os.environ)


def run(
    *arguments: str, cwd: str | Path | None = None, input: str | bytes = b"", **environ: str
) -> subprocess.CompletedProcess[str]:
    """Run to the end with both streams captured, in a fork of a process that has memcli loaded.

    What Python reads when it starts, such as a locale, takes a process of its own.
    """
    if _startup({**os.environ, **environ}) != STARTUP:
        data = input.encode() if isinstance(input, str) else input
        done = subprocess.run(
            [*COMMAND, *arguments], env={**os.environ, **environ}, cwd=cwd, input=data,
            capture_output=True, check=False,
        )  # fmt: skip
        printed = (each.decode().replace("\r\n", "\n") for each in (done.stdout, done.stderr))
        return subprocess.CompletedProcess(done.args, done.returncode, *printed)
    with TemporaryFile() as stdin, TemporaryFile() as out, TemporaryFile() as err:
        stdin.write(input.encode() if isinstance(input, str) else input)
        stdin.seek(0)
        _fork(arguments, environ, (stdin, out, err), cwd)
        return _done(arguments, out, err)


def sent(data: bytes, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run on what comes through a pipe whose other end stays open until the command has ended."""
    theirs, ours = os.pipe()
    with TemporaryFile() as out, TemporaryFile() as err:
        _fork(arguments, environ, (theirs, out, err))
        os.close(theirs)
        left = memoryview(data)
        with suppress(BrokenPipeError):  # it has read as much as it wanted
            while left:
                left = left[os.write(ours, left) :]
        done = _done(arguments, out, err)
    os.close(ours)
    return done


def _done(
    arguments: Sequence[str], out: IO[bytes], err: IO[bytes]
) -> subprocess.CompletedProcess[str]:
    """Wait until a fork has ended."""
    code = int(_loaded().recv(16))
    out.seek(0)
    err.seek(0)
    printed = (file.read().decode().replace("\r\n", "\n") for file in (out, err))
    return subprocess.CompletedProcess([*COMMAND, *arguments], code, *printed)


def _fork(
    arguments: Sequence[str],
    environ: Mapping[str, str],
    streams: Sequence[IO[bytes] | int],
    cwd: str | Path | None = None,
) -> None:
    request = {
        "argv": arguments,
        "cwd": os.fspath(cwd or Path.cwd()),
        "environ": {**os.environ, **environ},
    }
    descriptors = [each if isinstance(each, int) else each.fileno() for each in streams]
    socket.send_fds(_loaded(), [json.dumps(request).encode()], descriptors)


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
    with Path(os.devnull).open("rb") as nothing:
        _fork(arguments, {"TERM": "xterm", **environ}, (nothing, theirs, theirs))
    os.close(theirs)
    screen = _screen(ours, ())
    _loaded().recv(16)
    return screen


class Played(NamedTuple):
    """What a program did at a terminal."""

    code: int
    screen: str  # what was sent to the terminal, with what was typed
    out: str  # what was sent to stdout, where that was a file


def played(
    *arguments: str, typed: Sequence[tuple[str, str]] = (), piped: bool = False, **environ: str
) -> Played:
    """Run at a pseudo-terminal, typing each text once the screen shows what it stands behind."""
    ours, theirs = pty.openpty()
    with TemporaryFile() as out:
        streams = (theirs, out if piped else theirs, theirs)
        _fork(arguments, {"TERM": "xterm", **environ}, streams)
        os.close(theirs)
        screen = _screen(ours, typed)
        code = int(_loaded().recv(16))
        out.seek(0)
        return Played(code, screen, out.read().decode())


def _screen(ours: int, typed: Sequence[tuple[str, str]]) -> str:
    """Read what a terminal is sent until it is closed, typing each text at its time."""
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
    os.close(ours)
    return received.decode("utf-8")
