"""Older lines that a passage corrects, and the marks that commands print."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.commands import checked, say
from tests.history.repositories import begin, commit, git
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


REPLACED = "notes/2025-01-01.md"


@pytest.fixture
def replaced(tmp_path: Path) -> Path:
    """Make a note that another replaces in part, and lines that a third one corrects."""
    depot = "# Depot\n\n- The depot in Basel closes at six\n  in the evening on all days.\n"
    old = f"# Store\n\nOrders are in MySQL.\n\nReplicas too.\n\n# Day\n\n- A lamp.\n\n{depot}"
    for day, text in (
        ("2025-01-01", old),
        (
            "2025-02-01",
            "# Store\n\nThis replaces the decision about the store in [[2025-01-01]].\n",
        ),
        ("2025-03-01", "# Day\n\nThe depot in Basel closes at eight instead of six.\n"),
    ):
        write(tmp_path, f"notes/{day}.md", text)
    say("index", folder=tmp_path)
    return tmp_path


def test_get_names_all_corrected_lines(replaced: Path) -> None:
    def marks(*line: str) -> list[str]:
        shown = say("get", *line, folder=replaced)
        assert "corrected by" not in shown.out
        return [each.partition(" is corrected by ")[0] for each in shown.err.splitlines()]

    store, depot = f"memcli: {REPLACED}:{{}}", f"memcli: {REPLACED}:13-14"
    assert marks(REPLACED) == [store.format("1-5"), depot]
    assert marks(f"{REPLACED}:4-6") == [store.format("5")]
    assert marks(f"{REPLACED}:5", "-C", "2") == [store.format("3-5")]
    assert marks(f"{REPLACED}:14") == [depot]
    record = checked("memcli.get", say("get", REPLACED, "--json", folder=replaced).out)
    lines = [(each["line"], each["last_line"]) for each in record["corrected_by"]]
    assert lines == [(1, 5), (13, 14)]


def test_get_names_a_newer_line_once(tmp_path: Path) -> None:
    sections = "".join(f"## Store {n}\n\nRack {n}.\n\n## Lamp {n}\n\nRed.\n\n" for n in range(10))
    write(tmp_path, "notes/2025-01-01.md", sections)
    replacing = "This replaces the decision about the store in [[2025-01-01]].\n"
    write(tmp_path, "notes/2025-02-01.md", replacing)
    say("index", folder=tmp_path)
    (mark,) = say("get", "notes/2025-01-01.md", folder=tmp_path).err.splitlines()
    lines = mark.partition("2025-01-01.md:")[2].partition(" is corrected by ")[0]
    assert (lines.count(","), lines[-10:]) == (7, "and 2 more")


def test_lines_around_a_passage_are_marked(replaced: Path) -> None:
    def marks(*line: str) -> list[str]:
        shown = say("search", "lamp", "--path", REPLACED, "-n", "1", *line, folder=replaced).out
        return [each.split()[0] for each in shown.splitlines() if "corrected by" in each]

    assert "9: - A lamp." in say("search", "lamp", "--path", REPLACED, folder=replaced).out
    for lines, first, last in ((2, "5", ()), (4, "3-5", ("13",)), (5, "3-5", ("13-14",))):
        assert marks("-C", str(lines)) == [first, *last]
        assert marks("-C", str(lines), "--until", "2025-02-15") == [first]
        assert marks("-C", str(lines), "--until", "2025-01-15") == []


@pytest.mark.parametrize("place", [("--path", "memory/2025-01*"), ("--heading", "Office")])
def test_a_filter_by_place_hides_no_correction(corrected: Path, place: tuple[str, str]) -> None:
    shown = say("search", "office", *place, folder=corrected).out
    assert "    3 corrected by memory/2025-03-01.md:3 (2025-03-01)" in shown


ENGINEER = ("changes", "--since", "2025-03-01", "--until", "2025-03-03")
MYSQL = "memory/2025-03-03.md:9-17  Order store rewrite > Decision: MySQL"
LINES = """\
    + We will use MySQL 8.0 for the new order store.
    + Reasons:
    + The operations team already runs two MySQL clusters.
    + Tomas has backups and failover scripted for it.
    + Nobody has strong feelings about the alternative.
    + Tracked in OPS-301. Revisit only if JSON columns hurt.
