"""A repository that a stranger made runs nothing and fetches nothing, whatever it is set to."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.commands import say
from tests.history.repositories import commit, git

COMMANDS = ("search pool", "context pool", "get MEMORY.md")
_spawned: list[Sequence[str]] = []
_listening = [False]


def _audit(event: str, arguments: tuple[object, ...]) -> None:
    if _listening[0] and event == "subprocess.Popen":
        command = arguments[1]
        assert isinstance(command, list | tuple)
        _spawned.append([str(each) for each in command])


sys.addaudithook(_audit)


@contextlib.contextmanager
def spawned() -> Iterator[list[Sequence[str]]]:
    """List what this process starts meanwhile."""
    _spawned.clear()
    _listening[0] = True
    try:
        yield _spawned
    finally:
        _listening[0] = False


class Trap(NamedTuple):
    """A program that leaves a mark when anything runs it."""

    program: Path
    mark: Path

    @property
    def has_sprung(self) -> bool:
        return self.mark.exists()


@pytest.fixture
def trap(tmp_path: Path) -> Trap:
    mark, program = tmp_path / "sprung", tmp_path / "trap"
    program.write_text(f"#!/bin/sh\ntouch '{mark}'\nexit 1\n")
    program.chmod(0o755)
    return Trap(program, mark)


Plant = Callable[[Path, Trap], tuple[str, ...]]


def _set(bait: str, *names: str, attributes: str = "") -> Plant:
    """Let settings name the trap; `bait` is a command of git that runs what they name."""

    def plant(notes: Path, trap: Trap) -> tuple[str, ...]:
        for name in names:
            git(notes, "config", name, str(trap.program))
        (notes / ".git/info").mkdir(exist_ok=True)
        (notes / ".git/info/attributes").write_text(attributes)
        return tuple(bait.split())

    return plant


def _hooks(notes: Path, trap: Trap) -> tuple[str, ...]:
    folder = notes / "hooks"
    folder.mkdir()
    for name in ("post-checkout", "post-index-change", "reference-transaction", "pre-auto-gc"):
        (folder / name).symlink_to(trap.program)
    git(notes, "config", "core.hooksPath", str(folder))
    return ("checkout", "-q", "HEAD~1")


def _signature(notes: Path, trap: Trap) -> tuple[str, ...]:
    git(notes, "config", "gpg.program", str(trap.program))
    git(notes, "config", "log.showSignature", "true")
    raw = git(notes, "cat-file", "commit", "HEAD").replace(
        "\n\n", "\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n -----END PGP SIGNATURE-----\n\n", 1
    )
    made = subprocess.run(
        ["git", "hash-object", "-t", "commit", "-w", "--stdin"],
        cwd=notes, input=f"{raw}\n", capture_output=True, text=True, check=True,
    )  # fmt: skip
    git(notes, "update-ref", "HEAD", made.stdout.strip())
    return ("log", "-1")


def _include(notes: Path, trap: Trap) -> tuple[str, ...]:
    """The same by a file that the configuration takes in."""
    more = notes.parent / "more.config"
    more.write_text(f'[core]\n\tfsmonitor = "{trap.program}"\n\tpager = "{trap.program}"\n')
    git(notes, "config", "include.path", str(more))
    return ("status",)


def _alternate(notes: Path, trap: Trap) -> tuple[str, ...]:
    """Objects of another folder, and a program that is asked what is there."""
    other = notes.parent / "other"
    git(notes.parent, "init", "-q", "--bare", str(other))
    (notes / ".git/objects/info/alternates").write_text(f"{other}/objects\n")
    git(notes, "config", "core.alternateRefsCommand", str(trap.program))
    return ("fetch", "-q", ".")


def _promise(notes: Path, trap: Trap) -> tuple[str, ...]:
    """An object that is missing, and a remote that promised to give it."""
    oid = git(notes, "rev-parse", "HEAD:memory/2026-02-10.md")
    (notes / f".git/objects/{oid[:2]}/{oid[2:]}").unlink()
    git(notes, "config", "core.repositoryFormatVersion", "1")
    git(notes, "config", "extensions.partialClone", "origin")
    git(notes, "config", "remote.origin.url", str(notes.parent))
    git(notes, "config", "remote.origin.promisor", "true")
    git(notes, "config", "remote.origin.uploadpack", str(trap.program))
    git(notes, "config", "protocol.allow", "always")
    git(notes, "config", "protocol.file.allow", "always")
    return ("cat-file", "-e", oid)


def _promise_by_a_command(notes: Path, trap: Trap) -> tuple[str, ...]:
    line = _promise(notes, trap)
    git(notes, "config", "remote.origin.url", f"ext::{trap.program}")
    git(notes, "config", "protocol.ext.allow", "always")
    return line


PLANTS: dict[str, Plant] = {
    "a file monitor": _set("status", "core.fsmonitor"),
    "an external difference": _set("diff HEAD~3 HEAD", "diff.external"),
    "a text conversion": _set(
        "diff HEAD~3 HEAD", "diff.shown.textconv", attributes="*.md diff=shown\n"
    ),
    "filters": _set(
        "cat-file --filters HEAD:MEMORY.md", "filter.shown.smudge", "filter.shown.clean",
        attributes="*.md filter=shown\n",
    ),
    "hooks": _hooks,
    "a pager": _set(
        "--paginate var -l", "core.pager", "pager.cat-file", "pager.rev-list", "pager.log"
    ),
    "a program for signatures": _signature,
    "an included file": _include,
    "alternates": _alternate,
    "a partial clone": _promise,
    "a partial clone by a command": _promise_by_a_command,
}  # fmt: skip


@pytest.mark.parametrize("plant", PLANTS)
def test_nothing_that_a_repository_names_is_run(notes: Path, trap: Trap, plant: str) -> None:
    commit(notes, "2026-04-01")
    bait = PLANTS[plant](notes, trap)
    before = _state(notes)
    with spawned() as programs:
        for line in COMMANDS:
            found = say(*line.split(), "--as-of", "HEAD", folder=notes)
            assert found.code == 0, found.err
            assert "40 connections" in found.out
        assert say("search", "pool", "--as-of", "2026-02-20", folder=notes).code == 0
    assert not trap.has_sprung
    assert _state(notes) == before
    asked = {next(word for word in line if word in ("cat-file", "rev-list")) for line in programs}
    assert asked == {"cat-file", "rev-list"}
    assert all(Path(line[0]).is_absolute() for line in programs)
    # The trap is none if nothing ever steps into it.
    with contextlib.suppress(subprocess.CalledProcessError):
        git(notes, *bait)
    assert trap.has_sprung or plant in ("a pager", "alternates")


def _state(notes: Path) -> dict[str, tuple[int, int]]:
    """Give size and time of all files, those of the repository among them."""
    return {
        str(file): (status.st_size, status.st_mtime_ns)
        for file in notes.rglob("*")
        if (status := file.lstat()) and file.is_file()
    }


def test_a_program_in_the_folder_is_not_taken_for_git(
    notes: Path, trap: Trap, monkeypatch: pytest.MonkeyPatch
) -> None:
    (notes / "git").symlink_to(trap.program)
    monkeypatch.setenv("PATH", f".{os.pathsep}{os.pathsep}{os.environ['PATH']}")
    assert say("get", "MEMORY.md", "--as-of", "HEAD", folder=notes).code == 0
    assert not trap.has_sprung


def test_what_the_caller_has_set_for_git_leads_nowhere_else(
    notes: Path, trap: Trap, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hook of git runs with GIT_DIR; whoever sets a trace or a prompt means another git."""
    monkeypatch.setenv("GIT_DIR", str(notes.parent / "elsewhere"))
    monkeypatch.setenv("GIT_OBJECT_DIRECTORY", str(notes.parent))
    monkeypatch.setenv("GIT_TRACE", str(trap.mark))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.fsmonitor")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", str(trap.program))
    assert say("get", "MEMORY.md", "--as-of", "HEAD", folder=notes).code == 0
    assert not trap.has_sprung


def test_a_replaced_object_is_not_believed(notes: Path) -> None:
    git(notes, "replace", "HEAD", "HEAD~2")
    found = say("get", "MEMORY.md", "--as-of", "HEAD", folder=notes)
    assert "40 connections" in found.out


def test_a_configuration_that_hangs_is_given_up(
    notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe = notes.parent / "pipe"
    os.mkfifo(pipe)
    git(notes, "config", "include.path", str(pipe))
    monkeypatch.setattr("memcli.history.git.ANSWER_SECONDS", 0.2)
    found = say("get", "MEMORY.md", "--as-of", "HEAD", folder=notes)
    assert (found.code, found.out) == (3, "")
    assert "git did not answer" in found.err
    assert "Try: " in found.err
