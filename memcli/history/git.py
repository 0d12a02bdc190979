"""Read objects of a repository with the git program, without running anything of the repository.

A stranger may have written the configuration of a repository. `cat-file` and `rev-list` read
neither index nor work tree, so filters, hooks, text conversions and file monitors never run.
Fetching a missing object would need a second program and a protocol, and memcli gives git neither.
It never asks for a password, takes no lock and ignores replacements of objects. A process that
hangs is killed.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from contextlib import suppress

from memcli import system
from memcli.errors import NotFoundError, UsageError
from memcli.record import Record
from memcli.workspace.locate import is_repository, upward

ANSWER_SECONDS = 20.0  # an object of 8 MiB takes less than one second
MOST_NAME = 1000  # characters of a name of a commit
_NOWHERE = os.path.join(os.path.abspath(os.sep), "nowhere")  # a folder that is not there
# Options before any command. The list of allowed protocols names none that exists.
_FLAGS = (
    "--no-pager", "--no-optional-locks", "--no-replace-objects", f"--exec-path={_NOWHERE}",
    "-c", "core.fsmonitor=false", "-c", f"core.hooksPath={_NOWHERE}",
    "-c", "log.showSignature=false",
)  # fmt: skip
_ENVIRON = {
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_EXEC_PATH": _NOWHERE,
    "PATH": _NOWHERE,
    "LC_ALL": "C",
}
# What the program needs from the caller's environment: the configuration, and what Windows needs to
# start.
_KEPT = ("HOME", "XDG_CONFIG_HOME", "USERPROFILE", "SYSTEMROOT", "TMP", "TEMP")


class GitObject(Record):
    """An object of a repository."""

    oid: str  # its hash, in hexadecimal digits
    kind: str  # blob | tree | commit | tag
    size: int
    data: bytes = b""


class BrokenObjectError(Exception):
    """An object is missing or cannot be read; the message says which."""


class Git:
    """One repository; `close` ends it, and any call may fail."""

    def __init__(self, folder: str, environ: Mapping[str, str]) -> None:
        """Take the folder of the objects (or a `.git` file), and the environment."""
        self.folder = folder
        self._program = program_of(environ)
        variables = {name: environ[name] for name in _KEPT if name in environ}
        self._environ = {**variables, **_ENVIRON, "GIT_DIR": folder}
        self._answering: dict[str, Conversation] = {}

    def info(self, name: str) -> GitObject | None:
        """Return hash, kind and size of an object by any of its names; None if it is missing."""
        return self._ask("--batch-check", name)

    def read(self, name: str) -> GitObject:
        """Read an object; BrokenObjectError if it is missing or damaged."""
        answer = self._ask("--batch", name)
        if answer is None:
            raise BrokenObjectError(f"the object {name} is missing or damaged")
        return answer

    def commits(self, *arguments: str) -> list[str]:
        """List commits by `rev-list`; NotFoundError if git fails or takes too long."""
        command = [self._program, *_FLAGS, "rev-list", *arguments]
        try:
            done = subprocess.run(
                command,
                env=self._environ,
                cwd=os.sep,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=ANSWER_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise self._failed(f"no answer in {ANSWER_SECONDS:g} seconds") from None
        except OSError as error:
            raise self._failed(str(error.strerror)) from error
        if done.returncode:
            lines = done.stderr.decode("utf-8", "replace").strip().split("\n")
            raise self._failed(lines[-1] or f"exit code {done.returncode}")
        return done.stdout.decode("ascii", "replace").split("\n")[:-1]

    def _failed(self, why: str) -> NotFoundError:
        return NotFoundError(
            f"git failed to list the commits of {self.folder}: {why}", hint="git fsck"
        )

    def close(self) -> None:
        """End the programs that were started."""
        for each in self._answering.values():
            each.close()
        self._answering.clear()

    def _ask(self, how: str, name: str) -> GitObject | None:
        if "\n" in name or "\0" in name or len(name) > MOST_NAME:
            return None
        try:
            if how not in self._answering:
                command = [self._program, *_FLAGS, "cat-file", how]
                self._answering[how] = Conversation(command, self._environ)
            return self._answering[how].ask(name, with_data=how == "--batch")
        except OSError as error:
            if talk := self._answering.pop(how, None):
                talk.close()
            raise BrokenObjectError(f"git did not answer of {name}: {error}") from None


class Conversation:
    """A running `cat-file`: a name in, an object out."""

    def __init__(self, command: list[str], environ: Mapping[str, str]) -> None:
        """Start the process outside of any folder of a user."""
        self._process = subprocess.Popen(
            command,
            env=environ,
            cwd=os.sep,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._buffer = bytearray()

    def ask(self, name: str, *, with_data: bool) -> GitObject | None:
        """Ask for an object; OSError if the program ends or keeps silent."""
        stdin = self._process.stdin
        assert stdin is not None
        stdin.write(name.encode("utf-8", "surrogateescape") + b"\n")
        stdin.flush()
        *head, size = self._line().rsplit(b" ", 2)
        if len(head) != 2 or not size.isdigit():  # `NAME missing`, `NAME ambiguous`
            return None
        oid, kind = (each.decode("ascii", "replace") for each in head)
        data = self._take(int(size) + 1)[:-1] if with_data else b""
        return GitObject(oid, kind, int(size), data)

    def close(self) -> None:
        """End the program, kindly first."""
        process = self._process
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
        try:
            process.wait(timeout=1.0)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def __del__(self) -> None:
        """End the process with its owner: a command closes nothing before it returns."""
        self.close()

    def _line(self) -> bytes:
        while (end := self._buffer.find(b"\n")) < 0:
            self._buffer += self._more()
        return self._take(end + 1)[:-1]

    def _take(self, count: int) -> bytes:
        while len(self._buffer) < count:
            self._buffer += self._more()
        data = bytes(self._buffer[:count])
        del self._buffer[:count]
        return data

    def _more(self) -> bytes:
        """Read available bytes; wait for them as long as an answer may take."""
        out = self._process.stdout
        assert out is not None
        if not system.has_output(out, ANSWER_SECONDS):
            raise OSError(f"no answer in {ANSWER_SECONDS:g} seconds")
        piece = os.read(out.fileno(), 1 << 16)
        if not piece:
            raise OSError("it ended")
        return piece


def program_of(environ: Mapping[str, str]) -> str:
    """Find the program in the folders of PATH, never in the current one; UsageError for none."""
    for folder in environ.get("PATH", os.defpath).split(os.pathsep):
        program = os.path.join(folder, system.GIT)
        if os.path.isabs(folder) and os.access(program, os.X_OK) and os.path.isfile(program):
            return program
    raise UsageError(
        "git is not installed; memcli needs it to read earlier states",
        hint="install git, then the same command",
    )


def repository_of(folder: str) -> tuple[str, str]:
    """Find the repository of a real folder.

    Returns the folder or file with its objects, and the folder of the work tree; a bare repository
    has the same for both. UsageError if there is no repository.
    """
    for place in upward(folder):
        if is_repository(place):
            return os.path.join(place, ".git"), place
        head, *folders = (os.path.join(place, name) for name in ("HEAD", "objects", "refs"))
        if os.path.isfile(head) and all(map(os.path.isdir, folders)):  # it is bare
            return place, place
    raise UsageError(
        f"{folder} is not in a git repository, so there is no earlier state",
        hint="memcli search QUERY --until DATE",
    )
