"""A program of the user's own writes the summary, and cannot lose what must survive."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from memcli.cli.main import run

TERSE = """
import sys
lines = [line for line in sys.stdin.read().split("\\n") if line.startswith("- ")]
print("a preface without a citation")
print("- told elsewhere (memory/2030-01-01.md:1)")
print("- in short: a store was chosen" + lines[0][lines[0].rindex(" ("):])
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
