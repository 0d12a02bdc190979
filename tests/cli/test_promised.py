"""What the help says of any question and any memory, through the real commands."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

import memcli
from tests.cli.processes import run
from tests.commands import NewWorkspace, printed, record
from tests.support import write

NOTE = "# Pool\n\nThe pool of the tracker ran dry.\n"


@pytest.fixture
def notes(workspace: NewWorkspace) -> Path:
    return workspace({"memory/.keep": ""}, encoder="hashing")


def found(*arguments: str) -> list[str]:
    results = record("search", *arguments)["results"]
    return [each["path"].removeprefix("memory/") for each in results]


def test_equal_questions_give_equal_bytes_also_from_an_index_made_anew(
    workspaces: Path, tmp_path: Path
) -> None:
    folder = str(shutil.copytree(workspaces / "engineer", tmp_path / "notes"))
    lines = (
        "search pool --explain", "search 'on-call rules' --expand --json", "context pool --json",
        "related MEMORY.md:1 --json", "ls --json",
    )  # fmt: skip

    def told(seed: str) -> list[str]:
        assert run("index", "-q", "-w", folder).returncode == 0
        asked = [[*line.split(), "-w", folder, "--now", "2026-02-20"] for line in lines]
        done = [run(*words, PYTHONHASHSEED=seed) for words in asked]
        assert {each.returncode for each in done} == {0}
        return [each.stdout for each in done]

    first = told("1")
    assert told("2") == first
    shutil.rmtree(os.environ["XDG_CACHE_HOME"])
    assert told("3") == first


def test_a_gitignore_is_not_read_and_folders_of_tools_are_passed_over_without_a_word(
    notes: Path,
) -> None:
    write(notes, ".gitignore", "*.md\n")
    for path in ("a.md", "node_modules/b.md", ".venv/c.md", "dist/d.md", ".hidden/e.md"):
        write(notes, f"memory/{path}", NOTE)
    status = record("status")
    assert [each["path"] for each in record("ls")["documents"]] == ["memory/a.md"]
    assert [each["path"] for each in status["skipped"]] == ["memory/.hidden"]


def test_the_time_of_a_file_is_no_date(notes: Path) -> None:
    for path in ("memory/idea.md", "memory/2025-06-12.md"):
        write(notes, path, NOTE)

    def dates() -> dict[str, str | None]:
        listed = record("ls")["documents"]
        return {each["path"]: each["date"] for each in listed}

    before = dates()
    assert before == {"memory/idea.md": None, "memory/2025-06-12.md": "2025-06-12"}
    for path in before:
        os.utime(notes / path, (1_000_000_000, 1_000_000_000))
    assert dates() == before
    assert found("pool", "--since", "2001") == ["2025-06-12.md"]


@pytest.mark.parametrize("mode", ["hybrid", "keyword", "semantic"])
def test_a_filter_acts_before_ranking(
    notes: Path, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    """What it lets through is found though more than a retriever takes ranks before it."""
    monkeypatch.setenv("MEMCLI_SEARCH_UNIVERSE", "5")
    for number in range(20):
        write(notes, f"memory/best{number:02}.md", f"# Pool\n\nThe pool {number}.\n")
    for number in range(3):
        said = f"Of the garden, of trains, of beans and, {number} times, of a pool.\n"
        write(notes, f"memory/other{number}.md", f"---\ntags: [garden]\n---\n\n{said}")
    asked = ("the pool", "--mode", mode, "-n", "3")
    assert all(path.startswith("best") for path in found(*asked))
    told = found(*asked, "--tag", "garden")
    assert sorted(told) == ["other0.md", "other1.md", "other2.md"]


def test_one_of_given_values_must_match_but_all_of_headings_tags_and_conditions(
    notes: Path,
) -> None:
    said = {
        "a.md": "---\ntags: [red]\nstate: open\n---\n\n# Pool\n\n## Tracker\n\nThe pool ran dry.\n",
        "b.md": "---\ntags: [red, blue]\nstate: open\nteam: ops\n---\n\n# Pool\n\nIt ran dry.\n",
        "DECISIONS/c.md": "# Tracker\n\nThat pool ran dry.\n",
    }
    for path, text in said.items():
        write(notes, f"memory/{path}", text)
    c = "DECISIONS/c.md"

    def told(*filters: str) -> list[str]:
        return sorted(found("pool ran dry", *filters))

    assert told() == [c, "a.md", "b.md"]
    assert told("--path", "memory/a.md", "--path", f"memory/{c}") == [c, "a.md"]
    assert told("--kind", "decision", "--kind", "note") == [c, "a.md", "b.md"]
    assert told("--kind", "decision") == [c]
    assert told("--heading", "Pool", "--heading", "Tracker") == ["a.md"]
    assert told("--tag", "red", "--tag", "blue") == ["b.md"]
    assert told("--where", "state=open", "--where", "team=ops") == ["b.md"]
    assert told("--tag", "red", "--path", f"memory/{c}") == []


def test_a_profile_gives_values_where_none_are_set(notes: Path) -> None:
    for number in range(20):
        write(notes, f"memory/{number}.md", f"# {number}\n\nThe pool ran dry {number} times.\n")
    assert len(found("pool", "--profile", "classic")) == 6
    assert len(found("pool", "--profile", "classic", "-n", "10")) == 10


def test_lint_needs_no_index_and_makes_none(notes: Path) -> None:
    write(notes, "MEMORY.md", "# Memory\n\nSee [the plan](plan.md).\n")
    told = record("lint")
    assert [each["code"] for each in told["findings"]] == ["broken-link"]
    cache = Path(os.environ["XDG_CACHE_HOME"])
    assert [path for path in cache.rglob("*") if path.is_file()] == []
    printed("index", "-q")
    assert record("lint") == told


def test_a_memory_reads_nothing_before_it_is_asked_and_prints_nothing(
    notes: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with memcli.Memory.open(notes) as memory:
        assert not Path(os.environ["XDG_CACHE_HOME"]).exists()
        write(notes, "memory/late.md", NOTE)
        assert [each.path for each in memory.search("pool").results] == ["memory/late.md"]
        write(notes, "memory/broken.md", b"\x00\x01")
        memory.index()
        assert memory.search("umbrella", sync=False).freshness.state == "up_to_date"
        assert memory.context("pool").markdown
        with pytest.raises(memcli.errors.NotFoundError):
            memory.get("none.md")
    assert capfd.readouterr() == ("", "")
