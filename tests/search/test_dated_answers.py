"""Questions with a date, asked of a bakery's notes on 22 November 2026."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest

import memcli
from tests.commands import NewWorkspace, printed
from tests.support import write, write_files

Asked = Callable[..., list[str]]

FAULTS = ("2026-02-11", "2026-04-21", "2026-07-09", "2026-10-02")


NOTES = {day: "## Oven\n\n- E17 on the oven again; switched it off and on.\n" for day in FAULTS} | {
    "2026-03-15": "- E17 is the sensor: replaced the sensor instead of the board.\n",
    "2026-09-21": "## Repairs\n\n- The seal of the oven door is new; 180 euro.\n\n"
    "## Shop\n\n- Two baskets for the counter.\n",
    "2026-09-22": "- What happened with the oven: the oven reads 5 degrees too high, and the"
    " thermostat of the oven happened to be loose.\n",
}


@pytest.fixture
def ask(workspace: NewWorkspace) -> Asked:
    """Index the notes; ask a question and give the days and places of its answer, in order."""
    files = {f"memory/{day}.md": f"# {day}\n\n{text}" for day, text in NOTES.items()}
    workspace(files, index=True, encoder="auto")

    def ask(*arguments: str, code: int = 0) -> list[str]:
        how = ("--now", "2026-11-22", "-f", "{date} {citation}")
        return printed("search", *arguments, *how, code=code)[0].split("\n")

    return ask


@pytest.mark.parametrize("mode", ["hybrid", "keyword"])
def test_a_wish_for_the_newest_or_oldest_is_answered_in_the_order_of_time(
    ask: Asked, mode: str
) -> None:
    """Neither what differs most nor what corrects an older note breaks it."""
    everything = sorted([*FAULTS, "2026-03-15"])

    def days(words: str) -> list[str]:
        found = [line.split()[0] for line in ask(words, "--mode", mode) if line]
        return [day for day in found if day in everything]

    for words in ("first E17", "earliest E17", "erster E17"):
        assert days(words) == everything, words
    for words in ("last E17", "latest E17", "what was our last E17?"):
        assert days(words) == everything[::-1], words
    assert days("first E17 of the oven")[0] == FAULTS[0]


DAYS = [
    ("what happened on 21 September with the oven", "memory/2026-09-21.md:1-5"),
    ("oven on 21 September", "memory/2026-09-21.md:1-5"),
    ("on 21/9 what did we note on baskets", "memory/2026-09-21.md:7-9"),
    ("oven on 22 September", "memory/2026-09-22.md:1-3"),
]


@pytest.mark.parametrize("mode", ["hybrid", "keyword"])
def test_the_day_that_is_named_comes_first_and_the_verdict_follows(ask: Asked, mode: str) -> None:
    for words, place in DAYS:
        assert ask(words, "--mode", mode, "--exit-code")[0].split()[1] == place
    # A day that has no word of the question is no sure match.
    ask("what happened on 21 September with the accordion", "--exit-code", code=1)


def test_a_passage_of_the_day_is_as_sure_as_it_holds_the_words(tmp_path: Path) -> None:
    for day in ("2026-09-21", "2026-09-22"):
        write(tmp_path, f"memory/{day}.md", f"# {day}\n\nThe baskets of {day} are sold.\n")
    with memcli.Memory.open(tmp_path, settings={"embedding.encoder": "none"}) as memory:
        found = memory.search("baskets sold on 2026-09-21", now=datetime(2026, 11, 22))
    sure = {passage.path: passage.confidence or 0.0 for passage in found.results}
    assert sure["memory/2026-09-21.md"] == 1.0 > sure["memory/2026-09-22.md"]


@pytest.mark.parametrize("mode", ["hybrid", "keyword"])
def test_a_month_does_not_shut_out_the_line_that_tells_of_it_later(
    tmp_path: Path, mode: str
) -> None:
    said = (
        "The book fair opens at noon.", "I read the news each morning.", "We read the manual.",
        "The library wants its book back.", "I read slowly these days.", "Shall we read together?",
        "My desk needs a book stand.", "A new book shop opened.", "I wrote a book list.",
    )  # fmt: skip
    for day, line in enumerate(said, start=10):
        write(tmp_path, f"memory/2026-01-{day}.md", f"# Day\n\n{line}\n")
    late = "In January I read a book, Avalanche by Neal Stephenson, in two days."
    write(tmp_path, "memory/2026-02-04.md", f"# Day\n\n{late}\n")
    with memcli.Memory.open(tmp_path, settings={"search.mode": mode}) as memory:
        found = memory.search("Which book did I read in January 2026?", now=datetime(2026, 11, 22))
    assert found.results[0].path == "memory/2026-02-04.md"


def test_a_date_without_a_year_is_read_in_the_years_of_the_notes(tmp_path: Path) -> None:
    """Unless such a day is among the notes; what counts from today is none long after them."""
    for day in ("2022-08-15", "2023-01-10", "2023-08-16", "2024-01-20"):
        write(tmp_path, f"memory/{day}.md", f"# {day}\n\nThe pool was cleaned again.\n")

    def said(text: str) -> str:
        line = ("search", f"what was cleaned {text}", "-w", str(tmp_path), "--mode", "keyword")
        out, err = printed(*line, "--now", "2026-11-22", "-1")
        assert "cleaned" in out
        return next((x for x in err.split("\n") if x.startswith("Read ")), "")

    assert said("on Aug 15th") == 'Read "Aug 15th" as 2023-08-15 or 2022-08-15.'
    assert said("on January 10") == 'Read "January 10" as 2024-01-10 or 2023-01-10.'
    assert said("since May") == 'Read "since May" as 2023-05-01 and later.'
    assert said("last August") == ""
    assert said("on 15 August 2025") == 'Read "15 August 2025" as 2025-08-15.'
    write(tmp_path, "memory/2026-09-01.md", "# 2026-09-01\n\nThe pool was cleaned.\n")
    assert said("on Aug 15th") == 'Read "Aug 15th" as 2026-08-15.'
    assert said("last August") == 'Read "last August" as 2026-08-01 to 2026-08-31.'


@pytest.mark.parametrize("mode", ["hybrid", "keyword"])
def test_a_line_that_names_the_day_is_of_that_day(workspace: NewWorkspace, mode: str) -> None:
    days = {
        "09-11": "The bulbs are late, new delivery date 19 September.",
        "09-18": "Still not here. Nyssen now says 3 October.",
        "10-03": "The bulbs arrived.",
        "10-26": "Roses did not come. Delivery 2 November.",
        "11-20": "Fees are due.\nRoof: the last visit is on 18 December.",
    }
    files = {f"memory/2026-{day}.md": f"# Day\n\n{text}\n" for day, text in days.items()}
    workspace(files, encoder="auto")

    def shown(words: str) -> list[str]:
        out, err = printed("search", words, "--mode", mode, "-1", "--now", "2026-11-26")
        assert "None of these" not in err
        return [place.split(": ")[0] for place in out.splitlines()]

    expected = ["memory/2026-09-18.md:3", "memory/2026-10-03.md:3"]
    assert set(expected) < set(shown("delivery 3 October"))
    # Notes of the day itself are preferred if nothing else is asked for.
    assert shown("what happened on 3 October") == expected[1:]
    assert shown("what is on 18 December") == ["memory/2026-11-20.md:4"]


def test_a_row_of_the_month_and_a_habit_are_of_no_other_time(tmp_path: Path) -> None:
    table = "| Month | Income |\n|---|---|\n| April | 8,122 |\n| May | 9,176 |\n"
    write_files(tmp_path, {
        "memory/2026-06-30.md": f"# Figures\n\n{table}",
        "memory/2026-09-22.md": "# Log\n\nThe green waste is collected on Wednesdays.\n",
    })  # fmt: skip
    for words in ("income in May", "is the green waste still collected on Wednesday"):
        _, err = printed("search", words, "-w", str(tmp_path), "--now", "2026-11-26", "-1")
        assert "None of these" not in err
        assert ("Read" in err) == (words == "income in May")
