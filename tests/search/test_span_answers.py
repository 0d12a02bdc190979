"""Notes of weeks and months, stamped notes and descriptions, as the command line tells of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.commands import NewWorkspace, printed, say, valid
from tests.support import write, write_files

Said = Callable[..., str]

FILES = {
    "memory/2026-02.md": "# Budget\n\nThe pump cost 400 euro.\n",
    "memory/2026-W07.md": "# Review\n\nThe pump was tested.\n",
    "memory/2026_03_02.md": "The pump leaks.\n",
    "MEMORY.md": "---\nmodified: 2026-03-10\n---\nThe pump is blue.\n",
}


@pytest.fixture
def said(workspace: NewWorkspace) -> Said:
    """Write and index the notes; run a command among them and give what it prints."""
    workspace(FILES, index=True, encoder="auto")

    return lambda *arguments: printed(*arguments, "--now", "2026-03-20")[0]


DAYS = [
    (("--on", "2026-02-10"), {"memory/2026-02.md", "memory/2026-W07.md"}),
    (("--on", "2026-02-20"), {"memory/2026-02.md"}),
    (("--on", "2026-02"), {"memory/2026-02.md", "memory/2026-W07.md"}),
    (("--since", "2026-02-28"), {"memory/2026-02.md", "memory/2026_03_02.md", "MEMORY.md"}),
    (("--until", "2026-02-08"), {"memory/2026-02.md"}),
    (("--on", "2026-03-10"), {"MEMORY.md"}),
]


def test_a_day_finds_the_week_and_the_month_that_it_is_of(said: Said) -> None:
    for asked, names in DAYS:
        for line in (("search", "pump"), ("search", "pump", "--mode", "keyword"), ("ls",)):
            assert set(said(*line, *asked, "-f", "{path}").split()) == names


def test_a_question_about_a_day_is_answered_by_the_week_and_the_month(said: Said) -> None:
    found = said("search", "what about the pump on 12 February 2026", "-f", "{path}").split()
    assert set(found[:2]) == {"memory/2026-02.md", "memory/2026-W07.md"}
    alone = said("search", "what happened on 12 February 2026?", "-f", "{path}").split()
    assert set(alone) == {"memory/2026-02.md", "memory/2026-W07.md"}


def test_a_span_is_shown_by_its_name(said: Said) -> None:
    assert said("ls", "--sort", "date") == (
        "2026-W07    log   memory/2026-W07.md  Review\n"
        "2026-02     log   memory/2026-02.md  Budget\n"
        "2026-03-02  log   memory/2026_03_02.md\n"
        "2026-03-10  note  MEMORY.md\n"
    )
    days = said("search", "pump", "--sort", "newest").splitlines()
    assert [line for line in days if line.startswith("2026")] == [
        "2026-03-10", "2026-03-02", "2026-02", "2026-W07",
    ]  # fmt: skip
    status = said("status")
    assert "4 of 4 files, 4 chunks, 2026-02-01 to 2026-03-10" in status


def test_json_says_the_first_day_of_a_span_alone(said: Said) -> None:
    for line, key in (("search pump", "results"), ("context pump", "parts"), ("ls", "documents")):
        record: dict[str, Any] = json.loads(said(*line.split(), "--json"))
        valid(record, record["schema"].removesuffix("/1"))
        told = {each["path"]: (each.get("date_from"), each["date"]) for each in record[key]}
        assert told == {
            "memory/2026-02.md": ("2026-02-01", "2026-02-28"),
            "memory/2026-W07.md": ("2026-02-09", "2026-02-15"),
            "memory/2026_03_02.md": (None, "2026-03-02"),
            "MEMORY.md": (None, "2026-03-10"),
        }
        assert sum("date_from" in each for each in record[key]) == 2


def test_words_of_the_description_find_the_note(tmp_path: Path) -> None:
    described = "---\ndescription: Which supplier sells seals for the pump\n---\n"
    text = "# Hansen\n\nOpen from seven to noon, closed on Mondays.\n"
    others = ("The pump in the cellar is loud.", "We sell bread on Fridays.", "The till was short.")
    files = {f"memory/{n}.md": f"# Note\n\n{other}\n" for n, other in enumerate(others)}
    write_files(tmp_path, files)

    def first() -> list[str]:
        printed("index", "-q", "-w", str(tmp_path))
        question = ("who sells a seal for our pump?", "--mode", "semantic", "--exit-code")
        return say("search", *question, "-w", str(tmp_path), "-f", "{path}").out.split()[:1]

    write(tmp_path, "memory/hansen.md", text)
    assert first() != ["memory/hansen.md"]
    write(tmp_path, "memory/hansen.md", described + text)
    assert first() == ["memory/hansen.md"]


def test_what_comes_first_for_a_date_depends_on_what_is_asked_about_it(
    workspace: NewWorkspace,
) -> None:
    days = {
        "01-05": "- Deploys on Monday need a review, never on Sunday.\n",
        "03-14": "- Friday deploys are forbidden from now on.\n",
        "03-15": "- Ate at the lake, and the deploys were quiet.\n",
        "03-16": "- Standup is at 9:30.\n- 平台团队由王伟负责。\n",
        "03-17": "- Standup moved from 9:30 to 10:00.\n- 平台团队现在由李娜负责。\n",
    }
    workspace({f"memory/2026-{day}.md": text for day, text in days.items()}, encoder="auto")
    for question, first in (
        ("are deploys allowed on Sunday", "01-05"),
        ("deploys Sunday", "03-15"),
        ("what about the deploys on Sunday, who said that", "03-15"),
        ("what happened on Sunday", "03-15"),
        ("when is standup on Monday", "03-17"),
        ("when was standup on Monday", "03-16"),
        ("谁负责平台团队", "03-17"),
        ("3月16日谁负责平台团队", "03-16"),
    ):
        shown = printed("search", question, "-f", "{path}", "--now", "2026-03-18")[0]
        assert shown.split()[0] == f"memory/2026-{first}.md", question


def test_a_day_or_month_to_come_is_meant_unless_it_is_asked_what_happened(
    workspace: NewWorkspace,
) -> None:
    notes = workspace({
        "memory/2026-11-25.md": "- Ines won the game. The next is on 10 December.\n",
        "memory/2026-11-24.md": "- May I ask who washes the shirts?\n",
    }, encoder="auto")  # fmt: skip
    now = ("--now", "2026-11-26")  # a Thursday
    for question, read in (
        ("next game in December", "2025-12-01 to 2025-12-31 or 2026-12-01 to 2026-12-31"),
        ("who won the game in December", "2025-12-01 to 2025-12-31"),
        ("what game did we have in December", "2025-12-01 to 2025-12-31"),
        ("Was spielen wir im Dezember", "2025-12-01 to 2025-12-31 or 2026-12-01 to 2026-12-31"),
        ("next game in February", "2026-02-01 to 2026-02-28"),
        ("next game in December 2024", "2024-12-01 to 2024-12-31"),
        ("who washed the shirts in May", "2026-05-01 to 2026-05-31"),
        ("next game since December", "2025-12-01 and later"),
        ("the oven Thursday", "2026-11-26"),
    ):
        said = say("search", question, *now).err
        assert f" as {read}." in said
        is_other = question.endswith(("February", "2024", "May"))
        assert ("None of these is of that time." in said) == is_other
    said = say("search", "what happened on Thursday", *now).err
    assert 'Read "Thursday" as 2026-11-19.' in said
    assert "No sure match" in said
    write(notes, "memory/2026-11-19.md", "- The bike was stolen.\n")
    assert "The bike was stolen." in say("search", "what happened on Thursday", *now).out


def test_a_part_of_a_word_another_spelling_and_another_language_are_near(
    workspace: NewWorkspace,
) -> None:
    text = "The price of a Hochbeet in the shop is 1.234,50 EUR.\n"
    workspace({"memory/tools.md": text}, encoder="auto")
    for question in ("Beet", "1234.50"):
        assert "No sure match; these are the nearest." in say("search", question).err
    assert "No passages found." in say("search", "chbee").err
    text = "Der Arzt hat mir eine Salbe verschrieben.\n"
    workspace({"memory/arzt.md": text}, name="german", encoder="auto")
    for command in ("search", "context"):
        assert "arzt.md" in say(command, "what did the doctor prescribe").out


def test_words_of_no_note_and_words_that_are_all_excluded_find_nothing(
    workspace: NewWorkspace,
) -> None:
    workspace({
        "MEMORY.md": "# Rules\n\nStandup is at 9, on Mondays at 10.\n",
        "memory/2025-06-12.md": "# Log\n\nThe car broke down near the harbour.\n",
    }, encoder="auto")  # fmt: skip
    again = "memcli search --format paths --now 2025-07-01"
    unsure = "No sure match; these are the nearest. No note contains: vehicle, repair.\n"
    unsure += f"1 weaker: {again} --after 1 -- 'vehicle repair'\n"
    removed = 'memcli: passages with "standup" are removed by excluded words\n'
    for query, out, err in (
        (
            "xyzzyqwerty",
            "",
            "No note contains: xyzzyqwerty.\nNo passages found.\n"
            f"2 weaker: {again} --more -- xyzzyqwerty\n",
        ),
        ("standup -monday", "", f"No passages found.\n{removed}"),
        ("vehicle repair", "memory/2025-06-12.md\n", unsure),
    ):
        found = say("search", query, "-f", "paths", "--now", "2025-07-01")
        assert (found.out, found.err) == (out, err)
    said = say("search", "zebra -monday", "--mode", "keyword", "--now", "2025-07-01")
    assert said.err == "No passages found.\n"
    found = json.loads(printed("search", "xyzzyqwerty", "--json")[0])
    assert (found["match"], found["match_reason"]["code"]) == ("none", "absent")
    assert (found["results"], found["weaker"]) == ([], 2)
    assert say("search", "xyzzyqwerty", "--exit-code").code == 1
    found = json.loads(printed("context", "xyzzyqwerty", "--json", "--tail", "0")[0])
    assert (found["match"], found["parts"]) == ("none", [])


def test_a_dated_line_with_another_value_is_named_after_an_undated_one(
    workspace: NewWorkspace,
) -> None:
    notes = workspace({
        "memory/2026-05-19.md": "- Standup moved to 09:15, as the train of Wei is late.\n",
        "memory/2026-05-20.md": "- The lake is cold.\n- Rain.\n",
    }, encoder="auto")  # fmt: skip
    for undated, differs in (("09:30 CET", True), ("9:15 CET", False)):
        write(notes, "MEMORY.md", f"# Rules\n\nStandup is at {undated}.\n")
        said = say("search", "when is standup", "--json", "--now", "2026-06-01")
        answer = json.loads(said.out)
        assert {each["path"] for each in answer["results"]} == {"MEMORY.md", "memory/2026-05-19.md"}
        text = "memory/2026-05-19.md:1 (2026-05-19) differs from the first passage"
        first = answer["results"][0]["path"]
        is_told = answer.get("match_reason") == {"code": "differs", "reason": text}
        assert (first, is_told) == ("MEMORY.md", differs)


def test_a_dated_line_with_the_same_value_is_not_named_for_the_one_it_gives_up(
    workspace: NewWorkspace,
) -> None:
    text = "# Memory\n\n- The billing service listens on port 8080.\n"
    notes = workspace({"MEMORY.md": text}, encoder="auto")
    for change, reason in (
        ("8080 again, no longer 8090", None),
        ("8080, was 8090", None),
        ("8080 (not 8090)", None),
        ("8090, was 8080", "differs"),
        ("8090, no longer on port 8080", None),
    ):
        line = f"- The billing service now listens on port {change}.\n"
        write(notes, "memory/2026-10-01.md", line)
        said = say("search", "Which port does the billing service listen on?", "--json")
        answer = json.loads(said.out)
        assert (answer.get("match_reason") or {}).get("code") == reason
        marks = {each["path"]: bool(each.get("corrected_by")) for each in answer["results"]}
        assert marks == {"MEMORY.md": "longer on" in change, "memory/2026-10-01.md": False}
        assert answer["results"][0]["path"].startswith("mem") == ("longer on" in change)


@pytest.mark.parametrize(
    ("question", "undated", "dated"),
    [
        (
            "Which port does the billing service listen on?",
            "- The billing service listens on port 8080.\n"
            "- The search service listens on port 9090.",
            "- The search service now listens on port 9191.",
        ),
        (
            "On which port is the billing service reachable?",
            "The billing service is reachable from outside on\nport 8080.",
            "- The billing service is now reachable on port 8080.",
        ),
    ],
)
def test_another_line_and_an_equal_value_make_no_answer_unsure(
    workspace: NewWorkspace, question: str, undated: str, dated: str
) -> None:
    files = {"services.md": f"# Services\n\n{undated}\n", "memory/2025-03-01.md": f"{dated}\n"}
    workspace(files, encoder="auto")
    answer = json.loads(say("search", question, "--json").out)
    assert answer["results"][0]["path"] == "services.md"
    assert answer.get("match_reason") is None


def test_a_correction_of_what_nobody_asked_about_comes_after_the_answer(
    workspace: NewWorkspace,
) -> None:
    rate = "Rate limit of the public API is {} requests per minute per key."
    bus = "We move the event bus from RabbitMQ to Kafka."
    workspace({
        "memory/2026-04-08.md": f"- {bus}\n- {rate.format('now 250')}\n",
        "memory/2026-11-20.md": f"- {rate.format(500)}\n",
    }, encoder="auto")  # fmt: skip
    for command, question, first in (
        ("search", "kafka", bus),
        ("context", "kafka", bus),
        ("search", "rate limit", rate.format(500)),
    ):
        shown = printed(command, question, "--now", "2026-11-26", "--budget", "300")[0]
        places = [shown.find(each) for each in (bus, rate.format(500))]
        assert shown.find(first) == min(place for place in places if place >= 0)
        assert "corrected by memory/2026-11-20.md:1" in shown


def test_a_line_that_ends_a_sentence_is_corrected_without_its_neighbours(
    workspace: NewWorkspace,
) -> None:
    workspace({
        "memory/2025-10-21.md": "From November one week each: Tomas, Runa.\n"
        "Paging threshold for p95 stays at 500 ms.\n",
        "memory/2026-02-05.md": "The threshold for p95 goes from 500 ms to 800 ms.\n",
    }, encoder="auto")  # fmt: skip
    assert "    2 corrected by memory/2026-02-05.md:1 (" in say("search", "one week each").out
    assert "From November one week each" in say("context", "one week each").out
