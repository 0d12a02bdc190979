"""What a person expects of a search over years of notes, through the real index and model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.commands import NewWorkspace, printed, record
from tests.support import write

SAME_WORDS = "The staging database is rebuilt from a dump on the first Monday of the month."
OTHER = "Lunch with the neighbours; the garden needs water."


@pytest.fixture
def notes(workspace: NewWorkspace) -> Path:
    days = {
        f"memory/2026-02-{day:02}.md": f"# Day\n\n{OTHER} Number {day}.\n" for day in range(1, 15)
    }
    return workspace(
        {"memory/2023-03-06.md": f"# Staging\n\n{SAME_WORDS}\n", **days},
        index=True,
        encoder="bundled",
    )


def index(root: Path) -> None:
    printed("index", "-w", str(root))


def ask(root: Path, *arguments: str) -> dict[str, Any]:
    found: dict[str, Any] = record("search", *arguments, "--more", "-w", str(root))
    return found


@pytest.mark.parametrize("query", ["when is the staging database rebuilt", "refresh of test data"])
def test_a_log_of_three_years_ago_is_found_first_when_nothing_newer_answers(
    notes: Path, query: str
) -> None:
    first = ask(notes, query, "--now", "2026-02-20")["results"][0]
    assert first["path"] == "memory/2023-03-06.md"


def test_results_do_not_depend_on_how_long_ago_it_was(notes: Path) -> None:
    answers = [
        [(r["citation"], r["score"]) for r in ask(notes, "staging", "-v", "--now", now)["results"]]
        for now in ("2026-02-21", "2027-02-20", "2029-02-20")
    ]
    assert answers[0] == answers[1] == answers[2]


@pytest.mark.parametrize(
    "newer",
    [
        "The staging database is no longer rebuilt monthly, but on every Friday.",
        "Rebuilding the staging database moved to Fridays.",
        "The staging database is rebuilt on Fridays instead of the first Monday.",
    ],
)
def test_a_newer_note_that_corrects_an_older_one_comes_first(notes: Path, newer: str) -> None:
    write(notes, "memory/2024-05-02.md", f"# Staging\n\n{newer}\n")
    index(notes)
    found = ask(notes, "when is the staging database rebuilt", "--now", "2026-02-20")["results"]
    assert [r["path"] for r in found[:2]] == ["memory/2024-05-02.md", "memory/2023-03-06.md"]


@pytest.mark.parametrize("mode", ["keyword", "hybrid"])
@pytest.mark.parametrize(
    "scrap",
    ["## Boat insurance", "## Boat insurance\n\nTODO", "https://example.org/boat/insurance"],
)
def test_a_scrap_is_found_below_the_note_that_says_something(
    tmp_path: Path, scrap: str, mode: str
) -> None:
    write(tmp_path, "Ideas.md", f"# Ideas\n\nFor the summer.\n\n{scrap}\n")
    write(
        tmp_path, "MEMORY.md", "# Memory\n\n## Boat insurance\n\nThe northern mutual, 240 a year.\n"
    )
    index(tmp_path)
    found = ask(tmp_path, "boat insurance", "--mode", mode)["results"]
    assert [each["path"] for each in found[:2]] == ["MEMORY.md", "Ideas.md"]


@pytest.mark.parametrize("mode", ["keyword", "semantic", "hybrid"])
def test_a_note_that_is_what_was_typed_comes_first(tmp_path: Path, mode: str) -> None:
    for number in range(12, 24):
        write(tmp_path, f"{number}.md", f"# Log\n\nburst {number}\n")
    index(tmp_path)
    found = ask(tmp_path, "burst 17", "--mode", mode)["results"]
    assert found[0]["path"] == "17.md"


def test_a_limit_and_a_form_change_no_result(notes: Path) -> None:
    many = ask(notes, "staging garden", "-n", "12")["results"]
    few = ask(notes, "staging garden", "-n", "3")["results"]
    assert few == many[:3]


def test_the_best_hundred_passages_are_compared_and_those_behind_take_no_place(
    workspace: NewWorkspace,
) -> None:
    """Sixty notes say the same of the pool: they are one, and leave 40 of a hundred to others.

    Those are two of each of twenty notes, and neighbours are joined.
    """
    same = "- The pool ran dry.\n" + "".join(f"- Then we waited for hour {n}.\n" for n in range(8))
    files = {}
    for note in range(60):
        own = "".join(f"- Guest {note} of room {n} came by train {note}x{n}.\n" for n in range(4))
        files[f"memory/{note:02}.md"] = f"# Log\n\n{same}{own}"
    first, *others = ask(workspace(files), "pool", "-n", "100", "--more")["results"]
    assert (first["citation"], len(first["duplicates"])) == ("memory/00.md:3-7", 59)
    assert [r["citation"].partition(":")[2] for r in others] == ["8-15"] * 20


def test_where_nothing_is_kept_nothing_is_left_out(tmp_path: Path) -> None:
    write(tmp_path, "memory/.keep", "")
    found = ask(tmp_path, "pool", "--budget", "100", "-v")
    assert (
        found["results"],
        found["omitted_over_budget"],
        found.get("omitted_low_confidence", 0),
    ) == ([], 0, 0)


def test_words_inside_a_run_of_chinese_choose_the_line(tmp_path: Path) -> None:
    lines = [f"- 第{n}天在河边散步，天气很好。" for n in range(1, 12)]
    lines.insert(7, "- 数学老师说下周三考试。")
    write(tmp_path, "memory/2026-02-01.md", "# 日记\n\n" + "\n".join(lines) + "\n")
    first = ask(tmp_path, "数学老师什么时候考试")["results"][0]
    assert first["start_line"] <= 10 <= first["end_line"]
    assert "数学老师" in first["snippet"]


def test_a_prefix_chooses_the_line(tmp_path: Path) -> None:
    lines = [f"- day {n}: walked by the river" for n in range(1, 30)]
    lines.insert(20, "- redeployments were frozen")
    write(tmp_path, "memory/2026-02-01.md", "# Log\n\n" + "\n".join(lines) + "\n")
    first = ask(tmp_path, "redeploy*")["results"][0]
    assert first["start_line"] <= 23 <= first["end_line"]


def test_why_not_names_the_stage_at_which_lines_fell_out(notes: Path) -> None:
    def trail(*arguments: str) -> dict[str, Any]:
        return ask(notes, "staging database", *arguments)

    shown = trail("--why-not", "memory/2023-03-06.md:3")
    assert shown["conclusion"].startswith("shown, rank 1 of ")
    assert {each["rank"] for each in shown["stages"][-2:]} == {1}
    cut = trail("--why-not", "memory/2026-02-03.md", "-n", "3")
    assert cut["conclusion"].startswith("lost at budget: ")
    told, _, hint = cut["conclusion"].rpartition("; ")
    assert told.endswith(", and --limit is 3")
    wide = trail("--why-not", "memory/2026-02-03.md", *hint.removesuffix(" shows it").split())
    assert wide["conclusion"].startswith("shown, ")
    filtered = trail("--why-not", "memory/2026-02-03.md", "--until", "2024")
    assert filtered["conclusion"].startswith(
        "lost at recall: neither retriever ranks it among its best 200"
    )


@pytest.mark.parametrize("profile", ["default", "classic", "convex", "two-pass"])
def test_every_profile_finds_the_literal_match(notes: Path, profile: str) -> None:
    found = ask(notes, "staging database", "--profile", profile, "--now", "2023-03-07")
    assert found["results"][0]["path"] == "memory/2023-03-06.md"
    most = {"classic": 6, "two-pass": 8}.get(profile, 10)
    assert len(found["results"]) <= most
