"""Older lines that a passage corrects, and the marks that commands print."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands import say
from tests.history.repositories import commit, git
from tests.support import write


@pytest.fixture
def corrected(tmp_path: Path) -> Path:
    notes = tmp_path / "notes"
    for day, text in (
        ("2025-01-01", "The office opens at 8:00."),
        ("2025-03-01", "The office opens at 9:30 instead of 8:00."),
        ("2025-05-01", "The office has a new lamp."),
    ):
        write(notes, f"memory/{day}.md", f"# Office\n\n{text}\n")
    return notes


def test_the_older_line_stands_below_the_passage(corrected: Path) -> None:
    found = say("search", "when does the office open", "--superseded", folder=corrected)
    older = "    3 corrects memory/2025-01-01.md:3 (2025-01-01): The office opens at 8:00.\n"
    assert found.code == 0
    assert found.out.count(older) == 1
    newer = found.out.index("The office opens at 9:30")
    assert newer < found.out.index(older)
    assert "corrects" not in say("search", "when does the office open", folder=corrected).out


def test_the_older_line_is_printed_to_its_end(tmp_path: Path) -> None:
    older = "The connection pool of tracker\nhas 20 slots."
    newer = "We raised the connection pool of tracker to 40 slots instead of 20."
    for day, text in (("2025-12-01", f"{older}\n\nKim was there."), ("2026-01-04", f"- {newer}")):
        write(tmp_path / "notes", f"memory/{day}.md", f"# Log\n\n{text}\n")
    found = say("search", "connection pool of tracker", "--superseded", folder=tmp_path / "notes")
    assert f"(2025-12-01): {' '.join(older.splitlines())}\n" in found.out


def test_json_tells_which_line_corrects_which(corrected: Path) -> None:
    line = ("search", "when does the office open", "--superseded", "--json")
    results = json.loads(say(*line, folder=corrected).out)["results"]
    told = {each["path"]: each.get("superseded") for each in results}
    assert told["memory/2025-01-01.md"] is None
    assert told["memory/2025-03-01.md"] == [
        {
            "source": "memory", "path": "memory/2025-01-01.md", "start_line": 3, "end_line": 3,
            "date": "2025-01-01", "text": "The office opens at 8:00.", "by": 3,
            "citation": "memory/2025-01-01.md:3",
        }
    ]  # fmt: skip
    refused = say("search", "office", "--superseded", "-f", "paths", folder=corrected)
    assert (refused.code, refused.out) == (2, "")


def test_every_command_prints_the_correction_of_an_older_line(corrected: Path) -> None:
    mark = "corrected by memory/2025-03-01.md:3 (2025-03-01)"
    question = "when does the office open"
    shown = say("search", question, folder=corrected).out
    assert shown.index("opens at 9:30") < shown.index("opens at 8:00") < shown.index(mark)
    assert "corrected by" not in shown.replace(mark, "")
    for line in (
        ("search", question, "-f", "markdown"), ("search", question, "--brief"),
        ("search", question, "-f", "vimgrep"),
        ("search", question, "-1"),
        ("related", "memory/2025-05-01.md"),
    ):  # fmt: skip
        assert mark in say(*line, folder=corrected).out, line
    made = say("context", question, folder=corrected).out
    assert "opens at 9:30" in made
    assert "opens at 8:00." not in made  # nothing of that note holds any more
    told = json.loads(say("search", question, "--json", folder=corrected).out)["results"]
    assert [len(each.get("corrected_by", ())) for each in told].count(1) == 1
    rows = say("search", question, "-f", "jsonl", folder=corrected).out.splitlines()
    assert [len(json.loads(row).get("corrected_by", ())) for row in rows].count(1) == 1


def test_get_names_the_correction_outside_of_the_text(corrected: Path) -> None:
    say("search", "office", folder=corrected)  # makes the index
    cited = say("get", "memory/2025-01-01.md:3", folder=corrected)
    assert "corrected by" not in cited.out
    mark = "memory/2025-01-01.md:3 is corrected by memory/2025-03-01.md:3 (2025-03-01): "
    assert mark in cited.err
    record = json.loads(say("get", "memory/2025-01-01.md", "--json", folder=corrected).out)
    (newer,) = record["corrected_by"]
    assert (newer["line"], newer["citation"]) == (3, "memory/2025-03-01.md:3")
    now = say("get", "memory/2025-03-01.md:3", "--json", folder=corrected)
    assert "corrected_by" not in json.loads(now.out)
    whole = say("get", "memory/2025-01-01.md", folder=corrected)
    assert mark in whole.err
    assert "corrected by" not in whole.out


def test_a_correction_by_an_agent_does_not_outrank_a_newer_one_of_the_user(tmp_path: Path) -> None:
    write(tmp_path, "memory/2025-01-01.md", "# 2025-01-01\n\nThe office opens at 8:00.\n")
    note = "# Agent\n\n- The office opens at 7:00. (corrects memory/2025-01-01.md:3)\n"
    write(tmp_path, "memory/agent/2025-02-01.md", note)
    write(tmp_path, "memory/2025-03-01.md", "# 2025-03-01\n\nThe office opens at 9:30 now.\n")
    shown = say("search", "when does the office open", folder=tmp_path).out
    assert "corrected by memory/2025-03-01.md:3 (2025-03-01)" in shown
    assert shown.index("9:30 now") < shown.index("8:00")
    assert "corrected by memory/agent" not in shown


def test_each_corrected_line_of_a_passage_has_its_own_mark(tmp_path: Path) -> None:
    old = "# Home\n\n- Boiler service: Hendricks, 555-0119\n- Rent is 980 a month.\n"
    new = "# Home\n\n- Boiler service: WarmWorks, 555-0871\n- Rent is 1,045 a month.\n"
    write(tmp_path, "memory/2024-03-02.md", old)
    write(tmp_path, "memory/2025-01-18.md", new)
    shown = say("search", "boiler service rent", "--full", folder=tmp_path).out
    for line in (3, 4):
        assert f"corrected by memory/2025-01-18.md:{line} (2025-01-18)" in shown


def test_what_was_true_at_an_earlier_day_is_not_marked(corrected: Path) -> None:
    line = ("search", "when does the office open", "--until", "2025-02-01")
    shown = say(*line, folder=corrected).out
    assert "opens at 8:00" in shown
    assert "corrected by" not in shown


def test_a_past_state_is_not_marked_by_what_was_written_later(corrected: Path) -> None:
    later = corrected / "memory/2025-03-01.md"
    text = later.read_text("utf-8")
    later.unlink()
    git(corrected, "init", "-q", "-b", "main")
    commit(corrected, "2025-02-01")
    commit(corrected, "2025-04-01", {"memory/2025-03-01.md": text})
    question = ("search", "when does the office open")
    before = say(*question, "--as-of", "2025-02-15", folder=corrected).out
    after = say(*question, "--as-of", "2025-04-15", folder=corrected).out
    assert "opens at 8:00" in before
    assert "corrected by" not in before
    assert after.index("opens at 9:30") < after.index("corrected by memory/2025-03-01.md:3")


def test_front_matter_names_what_a_note_replaces(tmp_path: Path) -> None:
    write(
        tmp_path, "notes/mysql.md", "---\ndate: 2025-01-01\n---\n# Store\n\nOrders are in MySQL.\n"
    )
    write(
        tmp_path,
        "notes/pg.md",
        "---\ndate: 2025-03-01\nsupersedes: '[[mysql]]'\n---\n# PostgreSQL\n\nTables by year.\n",
    )
    mark = "corrected by notes/pg.md:5 (2025-03-01)"
    for line in (("search", "MySQL"), ("context", "where are orders")):
        assert mark in say(*line, folder=tmp_path).out, line
    write(
        tmp_path, "notes/mysql.md", "---\ndate: 2025-05-01\n---\n# Store\n\nOrders are in MySQL.\n"
    )
    assert "corrected by" not in say("search", "MySQL", folder=tmp_path).out


def test_a_context_marks_what_it_contains_whatever_is_asked(tmp_path: Path) -> None:
    """Rules and the newest notes are marked, and the marks are paid for."""
    write(
        tmp_path,
        "rules.md",
        "---\ndate: 2025-01-01\nalways: true\n---\n# Team\n\nThe office opens at 8:00.\n",
    )
    write(tmp_path, "memory/2025-03-01.md", "# Log\n\nThe office opens at 9:30.\n")
    mark = "corrected by memory/2025-03-01.md:3 (2025-03-01)"
    for line in (("context",), ("context", "office"), ("context", "--budget", "170")):
        shown = say(*line, "--json", "--explain", folder=tmp_path)
        parts = {part["path"]: part for part in json.loads(shown.out)["parts"]}
        assert [each["citation"] for each in parts["rules.md"]["corrected_by"]] == [
            "memory/2025-03-01.md:3"
        ]
        assert "corrected_by" not in parts.get("memory/2025-03-01.md", {})
        assert mark in say(*line, folder=tmp_path).out, line
        assert json.loads(shown.out)["tokens"] <= json.loads(shown.out)["budget"]
