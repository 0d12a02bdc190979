"""Questions that follow one another: what stands for a name, a place or a day is replaced."""

from __future__ import annotations

import io
import json
from collections import deque
from contextlib import redirect_stderr, redirect_stdout
from datetime import date

import pytest

from memcli.cli.main import run
from memcli.config.settings import load
from memcli.search.follow_up import EARLIER, question_after
from memcli.search.question import Question
from tests.commands import NewWorkspace, printed

TODAY = date(2026, 3, 1)


def _read(*texts: str, settings: dict[str, object] | None = None) -> Question:
    earlier: deque[Question] = deque(maxlen=EARLIER)
    config = load("/nowhere", {}, settings or {})
    return [question_after(earlier, config, text, TODAY) for text in texts][-1]


@pytest.mark.parametrize(
    ("before", "text", "read"),
    [
        ("When did Tom move to Oslo?", "Who helped him there?", "Who helped Tom in Oslo?"),
        ("What is Ann's job?", "Does she like her boss?", "Does Ann like Ann's boss?"),
        ("Did Tom call Mary Ann?", "what did they agree on", "what did Tom and Mary Ann agree on"),
        ("Who rang on 2026-02-03?", "What broke that day?", "What broke 2026-02-03?"),
        ("How long was Tom in New York?", "Who met him there?", "Who met Tom in New York?"),
        ("Did Ann visit Rome?", "What did she see there?", "What did Ann see in Rome?"),
        # What names somebody itself, or refers to nothing, is left alone.
        ("When did Tom move?", "What did Ann tell him?", ""),
        ("Is Gina well?", "When did Jon visit fairs for his shop?", ""),
        ("When did Tom move?", "Is there a leak in the pool?", ""),
        ("When did Tom move?", "What broke that day?", ""),
        ("is the pool empty", "what did he say", ""),
        ("Who is Tom?", "Do they like the pool?", ""),
        ("When did Tom move to Oslo?", "Is there a leak?", ""),
        ("Tell me of the pool", "What did she say?", ""),
        ("When was Ann in Rome?", "Jon lost his job as a banker", ""),
        ("Jon and Rome trip", "why did he lose his job", ""),
        ("Who is Tom?", "Describe his job", "Describe Tom's job"),
        ("Who is Tom?", "My friend said he was sad " + "and tired " * 6, ""),
    ],
)
def test_words_that_refer_to_the_question_before(before: str, text: str, read: str) -> None:
    question = _read(before, text)
    assert (question.text, question.typed) == ((read, text) if read else (text, ""))


def test_a_chain_of_questions_and_how_far_it_reaches() -> None:
    assert _read("Who is Tom?", "Why did he?", "When did he?").text == "When did Tom?"
    assert _read("Who is Tom Lee?", "why dry", "did he").text == "did Tom Lee"
    assert _read("Who is Tom?", "why dry", "why wet", "did he").typed == ""
    assert _read("Who is Tom?", "Why did he?", settings={"search.follow_up": False}).typed == ""


HERON = {"memory/2026-02-01.md": "# Log\n\nTom bought a heron.\n"}


def test_stdin_says_how_a_question_was_read(
    workspace: NewWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace(HERON)
    lines = io.TextIOWrapper(io.BytesIO(b"who is Tom\nwhat did he buy\n"))
    monkeypatch.setattr("sys.stdin", lines)
    first, second = map(json.loads, printed("search", "--stdin")[0].splitlines())
    assert "read_as" not in first
    assert second["read_as"] == "what did Tom buy"


def test_questions_on_one_command_line_are_independent_and_what_is_missing_stands_first(
    workspace: NewWorkspace,
) -> None:
    workspace(HERON)
    both = io.StringIO()
    with redirect_stdout(both), redirect_stderr(both):
        assert run(["search", "who is Tom", "what did he buy"]) == 0
    first, *answers = both.getvalue().splitlines()
    assert first.startswith("memcli: keywords only")
    assert "# what did he buy" in "\n".join(answers)
    assert "keywords only" not in "\n".join(answers)
