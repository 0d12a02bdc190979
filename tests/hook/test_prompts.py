from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.hook.prompts import (
    LEAST_WIDTH,
    MOST_CHARACTERS,
    has_subject,
    is_of_the_past,
    is_wish,
    query_of,
)
from memcli.search.question import Question

TODAY = date(2026, 2, 20)


@given(st.text(max_size=3000))
def test_what_is_searched_by_is_bounded(prompt: str) -> None:
    text = query_of(prompt)
    assert text == "" or len(text) <= MOST_CHARACTERS + 1
    if prompt.isascii() and len(prompt.strip()) < LEAST_WIDTH:
        assert text == ""


@pytest.mark.parametrize(
    "prompt", ["", "  ", "ok", "go on", "/compact now please", "!ls -la /tmp", "/memory:show all",
               "<task-notification> the job has ended", "谢谢你", "```\nall of it is code\n```"],
)  # fmt: skip
def test_these_are_not_searched_by(prompt: str) -> None:
    assert query_of(prompt) == ""


@pytest.mark.parametrize(
    ("prompt", "text"),
    [
        ("why did the pool run dry", "why did the pool run dry"),
        ("  what is in /etc/hosts?  ", "what is in /etc/hosts?"),
        ("/etc/hosts is wrong again", "/etc/hosts is wrong again"),
        ('say "hello world" -v --dry-run', "say hello world v dry-run"),
        ("see this:\n```py\nx = 1\n```\nwhy?", "see this: why?"),
        ("我喜欢喝什么茶？", "我喜欢喝什么茶？"),
    ],
)
def test_operators_and_code_are_no_part_of_what_is_asked(prompt: str, text: str) -> None:
    assert query_of(prompt) == text


def test_of_a_long_prompt_its_beginning_and_end_are_searched_by() -> None:
    text = query_of("Why did it fail? " + "log line\n" * 500 + "What did we do last time?")
    assert text.startswith("Why did it fail?")
    assert text.endswith("What did we do last time?")


@pytest.mark.parametrize(
    ("prompt", "has_one"),
    [
        ("Thanks, that looks perfect!", False), ("Okay, please go on with the next step", False),
        ("Are you still there?", False), ("Danke, das sieht richtig gut aus", False),
        ("Let's do it again", False), ("Why did the pool run dry?", True),
        ("What happened yesterday?", True), ("What do I like?", True),
        ("Where does she work?", True), ("Was hat Jana gesagt?", True), ("我喜欢喝什么茶？", True),
    ],
)  # fmt: skip
def test_talk_alone_has_no_subject(prompt: str, *, has_one: bool) -> None:
    assert has_subject(Question.read(prompt, TODAY)) == has_one


@pytest.mark.parametrize(
    ("prompt", "is_one"),
    [
        ("From now on answer in German, please", True), ("I'd rather have tabs than spaces", True),
        ("Please never touch the lock file", True),
        ("Bitte immer zuerst die Tests laufen lassen", True), ("以后请用中文回答", True),
        ("why did the pool run dry", False), ("the job always fails on Mondays", False),
    ],
)  # fmt: skip
def test_a_wish_is_known(prompt: str, *, is_one: bool) -> None:
    assert is_wish(prompt) == is_one


@pytest.mark.parametrize(
    ("prompt", "is_own"),
    [
        ("what was that ULID about", True), ("tell me about the ULID", True),
        ("what is a ULID", False), ("How does ULID sorting work?", False),
        ("what does ULID stand for", False), ("explain what ULID is", False),
        ("explain our ULID scheme", True), ("which editor do I use", True),
        ("Am I allergic to anything?", True), ("how do I undo a commit", False),
        ("why does my program leak", False), ("What is sorted in PostgreSQL by a ULID?", False),
        ("When was RabbitMQ with ULID released?", False),
        ("What is the width of a ULID in PostgreSQL?", False),
        ("How does the shop store a ULID in PostgreSQL?", True),
        ("How was PostgreSQL with ULID chosen?", True), ("Which PostgreSQL has the ULID?", True),
        ("When was PostgreSQL with ULID deployed to production?", True),
        ("What broke PostgreSQL with ULID last week?", True),
        ("How does PostgreSQL sort our ULID?", True),
        ("What does Tomas say of PostgreSQL and ULID?", True),
        ("What does OPS-455 say of PostgreSQL and ULID?", True),
        ("What is the length of a ULID in the API?", True),
    ],
)  # fmt: skip
def test_a_question_about_a_definition_or_a_product_is_about_the_world(
    prompt: str, is_own: bool
) -> None:
    assert is_of_the_past(prompt, "Merchant ids stay 26-character ULIDs") is is_own
