"""Completions: as the program writes them, complete, and safe with names from a folder."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import memcli
from memcli.cli.command_help import command_tree
from memcli.cli.generate import FILE_NAMES, MANUAL, short_manual
from memcli.cli.program import topics
from memcli.cli.shell_scripts import completion_scripts
from memcli.config.keys import BY_NAME
from tests.cli.processes import run

FOLDER = Path(memcli.__file__).parents[1] / "completions"
TREE = command_tree()
SCRIPTS = completion_scripts()
COMPLETE = """\
source "$1"
COMP_WORDS=("${@:2}")
COMP_CWORD=$(($# - 2))
_memcli
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.mark.parametrize("shell", SCRIPTS)
def test_completions_are_as_the_program_writes_them(shell: str) -> None:
    assert SCRIPTS[shell] == (FOLDER / FILE_NAMES[shell]).read_text("utf-8")
    assert run("completion", shell).stdout == SCRIPTS[shell]


def test_the_manual_page_is_as_the_program_writes_it() -> None:
    assert short_manual() == (FOLDER / MANUAL).read_text("utf-8")


@pytest.mark.parametrize("shell", SCRIPTS)
def test_every_option_is_completed(shell: str) -> None:
    for command in TREE:
        for option in command.options:
            for name in option.names.split():
                shown = f"-l {name[2:]} " if shell == "fish" and name[:2] == "--" else name
                shown = f"-s {name[1:]} " if shell == "fish" and name[:2] != "--" else shown
                assert shown in SCRIPTS[shell], (command.name, name)


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A `memcli` as an installation has one."""
    file = tmp_path / "bin" / "memcli"
    file.parent.mkdir()
    code = "from memcli.cli.main import main; main()"
    file.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -c "{code}" "$@"\n')
    file.chmod(0o755)
    return file


def completed(folder: Path, program: Path, *words: str) -> list[str]:
    done = subprocess.run(
        ["bash", "--norc", "-c", COMPLETE, "bash", str(FOLDER / "memcli.bash"), program, *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(FOLDER.parent)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    return [word for word in done.stdout.split("\n") if word]


@pytest.mark.parametrize("command", ["search", "context"])
def test_the_formats_that_are_offered_are_those_that_are_taken(
    workspaces: Path, program: Path, command: str
) -> None:
    offered = completed(workspaces / "engineer", program, command, "-f", "")
    refused = run(command, "pool", "-f", "nothing", "-w", str(workspaces / "engineer")).stderr
    assert f"must be one of {', '.join(offered)}, not 'nothing'" in refused


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("se",), ["search"]),
        (("--v",), ["--version"]),
        (("bench", "re"), ["report", "replay"]),
        (("bench", "quality", "--mode", "k"), ["keyword"]),
        (("search", "--no"), ["--no-sync", "--now"]),
        (("search", "--format", "json"), ["json", "jsonl"]),
        (("search", "--mode", "=", "s"), ["semantic"]),
        (("search", "--fusion", ""), list(BY_NAME["search.fusion"].choices)),
        (("search", "--limit", ""), []),
        (("search", "--source", ""), ["memory"]),
        (("search", "-w", "mem"), ["memory"]),
        (("search", "x", "--why-not", "U"), ["USER.md"]),
        (("get", "U"), ["USER.md"]),
        (("get", "memory/2026-01-0"), ["memory/2026-01-07.md"]),
        (
            ("config", "get", "watch."),
            ["watch.debounce_ms", "watch.threads", "watch.interval_minutes"],
        ),
        (("completion", ""), ["bash", "zsh", "fish"]),
        (("help", "ex"), ["exit-codes"]),
    ],
    ids=lambda words: " ".join(words),
)
def test_bash_completes(
    words: tuple[str, ...], expected: list[str], workspaces: Path, program: Path
) -> None:
    assert completed(workspaces / "engineer", program, *words) == expected


def test_the_topics_are_all_completed(workspaces: Path, program: Path) -> None:
    assert set(topics()) < set(completed(workspaces / "engineer", program, "help", ""))


def test_another_workspace_is_asked_where_one_is_named(
    tmp_path: Path, workspaces: Path, program: Path
) -> None:
    engineer = str(workspaces / "engineer")
    assert completed(tmp_path, program, "get", "U") == []
    assert completed(tmp_path, program, "get", "-w", engineer, "U") == ["USER.md"]
    assert completed(tmp_path, program, "get", "--workspace", "=", engineer, "U") == ["USER.md"]


def test_a_name_is_never_run(tmp_path: Path, program: Path) -> None:
    names = ["$(touch ran).md", "`touch ran`.md", "a b;touch ran.md", "new\nline.md"]
    (tmp_path / "ws" / "memory").mkdir(parents=True)
    for name in names:
        (tmp_path / "ws" / "memory" / name).write_text("# x\n")
    found = completed(tmp_path / "ws", program, "get", "memory/")
    assert found == sorted(f"memory/{name}" for name in names[:3])
    assert not (tmp_path / "ws" / "ran").exists()


def test_a_problem_is_no_answer_and_no_noise(tmp_path: Path) -> None:
    (tmp_path / "memcli.toml").write_text("nonsense")
    for what in ("documents", "sources", "anything"):
        done = run(str(tmp_path), "", _MEMCLI_COMPLETE=what)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_further_sources_are_asked_for_by_name(workspaces: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(workspaces / "engineer", tmp_path / "ws"))
    (folder / "docs").mkdir()
    (folder / "docs" / "guide.md").write_text("# Guide\n")
    (folder / "memcli.toml").write_text('[[source]]\nname = "docs"\npath = "docs"\n')
    assert run(str(folder), "d", _MEMCLI_COMPLETE="sources").stdout == "docs\n"
    assert run(str(folder), "docs:", _MEMCLI_COMPLETE="documents").stdout == "docs:guide.md\n"


def test_workspaces_are_asked_for_by_name(
    workspaces: Path, tmp_path: Path, program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    (tmp_path / "memcli").mkdir()
    named = "".join(f'{name} = "{workspaces / "engineer"}"\n' for name in ("work", "wiki", "home"))
    (tmp_path / "memcli" / "config.toml").write_text(f"[workspaces]\n{named}")
    (tmp_path / "web").mkdir()
    assert completed(tmp_path, program, "search", "-w", "@w") == ["@work", "@wiki"]
    assert completed(tmp_path, program, "search", "-w", "w") == ["web"]
    assert completed(tmp_path, program, "get", "-w", "@work", "U") == ["USER.md"]
    assert run("", "@h", _MEMCLI_COMPLETE="workspaces").stdout == "@home\n"


def test_zsh_answers_the_first_tab_and_can_be_sourced() -> None:
    last = SCRIPTS["zsh"].rpartition("\n}\n\n")[2]
    assert last == (
        'if [[ $funcstack[1] == _memcli ]]; then\n  _memcli "$@"\n'
        "else\n  compdef _memcli memcli\nfi\n"
    )
