"""A server that may write: notes are appended, known ones are not, and nothing else is changed."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.mcp.clients import MODES, Served, price, serve

FACT = "Deploys of tracker-api go out on Tuesdays, never on Fridays."


@pytest.fixture
def notes(tmp_path: Path, workspaces: Path) -> Path:
    return Path(shutil.copytree(workspaces / "engineer", tmp_path / "engineer"))


@pytest.fixture(params=MODES)
def served(request: pytest.FixtureRequest, notes: Path, tmp_path: Path) -> Iterator[Served]:
    with serve(tmp_path, "-w", str(notes), "--write", mode=request.param) as made:
        yield made


def test_a_note_is_appended_and_found_and_told_once(served: Served, notes: Path) -> None:
    before = {path: path.read_bytes() for path in notes.rglob("*.md")}
    first = served.text("memory_remember", text=FACT)
    [made] = [path for path in notes.rglob("*.md") if path not in before]
    assert first == f"remembered: memory/{made.name}:3-3\n"
    title, note = made.read_text().split("\n\n")
    assert title == f"# {made.stem}"
    assert re.fullmatch(r"- \d\d:\d\d " + re.escape(FACT) + "\n", note)
    assert FACT in served.text("memory_search", query="when are deploys of tracker-api")
    again = served.text("memory_remember", text=FACT.upper())
    assert again == f"not saved: duplicate of an existing line: memory/{made.name}:3-3\n"
    assert {path: path.read_bytes() for path in before} == before
    assert served.error("memory_remember").startswith("memory_remember needs text")


def test_what_the_session_was_given_is_no_note(served: Served, notes: Path) -> None:
    shown = served.text("memory_get", path="MEMORY.md")
    line = next(line for line in shown.split("\n") if line.startswith("- ") and len(line) > 60)
    told = served.text("memory_remember", text=" ".join(line.split()[1:-3]))
    assert told == (
        "not saved: it comes from the memory: this session was given the line: MEMORY.md:7-7\n"
    )


def test_a_secret_stays_out(served: Served, notes: Path) -> None:
    before = {path: path.read_bytes() for path in notes.rglob("*.md")}
    told = served.text("memory_remember", text="push with ghp_q8ZrT2mVx7KdLw4Hs9Bn3YfGc6Jp5Rt1EaUv")
    assert told.startswith("not saved: it contains a secret: github-token")
    assert "q8ZrT2" not in told
    assert {path: path.read_bytes() for path in notes.rglob("*.md")} == before


def test_the_tool_says_that_it_writes_and_costs_no_more(served: Served) -> None:
    [tool] = [t for t in served.do(served.client.list_tools).tools if t.name == "memory_remember"]
    assert tool.annotations is not None
    assert tool.annotations.model_dump(exclude_none=True) == {
        "read_only_hint": False,
        "destructive_hint": False,
        "idempotent_hint": True,
        "open_world_hint": False,
    }
    assert price(served) <= 900


def test_of_several_the_own_one_is_written(notes: Path, tmp_path: Path, workspaces: Path) -> None:
    other = Path(shutil.copytree(workspaces / "engineer", tmp_path / "other"))
    before = {path: path.read_bytes() for path in other.rglob("*.md")}
    named = ["-w", str(notes), "-w", str(other), "--write"]
    with serve(tmp_path, *named) as served:
        assert served.text("memory_remember", text=FACT).startswith("remembered: memory/")
        assert price(served) <= 900
    assert {path: path.read_bytes() for path in other.rglob("*.md")} == before
    assert any(FACT in path.read_text() for path in (notes / "memory").glob("*.md"))


def test_without_the_option_there_is_no_such_tool(notes: Path, tmp_path: Path) -> None:
    with (
        serve(tmp_path, "-w", str(notes)) as served,
        pytest.raises(Exception, match="there is no tool 'memory_remember'"),
    ):
        served.call("memory_remember", text=FACT)
