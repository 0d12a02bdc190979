"""`search --interactive`: a passage is chosen by fzf or by its number, then opened or printed."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import memcli
from memcli.cli.shell_scripts import WIDGETS
from tests.cli.processes import played, run
from tests.context.makers import put

FILES = {
    "MEMORY.md": "# Rules\n\nA rule.\n\nThe pool never runs dry.\n",
    "memory/2026-02-05.md": "# Day \x1b]0;red\x07\n\nThe \x1b[31m pool was empty.\n",
}
LIST = ["1\tMEMORY.md:1-5\t\tRules", "2\tmemory/2026-02-05.md:1-3\t2026-02-05\tDay ␛]0;red␇"]
# Stands in for fzf: keeps what it was called with, and does what a person would.
FZF = """\
import json, os, shlex, subprocess, sys
given = sys.argv[1:]
lines = sys.stdin.read()
query = os.environ.get("TYPED", "")
shell = {"shell": True, "executable": os.environ["SHELL"], "capture_output": True, "text": True}
if "--disabled" in given:
    reload = given[given.index("--bind") + 1].partition(":reload:")[2]
    lines = subprocess.run(reload.replace("{q}", shlex.quote(query)), **shell).stdout
line = (lines.splitlines() + [""])[int(os.environ.get("CHOSEN", 1)) - 1]
preview = given[given.index("--preview") + 1]
second = shlex.quote((line + "\\t\\t").split("\\t")[1])
shown = subprocess.run(preview.replace("{2}", second), **shell)
with open(os.environ["RECORD"], "w") as file:
    json.dump({"lines": lines.splitlines(), "preview": shown.stdout + shown.stderr}, file)
if "--print-query" in given:
    print(query)
print(line)
sys.exit(int(os.environ.get("FZF_ENDS_WITH", 0)))
"""


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A memory, an editor that writes down what it is called with, and no fzf."""
    put(tmp_path / "bin", {"vim": '#!/bin/sh\nprintf "%s\\n" "$@" > "$RECORD.editor"\n'})
    (tmp_path / "bin" / "vim").chmod(0o755)
    (tmp_path / "bin" / "touch").symlink_to(shutil.which("touch") or "")
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{tmp_path}/fzf")
    monkeypatch.setenv("PYTHONPATH", str(Path(memcli.__file__).parents[1]))
    monkeypatch.setenv("RECORD", str(tmp_path / "record"))
    monkeypatch.setenv("MEMCLI_EMBEDDING_ENCODER", "none")
    monkeypatch.setenv("EDITOR", "vim")
    folder = put(tmp_path / "notes", FILES)
    monkeypatch.chdir(folder)
    run("index")
    return folder


@pytest.fixture
def fzf(notes: Path) -> Path:
    put(notes.parent / "fzf", {"fzf": f"#!{sys.executable}\n{FZF}"}).joinpath("fzf").chmod(0o755)
    return notes


def _opened(notes: Path) -> list[str]:
    return (notes.parent / "record.editor").read_text().splitlines()


def _shown(notes: Path) -> dict[str, object]:
    record = json.loads((notes.parent / "record").read_text())
    assert isinstance(record, dict)
    return record


def test_a_number_opens_a_passage_at_its_line(notes: Path) -> None:
    done = played("pick", "pool runs dry", typed=[("none)? ", "3\n"), ("none)? ", "1\n")])
    assert done.code == 0
    assert _opened(notes) == ["+5", f"{notes}/MEMORY.md"]
    listed = done.screen.replace("\r", "").split("\n")
    assert [line for line in listed if line.startswith("  ")] == [
        "  1. MEMORY.md:1-5  # Rules A rule. The pool never runs dry.",
        "  2. memory/2026-02-05.md:1-3  # Day ␛]0;red␇ The ␛[31m pool was empty.",
    ]


def test_the_question_is_asked_for_and_the_choice_is_all_that_is_printed(notes: Path) -> None:
    typed = [("Question: ", "pool runs dry\n"), ("none)? ", "2\n")]
    assert played("pick", "-f", "{file}", typed=typed, piped=True).out == "memory/2026-02-05.md\n"
    done = played("pick", "-f", r"{file}:{start_line}\0", typed=typed, piped=True)
    assert done.out == "memory/2026-02-05.md:1\0"
    done = played("pick", "--json", typed=typed, piped=True)
    assert json.loads(done.out)["citation"] == "memory/2026-02-05.md:1-3"
    assert not (notes.parent / "record.editor").exists()


