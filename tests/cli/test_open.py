"""`search --open` opens a passage in the editor of the user, at the line that matches best."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memcli.cli.editor import command_line
from tests.cli.processes import run
from tests.context.makers import put

FILES = {
    "MEMORY.md": "# Rules\n\nA rule.\n\nThe pool never runs dry.\n",
    "memory/+!touch owned.md": "# Day\n\nThe pool was empty.\n",
}
RECORDER = """\
#!/bin/sh
printf '%s\\n' "$(basename "$0")" "$@" > "$RECORD"
exit "${EDITOR_ENDS_WITH:-0}"
"""
SEARCH = ("search", "pool runs dry", "--mode", "keyword", "--open")


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A memory, and editors that write down what they are called with."""
    for name in ("vim", "code", "hx", "ed"):
        put(tmp_path / "my bin", {name: RECORDER}).joinpath(name).chmod(0o755)
    monkeypatch.setenv("RECORD", str(tmp_path / "record"))
    monkeypatch.setenv("MEMCLI_EMBEDDING_ENCODER", "none")
    for variable in ("MEMCLI_EDITOR", "VISUAL", "EDITOR"):
        monkeypatch.delenv(variable, raising=False)
    folder = put(tmp_path / "notes", FILES)
    monkeypatch.chdir(folder)
    return folder


def _called(notes: Path) -> list[str]:
    return (notes.parent / "record").read_text().splitlines()


def _editor(notes: Path, name: str) -> str:
    return f"'{notes.parent}/my bin/{name}'"


def test_it_opens_the_first_passage_at_its_line_and_prints_nothing(notes: Path) -> None:
    done = run(*SEARCH, EDITOR=_editor(notes, "vim"))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert _called(notes) == ["vim", "+5", str(notes / "MEMORY.md")]


def test_the_question_may_stand_behind_it(notes: Path) -> None:
    run("search", "--open", "pool", "runs dry", EDITOR=_editor(notes, "vim"))
    assert _called(notes)[1:] == ["+5", str(notes / "MEMORY.md")]
    run("search", "--open=2", "pool runs dry", EDITOR=_editor(notes, "vim"))
    assert _called(notes) == ["vim", "+3", str(notes / "memory" / "+!touch owned.md")]
    assert run("search", "-n", "1", "--", "pool", "--open").stdout.startswith("memory/")


def test_own_variables_go_first_and_options_are_kept(notes: Path) -> None:
    vim, code, hx = (_editor(notes, name) for name in ("vim", "code", "hx"))
    run(*SEARCH, EDITOR=vim, VISUAL=f"{code} --wait --title 'a b'")
    assert _called(notes) == [
        "code", "--wait", "--title", "a b", "--goto", f"{notes}/MEMORY.md:5",
    ]  # fmt: skip
    run(*SEARCH, EDITOR=vim, VISUAL=code, MEMCLI_EDITOR=hx)
    assert _called(notes) == ["hx", f"{notes}/MEMORY.md:5"]
    run(*SEARCH, EDITOR=vim, VISUAL="", MEMCLI_EDITOR=" ")
    assert _called(notes)[0] == "vim"


def test_no_shell_reads_the_variable(notes: Path) -> None:
    run(*SEARCH, EDITOR=f"{_editor(notes, 'ed')} ; touch owned $(touch owned) | touch owned")
    assert _called(notes)[1:5] == [";", "touch", "owned", "$(touch"]
    assert not (notes / "owned").exists()


def test_no_file_of_a_workspace_names_an_editor(notes: Path) -> None:
    for text in ('editor = "ed"', '[search]\nopen = "ed"', '[terminal]\neditor = "ed"'):
        (notes / "memcli.toml").write_text(text)
        done = run(*SEARCH)
        assert done.returncode == 2
        assert "unknown setting" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "editor", "message"),
    [
        ((), "'vim", "EDITOR cannot be read as a command: No closing quotation\n"
            "Try: export EDITOR=vim"),
        (("-f", "text"), "vim",
            "--open prints nothing and cannot be combined with --format\nTry: --open"),
        (("--why-not", "MEMORY.md"), "vim",
            "--open prints nothing and cannot be combined with --why-not\nTry: --open"),
    ],
)  # fmt: skip
def test_what_cannot_be_opened_is_said(
    notes: Path, arguments: tuple[str, ...], editor: str, message: str
) -> None:
    done = run(*SEARCH, *arguments, EDITOR=editor)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"memcli: {message}\n")


def test_nothing_found_is_nothing_to_open(notes: Path) -> None:
    done = run("search", "zebrafish", "--mode", "keyword", "--open", EDITOR=_editor(notes, "vim"))
    assert done.returncode == 3
    assert done.stderr == (
        "No passages found.\nmemcli: there is no passage 1 to open: no passage found\n"
        "Try: memcli status\n"
    )


def test_an_editor_that_fails_is_named(notes: Path) -> None:
    done = run(*SEARCH, EDITOR=_editor(notes, "ed"), EDITOR_ENDS_WITH="3")
    program = f"{notes.parent}/my bin/ed"
    assert (done.returncode, done.stderr) == (
        2, f"memcli: {program} ended with 3\nTry: '{program}' {notes}/MEMORY.md\n"
    )  # fmt: skip


def test_a_file_that_is_gone_is_not_opened(notes: Path) -> None:
    run("index")
    (notes / "MEMORY.md").unlink()
    done = run(*SEARCH, "--no-sync", EDITOR=_editor(notes, "vim"))
    assert done.returncode == 3
    assert done.stderr.endswith(f"memcli: {notes}/MEMORY.md no longer exists\nTry: memcli index\n")


@pytest.mark.parametrize(
    ("editor", "arguments"),
    [
        *((name, ["+12", "/n/a.md"]) for name in ("vi", "nvim", "/usr/bin/vim", "emacs", "nano")),
        *((name, ["--goto", "/n/a.md:12"]) for name in ("code", "cursor", "codium", "Code.exe")),
        *((name, ["/n/a.md:12"]) for name in ("hx", "zed", "subl")),
        *((name, ["--line", "12", "/n/a.md"]) for name in ("kate", "pycharm")),
        ("ed", ["/n/a.md"]),
    ],
)
def test_every_editor_is_told_of_the_line_in_its_own_way(editor: str, arguments: list[str]) -> None:
    assert command_line([editor, "-x"], "/n/a.md", 12) == [editor, "-x", *arguments]


def test_a_name_that_editors_take_for_a_command_is_told_otherwise(
    notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(notes / "memory")
    search = ("search", "empty", "--mode", "keyword", "-w", str(notes))
    assert run(*search, "-f", "paths").stdout == "./+!touch owned.md\n"
    (result,) = json.loads(run(*search, "--json", "-v").stdout)["results"]
    assert result["file"] == "./+!touch owned.md"
    assert run("get", "./+!touch owned.md:3", "-w", str(notes)).stdout == "The pool was empty.\n"