"""
MARK = "corrected by memory/2025-08-18.md:10 (2025-08-18)"
CORRECTION = {
    "citation": "memory/2025-08-18.md:10", "source": "memory", "path": "memory/2025-08-18.md",
    "start_line": 10, "end_line": 10, "date": "2025-08-18",
    "text": "We switch the order store to PostgreSQL 16. This replaces the decision of"
    " [[2025-03-03]].",
}  # fmt: skip


def changed(*options: str, folder: Path) -> dict[str, dict[str, Any]]:
    """Return the new text of all changes by its citation."""
    record = checked("memcli.changes", say("changes", *options, "--json", folder=folder).out)
    each = (change for day in record["days"] for change in day["changes"])
    return {change["new"]["citation"]: change["new"] for change in each if "new" in change}


def test_changes_mark_new_lines_that_a_newer_line_corrects(workspaces: Path) -> None:
    notes = workspaces / "engineer"
    without = say(*ENGINEER, folder=notes)
    assert f"  {MYSQL}\n{LINES}  memory/2025-03-03.md:21-22" in without.out
    assert "corrected by" not in without.out + without.err
    assert "corrected_by" not in say(*ENGINEER, "--json", folder=notes).out
    say("index", folder=notes)
    marked = say(*ENGINEER, folder=notes).out
    lines = [9, 11, 13, 14, 15, 17]
    mark = f"9, 11, 13, 14, 15, 17 {MARK}\n"
    assert marked == without.out.replace(LINES, f"{LINES}    {mark}")
    few = say(*ENGINEER, "-n", "1", folder=notes).out
    assert f"    … and 5 more\n    9 {MARK}\n" in few
    assert f"\n```\n\n- {mark}\n### " in say(*ENGINEER, "-f", "markdown", folder=notes).out
    new = changed(*ENGINEER[1:], folder=notes)
    assert new["memory/2025-03-03.md:9"]["corrected_by"] == [CORRECTION]
    assert lines == [int(each.rpartition(":")[2]) for each in new if "corrected_by" in new[each]]
    asked = json.loads(say(*ENGINEER, "MySQL 8.0", "-n", "1", "--json", folder=notes).out)
    assert [each["new"]["corrected_by"] for each in asked["ranked"]] == [[CORRECTION]]


def test_changes_mark_only_lines_of_the_past_that_are_still_there(tmp_path: Path) -> None:
    notes = begin(tmp_path / "notes")
    older = "# Office\n\n- The office opens at 8:00.\n- The lamp is red.\n"
    newer = "# Office\n\n- The office opens at 9:30 instead of 8:00.\n- The lamp is blue now.\n"
    commit(notes, "2025-01-01", {"memory/2025-01-01.md": older})
    kept = "# Office\n\nTwo\n\nnew lines.\n\n- The office opens at 8:00.\n"
    commit(notes, "2025-03-01", {"memory/2025-03-01.md": newer, "memory/2025-01-01.md": kept})
    say("index", folder=notes)
    shown = say("changes", "--since", "2025-01-01", "--until", "2025-03-02", folder=notes).out
    lines = "    + The office opens at 8:00.\n    + The lamp is red.\n"
    assert shown.endswith(f"{lines}    3 corrected by memory/2025-03-01.md:3 (2025-03-01)\n")
    assert shown.count("corrected by") == 1
    assert "    - The lamp is red.\n" in shown


def test_a_mark_of_changes_covers_no_line_that_nobody_corrected(tmp_path: Path) -> None:
    lamp = "# Day\n\n{}- The lamp is green and stays green.\n\n{}"
    first, last = "- Orders are in MySQL.\n\n", "- Invoices are in MySQL with the orders.\n"
    new = "# News\n\n- Orders and invoices are in PostgreSQL instead of MySQL.\n"
    notes = begin(tmp_path / "notes")
    commit(notes, "2025-01-01", {"memory/2025-01-01.md": lamp.format("", "")})
    commit(notes, "2025-01-02", {"memory/2025-01-01.md": lamp.format(first, last)})
    commit(notes, "2025-03-01", {"memory/2025-03-01.md": new})
    say("index", folder=notes)
    shown = say("changes", "--since", "2025-01-02", "--until", "2025-01-03", folder=notes).out
    mark = "corrected by memory/2025-03-01.md:3 (2025-03-01)\n"
    assert shown.endswith(f"with the orders.\n    3, 7 {mark}")


def test_changes_name_private_notes_only_of_the_own_workspace(tmp_path: Path) -> None:
    private = "---\nscope: private\n---\n"
    for name, above in (("a", ""), ("b", private), ("c", "")):
        write(tmp_path / name, "memory/2025-01-01.md", "# Day\n\nThe office opens at 8:00.\n")
        text = f"{above}# Day\n\nThe office opens at 9:30 instead of 8:00.\n"
        write(tmp_path / name, "memory/2025-03-01.md", text)
        say("index", folder=tmp_path / name)
    line = ("changes", "--since", "2025-01-01", "--until", "2025-01-02")
    assert "corrected by memory/2025-03-01.md:6 " in say(*line, folder=tmp_path / "b").out
    both = say(*line, "-w", "a", "-w", "b", "-w", "c", folder=tmp_path).out
    assert "    3 corrected by a:memory/2025-03-01.md:3 (2025-03-01)\n" in both
    assert "    3 corrected by c:memory/2025-03-01.md:3 (2025-03-01)\n" in both
    assert both.count("corrected by") == 2


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


def test_all_lines_that_one_newer_line_corrects_are_marked(tmp_path: Path) -> None:
    orders, invoices = "- Orders are in MySQL.", "- Invoices are in MySQL with the orders."
    old = f"# Log\n\n{orders}\n- The lamp is green.\n{invoices}\n"
    new = "# Log\n\n- Orders and invoices are in PostgreSQL instead of MySQL.\n"
    write(tmp_path, "memory/2025-01-01.md", old)
    write(tmp_path, "memory/2025-03-01.md", new)
    mark = "corrected by memory/2025-03-01.md:3 (2025-03-01)"
    for form in ((), ("-f", "markdown")):
        assert f"3, 5 {mark}" in say("search", "MySQL", *form, folder=tmp_path).out
    listed = say("search", "MySQL", "--list", folder=tmp_path).out
    assert f"3: {orders}\n    3 {mark}\n5: {invoices}\n    5 {mark}\n" in listed
    shown = say("search", "MySQL", "--json", "-v", folder=tmp_path).out
    (older,) = (e for e in json.loads(shown)["results"] if e["path"] == "memory/2025-01-01.md")
    assert [each["line"] for each in older["corrected_by"]] == [3, 5]


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
