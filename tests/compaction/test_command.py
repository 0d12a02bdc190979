"""A program of the user's own writes the summary, and cannot lose what must survive."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shutil
import sys
from pathlib import Path

import pytest

from memcli.cli.main import run
from tests.support import write

TERSE = """
import sys
lines = [line for line in sys.stdin.read().split("\\n") if line.startswith("- ")]
print("a preface without a citation")
print("- told elsewhere (memory/2030-01-01.md:1)")
print("- in short: a store was chosen" + lines[0][lines[0].rindex(" ("):])
"""

WORDY = """
import sys
for line in sys.stdin.read().split("\\n"):
    if line.startswith("- "):
        said, where = line.rsplit(" (", 1)
        print(said + " and so on" * 40 + " (" + where)
"""


@pytest.fixture
def notes(workspaces: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MEMCLI_EMBEDDING_ENCODER", "hashing")
    return Path(shutil.copytree(workspaces / "engineer", tmp_path / "notes"))


def _configure(program: str, folder: Path) -> None:
    folder.mkdir(parents=True)
    command = json.dumps([sys.executable, "-c", program])
    (folder / "config.toml").write_text(f"[compact]\ncommand = {command}\n")


def _compact(notes: Path) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(["compact", "-w", str(notes), "--summarizer", "command", "--show", "--tail",
                    "36", "--tail-tokens", "0"])  # fmt: skip
    return code, out.getvalue(), err.getvalue()


def _user_folder() -> Path:
    return Path(os.environ["XDG_CONFIG_HOME"]) / "memcli"


def test_its_lines_are_used_where_they_cite_what_it_was_given(notes: Path) -> None:
    _configure(TERSE, _user_folder())
    code, out, err = _compact(notes)
    assert code == 0, err
    assert "- in short: a store was chosen" in out
    assert "  command  confidence" in out
    assert "preface" not in out
    assert "told elsewhere" not in out
    assert "We will use MySQL 8.0 for the new order store." in out


def test_a_program_that_fails_is_named(notes: Path) -> None:
    _configure("import sys; sys.exit('no model')", _user_folder())
    code, out, err = _compact(notes)
    assert (code, out) == (2, "")
    assert "failed with exit code 1: no model" in err


def test_a_workspace_cannot_name_a_program(notes: Path) -> None:
    _configure(TERSE, notes / "config")
    shutil.move(notes / "config" / "config.toml", notes / "memcli.toml")
    code, _, err = _compact(notes)
    assert code == 2
    assert "compact.command may only stand in your own configuration" in err


def test_one_that_does_not_shrink_makes_way_for_sentences_and_is_told_of(notes: Path) -> None:
    _configure(WORDY, _user_folder())
    code, out, err = _compact(notes)
    assert code == 0, err
    first = out.split("\n")[0]
    assert re.fullmatch(
        r"would write  \S+\.md  (\d+) -> \d+ tokens  8 records  extractive  confidence 0\.\d\d;"
        r" what the program wrote costs \d{4} of \1 tokens",
        first,
    )
    assert "and so on" not in out


def test_where_nothing_shrinks_both_reasons_are_told(tmp_path: Path) -> None:
    rules = "\n".join(f"- Rule {n}: you must never touch valve {n}." for n in range(10, 16))
    for day in (1, 2):
        write(tmp_path, f"memory/2025-03-0{day}.md", rules)
    _configure(WORDY, _user_folder())
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        run(["compact", "-w", str(tmp_path), "--summarizer", "command", "--cluster", "2", "--tail",
             "0", "--tail-tokens", "0"])  # fmt: skip
    assert re.fullmatch(
        r"declined  memory/2025-03-01\.md to memory/2025-03-02\.md: what the program wrote costs"
        r" 556 of 126 tokens, and what must survive 132\n",
        out.getvalue(),
    )
