"""A summary that may not be believed is served in no view: its lines are found raw."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memcli.compaction.compose import document
from memcli.markdown.lineage import read_lineage
from memcli.markdown.parse import parse
from tests.commands import say
from tests.support import write

SUMMARY = "memory/summaries/2025-03-01--2025-03-02.md"
FIRST, SECOND = "memory/2025-03-01.md", "memory/2025-03-02.md"
WHOLE = ("--tail", "0", "--tail-days", "0", "--ratio", "0.9", "--cluster", "2")
FILLER = "The weather was mild and nobody had much to say about anything that day. " * 6
LOGS = {
    FIRST: f"# Release week\n\nWe must never deploy on Friday.\n\n{FILLER}\n",
    SECOND: f"# Store\n\nWe decided to use MySQL for the orders.\n\n{FILLER}\n",
}


def told(*arguments: str) -> tuple[int, str, str]:
    return say(*arguments, "--now", "2026-02-20")


def record(*arguments: str) -> Any:
    code, out, err = told(*arguments, "--json")
    assert code in (0, 1), err
    return json.loads(out)


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MEMCLI_EMBEDDING_ENCODER", "hashing")
    for path, text in LOGS.items():
        write(tmp_path, path, text)
    made = record("compact", "-w", str(tmp_path), *WHOLE, "--apply")
    assert [summary["path"] for summary in made["summaries"]] == [SUMMARY]
    assert found(tmp_path, "never deploy Friday", "active") == {SUMMARY}
    return tmp_path


def found(notes: Path, query: str, view: str) -> set[str]:
    answer = record("search", query, "-w", str(notes), "--view", view, "--mode", "keyword")
    return {each["path"] for each in answer["results"]}


def problems(notes: Path) -> list[str]:
    return [each["kind"] for each in record("compact", "-w", str(notes), "--verify")["problems"]]


def edit(notes: Path) -> None:
    """Change a body as a person does: the seal breaks."""
    file = notes / SUMMARY
    file.write_text(file.read_text().replace("We must never deploy", "We deploy"))


def forge(notes: Path) -> None:
    """Change a body and seal it anew: lineage and hashes are those of the logs."""
    text = (notes / SUMMARY).read_text()
    lineage = read_lineage(parse(text).front_matter)
    assert lineage is not None
    body = f"# 2025-03-01\n\n- We deploy on Friday. ({FIRST}:3)\n- … ({SECOND}:1-5)\n"
    write(notes, SUMMARY, document(lineage, body))


def correct(notes: Path) -> None:
    """Correct the log, so that the summary is of what it was."""
    file = notes / SECOND
    file.write_text(file.read_text().replace("MySQL", "SQLite"))


SPOILT: dict[str, tuple[Callable[[Path], None], str]] = {
    "edited": (edit, "edited"),
    "forged": (forge, "invented"),
    "out of date": (correct, "out_of_date"),
}


@pytest.mark.parametrize("how", SPOILT)
def test_it_is_served_in_no_view_and_its_lines_are_found_raw(notes: Path, how: str) -> None:
    spoil, kind = SPOILT[how]
    spoil(notes)
    assert problems(notes) == [kind]
    for view in ("all", "active", "raw"):
        assert found(notes, "never deploy Friday", view) == {FIRST}
        assert SUMMARY not in found(notes, "MySQL SQLite orders", view)
    block = told("context", "-w", str(notes), "--budget", "4000", "--tail", "0")[1]
    assert "We must never deploy on Friday." in block
    assert SUMMARY not in block
    made = record("compact", "-w", str(notes), *WHOLE)
    assert len(made["summaries"]) == 1  # a new one would be written beside it


def test_what_is_invented_is_told_with_what_it_cites(notes: Path) -> None:
    forge(notes)
    file = notes / SUMMARY
    lineage = read_lineage(parse(file.read_text()).front_matter)
    assert lineage is not None
    for line, detail in (
        (f"- We deploy on Friday. ({FIRST}:3)", f"is not in {FIRST}:3: We deploy on "),
        ("## 2025-03\n- We deploy on Friday. (01:3)", f"is not in {FIRST}:3: We deploy on "),
        ("- We deploy on Friday.", "cites nothing: - We deploy on Friday."),
    ):
        file.write_text(document(lineage, f"# 2025-03-01\n\n{line}\n- … ({SECOND}:1-5)\n"))
        (problem,) = record("compact", "-w", str(notes), "--verify")["problems"]
        assert problem["detail"].startswith(detail)


@pytest.mark.parametrize("how", ["valid", *SPOILT])
def test_the_status_counts_what_summaries_are(notes: Path, how: str) -> None:
    if how in SPOILT:
        SPOILT[how][0](notes)
    told_record = record("status", "-w", str(notes))
    states = ("valid", "out_of_date", "edited", "forged")
    assert told_record["summaries"] == {
        state: int(state == how.replace(" ", "_")) for state in states
    }
    out = told("status", "-w", str(notes))[1]
    assert f"summaries  1 {how}\n" in out
    warning = "1 summary is not valid; search uses its source lines. Try: memcli compact --verify"
    assert (warning in told_record["warnings"]) == (how != "valid")
    assert (warning in out) == (how != "valid")


def test_the_status_says_nothing_of_summaries_where_there_are_none(tmp_path: Path) -> None:
    write(tmp_path, FIRST, LOGS[FIRST])
    assert "summaries" not in told("status", "-w", str(tmp_path))[1]


@pytest.mark.parametrize("path", [SUMMARY, SECOND])
def test_it_is_served_again_with_the_old_words(notes: Path, path: str) -> None:
    was = (notes / path).read_bytes()
    (edit if path == SUMMARY else correct)(notes)
    assert found(notes, "never deploy Friday", "active") == {FIRST}
    (notes / path).write_bytes(was)
    assert found(notes, "never deploy Friday", "active") == {SUMMARY}


def test_a_summary_survives_a_line_on_top_of_its_log(notes: Path) -> None:
    file = notes / FIRST
    file.write_text("A line that came later.\n\n" + file.read_text())
    assert problems(notes) == []
    assert found(notes, "never deploy Friday", "active") == {SUMMARY}
    number = (notes / SUMMARY).read_text().split("\n").index(
        "- We must never deploy on Friday. (:3)"
    ) + 1  # fmt: skip
    behind = record("get", f"{SUMMARY}:{number}", "-w", str(notes), "--expand")["expanded"]
    assert [(each["citation"], each["text"], each["changed"]) for each in behind] == [
        (f"{FIRST}:5", "We must never deploy on Friday.", False)
    ]
    made = record("compact", "-w", str(notes), *WHOLE)
    assert made["summaries"] == []  # its lines are covered where they stand now


def test_a_summary_survives_a_new_name_of_its_log(notes: Path) -> None:
    moved = notes / "memory" / "archive" / "2025-03-01-release.md"
    moved.parent.mkdir()
    (notes / FIRST).rename(moved)
    assert problems(notes) == []
    name = moved.relative_to(notes).as_posix()
    assert found(notes, "never deploy Friday", "active") == {SUMMARY}
    assert found(notes, "never deploy Friday", "raw") == {name}
    behind = record("get", SUMMARY, "-w", str(notes), "--expand")["expanded"]
    assert [each["path"] for each in behind] == [name, SECOND]
    moved.rename(notes / FIRST)
    assert found(notes, "never deploy Friday", "active") == {SUMMARY}
    assert found(notes, "never deploy Friday", "raw") == {FIRST}


def worded(notes: Path, *lines: str, method: str = "command") -> list[str]:
    """Seal a summary that claims to be in the words of a program; give what does not hold of it."""
    lineage = read_lineage(parse((notes / SUMMARY).read_text()).front_matter)
    assert lineage is not None
    body = "\n".join(["# 2025-03-01 to 2025-03-02", *lines, f"- … ({SECOND}:1-5)", ""])
    write(notes, SUMMARY, document(lineage._replace(method=method), body))
    return problems(notes)


RULE = f"- We must never deploy on Friday. ({FIRST}:3)"


@pytest.mark.parametrize("method", ["command", "onnx"])
@pytest.mark.parametrize(
    "lines",
    [
        (f"- We deploy on Friday. ({FIRST}:3)",),
        (RULE, f"- We deploy on Friday. ({FIRST}:3)"),
        (RULE, f"- We should deploy on Friday. ({FIRST}:1-5)"),
        (RULE, f"- You must always deploy at night. ({FIRST}:3)"),
        (RULE, f"- The orders are not in a store. ({SECOND}:3)"),
        (RULE, f"- The decision was to use MongoDB for the orders. ({SECOND}:3)"),
        (RULE, f"- It was decided for 3 stores. ({SECOND}:3)"),
        (RULE, "## We deploy on Friday", f"- The decision was MySQL. ({SECOND}:3)"),
        (f"- The decision was MySQL. ({SECOND}:3)",),  # the rule is left out
        (f"{RULE[: -len(f' ({FIRST}:3)')]} [replaces x.md:9] ({FIRST}:3)",),
    ],
)
def test_a_summary_in_other_words_needs_names_numbers_negations_and_all_rules(
    notes: Path, lines: tuple[str, ...], method: str
) -> None:
    assert set(worded(notes, *lines, method=method)) == {"invented"}
    assert found(notes, "never deploy Friday", "active") == {FIRST}
    block = told("context", "-w", str(notes), "--budget", "4000", "--tail", "0")[1]
    assert "We must never deploy on Friday." in block
    assert SUMMARY not in block


def test_a_summary_in_other_words_hides_no_rule_and_is_told_to_be_unchecked(notes: Path) -> None:
    line = f"- For the orders the decision was MySQL. ({SECOND}:3)"
    lie = f"- The Friday ban was lifted. ({FIRST}:3)"  # nothing that words can tell
    assert worded(notes, RULE, line, lie) == []
    assert found(notes, "never deploy Friday", "active") == {FIRST, SUMMARY}
    assert found(notes, "MySQL orders", "active") == {SUMMARY}
    code, out, err = told("compact", "-w", str(notes), "--verify")
    assert (code, out.splitlines()) == (
        0, [f"unchecked   {SUMMARY}: {each.removeprefix('- ')}" for each in (line, lie)],
    )  # fmt: skip
    assert "2 lines are in a program's own words" in err
    assert len(record("compact", "-w", str(notes), "--verify")["unchecked"]) == 2
    write(notes, FIRST, LOGS[FIRST].replace("never deploy", "not deploy"))
    assert problems(notes) == ["out_of_date"]
    assert found(notes, "deploy Friday", "active") == {FIRST}