def test_no_choice_is_a_negative_answer(notes: Path) -> None:
    done = played("pick", "pool", "-f", "{file}", typed=[("none)? ", "\n")], piped=True)
    assert (done.code, done.out) == (1, "")
    done = played("pick", "zebrafish", piped=True)
    assert (done.code, done.screen.count("No passages found.")) == (1, 1)


def test_fzf_shows_each_passage_beside_its_text_and_nothing_raw(fzf: Path) -> None:
    assert played("pick", "pool runs dry", CHOSEN="2").code == 0
    assert _opened(fzf) == ["+3", f"{fzf}/memory/2026-02-05.md"]
    assert _shown(fzf) == {
        "lines": LIST,
        "preview": "# Day ␛]0;red␇\n\nThe ␛[31m pool was empty.\n",
    }


def test_without_a_question_fzf_searches_while_you_type(fzf: Path) -> None:
    done = played("pick", "-f", "{citation}", TYPED="pool runs dry", CHOSEN="2", piped=True)
    assert (done.code, done.out) == (0, "memory/2026-02-05.md:1-3\n")
    assert _shown(fzf)["lines"] == LIST
    played("pick", TYPED="$(touch owned)'\"; touch owned", FZF_ENDS_WITH="130")
    assert not (fzf / "owned").exists()
    played("pick", TYPED="", FZF_ENDS_WITH="130")
    assert _shown(fzf)["lines"] == []


@pytest.mark.parametrize("code", ["1", "130"])
def test_giving_up_in_fzf_is_a_negative_answer(fzf: Path, code: str) -> None:
    done = played("pick", "pool", "-f", "{file}", FZF_ENDS_WITH=code, piped=True)
    assert (done.code, done.out) == (1, "")


def test_an_fzf_that_fails_is_named(fzf: Path) -> None:
    done = played("pick", "pool", FZF_ENDS_WITH="2")
    assert done.code == 2
    assert f"memcli: {fzf.parent}/fzf/fzf ended with 2\r\nTry: memcli search" in done.screen


def test_the_modules_of_the_current_folder_are_not_run(fzf: Path) -> None:
    put(fzf, {"memcli/__main__.py": "open('owned', 'w')\n", "typer.py": "open('owned', 'w')\n"})
    played("pick", "pool")
    assert not (fzf / "owned").exists()
    assert _shown(fzf)["preview"] != ""


SHELLS = [shell for shell in WIDGETS if shutil.which(shell)]


def test_widgets_are_printed_by_the_program() -> None:
    for shell, script in WIDGETS.items():
        assert run("completion", shell, "--keys").stdout == script


@pytest.mark.parametrize("shell", SHELLS)
def test_widgets_are_read_by_their_shell(shell: str, tmp_path: Path) -> None:
    file = put(tmp_path, {"widget": WIDGETS[shell]}) / "widget"
    done = subprocess.run([shell, "-n", str(file)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_widget_of_bash_puts_the_quoted_path_at_the_cursor(tmp_path: Path) -> None:
    script = f"""
bind() {{ printf '%s\\n' "$*"; }}
memcli() {{ printf '%s' "$FOUND"; }}
{WIDGETS["bash"]}
READLINE_LINE='vim  -R' READLINE_POINT=4
__memcli_insert
printf '%s|%s\\n' "$READLINE_LINE" "$READLINE_POINT"
memcli() {{ return 1; }}
__memcli_insert
printf '%s|%s\\n' "$READLINE_LINE" "$READLINE_POINT"
"""
    hostile = "a $(touch owned) 'b'.md"
    done = subprocess.run(
        ["bash", "--norc", "-c", script], capture_output=True, text=True, check=True, cwd=tmp_path,
        env={**os.environ, "FOUND": hostile},
    )  # fmt: skip
    *bound, line, same = done.stdout.splitlines()
    assert bound == ['-x "\\C-xm": __memcli_insert', '-x "\\C-xo": memcli search -i']
    assert shlex.split(line.partition("|")[0]) == ["vim", hostile, "-R"]
    assert int(line.partition("|")[2]) == line.index(" -R")
    assert same == line
    assert not (tmp_path / "owned").exists()
