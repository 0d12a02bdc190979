"""Which dates of a question are wishes, on Wednesday, 11 February 2026."""

from __future__ import annotations

from datetime import date
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.dates import english_german, holidays, words
from memcli.dates.find import find_dates
from memcli.errors import UsageError
from memcli.search.question import DATE_STEMS, Question

TODAY = date(2026, 2, 11)


def wished(text: str) -> list[str]:
    return [span.text for span in Question.read(text, TODAY).dates]


@pytest.mark.parametrize(
    "text",
    [
        # What stands beside the question is talk.
        "今天天气真好，我同事的手机号是多少？", "今天天气真好。我同事的手机号是多少？",
        "手机号是多少？今天天气真好。", "今天天气真好 我同事的手机号是多少",
        "昨天看到有人手机屏幕好大。我使用的手机怎么样？",
        "今天好累啊，明天还得去超市。等等，上司的邮箱是什么？",
        "今日は天気がいいです。田中さんの電話番号は何ですか？",
        "Lovely weather today! What is the phone number of the dentist?",
        "The weather is so nice today, what is the phone number of the dentist?",
        "I slept badly last night. Which port does the gateway use?",
        "Heute ist schönes Wetter, wie heißt der Zahnarzt?",
        "Gestern war viel los. Welchen Port hat das Gateway?",
        # A birthday is no day on which a note was written.
        "那个生日是07月15日的人，年龄是多少？", "有几个人在9月份过生日？", "Who was born in May?",
        "The latest build was slow. Which port does the gateway use?",
        "Wer hat am 7. Mai Geburtstag?",
        # Names and habits.
        "what is the agenda of every Monday", "what did we buy on Black Friday",
        "can I deploy on a Friday", "can we meet on a Monday", "an einem Freitag ausliefern",
        "gym on Wednesday evening", "is the green waste still collected on Wednesday",
        "who comes on Thursday", "was Brunner day Thursday", "Kommt Ada noch am Mittwoch",
        "Sport am Mittwoch Abend",
        # What is the oldest for a thing is no note that is the oldest.
        "oldest compiler version that a package supports",
        "what is the newest Rust version which the library runs on?",
    ],
)  # fmt: skip
def test_a_date_word_that_is_no_wish_is_a_word_like_others(text: str) -> None:
    assert wished(text) == []
    plain = Question.read(text, TODAY)
    assert all(not term.stop or term.kind == "word" for term in plain.query.terms)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("今天天气怎么样？", ["今天"]), ("今天天气真好", ["今天"]),
        ("昨天开会的时候，谁说了要延期？", ["昨天"]),
        ("What was the weather like yesterday?", ["yesterday"]),
        ("Yesterday in the meeting, who asked for a delay?", ["Yesterday"]),
        ("I met Odette yesterday. What did she say of the pool?", ["yesterday"]),
        ("In May 2023 we moved. Which port did the gateway use?", ["May 2023"]),
        ("We met on 2026-02-02. Which port did I note?", ["2026-02-02"]),
        ("What did we give Odette for her birthday on 3 May 2023?", ["3 May 2023"]),
        ("Whose birthday was it last week?", ["last week"]), ("上个月谁过生日？", ["上个月"]),
        ("gestern Abend, wer war da?", ["gestern"]),
        ("Nice weather.\nYesterday we met Odette. What did she say?", ["Yesterday"]),
        ("What is the latest port of the gateway? The weather is nice.", ["latest"]),
        ("the latest decision that we made", ["latest"]),
        ("the latest note that mentions E17", ["latest"]),
        # One day, by its own words or because it is over.
        ("what happened on Wednesday evening", ["Wednesday"]),
        ("who called last Friday evening", ["last Friday"]),
        ("what was still open on Friday", ["Friday"]), ("who is on call on Friday", ["Friday"]),
        ("was I out all day Friday", ["Friday"]), ("was it a busy day on Friday", ["Friday"]),
        ("what is on this Friday evening", ["this Friday"]),
        ("was war am Mittwoch Abend", ["Mittwoch"]),
        ("sales of a Friday in May 2025", ["May 2025"]),
    ],
)  # fmt: skip
def test_a_date_that_is_asked_for_is_kept(text: str, words: list[str]) -> None:
    assert wished(text) == words


@pytest.mark.parametrize(
    ("text", "sought"),
    [
        ("what happened last week in the pool", ["pool"]),
        ("what happened on 21 September with the oven", ["oven"]),
        ("notes of yesterday on the oven", ["oven"]),
        ("what happened with the oven", ["happened", "oven"]),
        ("the latest note on the oven", ["note", "oven"]),
        ("what did we do last summer at the lake", ["last", "summer", "lake"]),
        ("who called the week before 3 May 2023", ["called", "week"]),
        ("notes on 7/12/2023", ["notes"]), ("revenue in Q3 2023", ["revenue", "Q3", "2023"]),
        ("revenue of the third quarter", ["revenue", "third", "quarter"]),
        ("the oven at Christmas", ["oven", "Christmas"]), ("the oven since Christmas", ["oven"]),
        ("Ofen seit Ostern", ["Ofen"]),
        # A rule for Mondays may be of any date; what happened on one is a note of that day.
        ("may we deploy on Monday", ["deploy", "Monday"]),
        ("Was gilt am Montag für den Ofen", ["gilt", "Montag", "Ofen"]),
        ("der Ofen am Montag", ["Ofen"]), ("who is at the oven on Monday", ["oven"]),
        ("what did we deploy on Monday", ["deploy"]),
        ("are deploys allowed on Monday", ["deploys", "allowed", "Monday"]),
        ("the oven last Monday", ["oven"]),
    ],
)  # fmt: skip
def test_the_words_of_a_date_are_not_looked_for_but_those_a_note_may_say(
    text: str, sought: list[str]
) -> None:
    assert Question.read(text, TODAY).words == sought


@pytest.mark.parametrize(
    ("question", "is_past"),
    [
        ("Wann haben wir am Mittwoch das Review?", False),
        ("Wer hat am Mittwoch Bereitschaft?", False),
        ("Was haben wir am Mittwoch zu besprechen?", False),
        ("Wen habe ich am Mittwoch getroffen?", True), ("Wer hat am Mittwoch abgesagt?", True),
        ("Was ist am Mittwoch passiert?", True), ("Ist der Laden am Mittwoch geöffnet?", False),
        ("what broke on Wednesday", True), ("what have I done on Wednesday", True),
        ("who will be paid on Wednesday", False),
    ],
)  # fmt: skip
def test_the_weekday_of_today_is_of_last_week_for_what_has_happened(
    question: str, *, is_past: bool
) -> None:
    (span,) = Question.read(question, TODAY).dates
    assert span.start == ("2026-02-04" if is_past else "2026-02-11")


@pytest.mark.parametrize(
    ("question", "is_rule"),
    [
        ("what should I bring on Tuesday?", False),
        ("Was soll ich am Dienstag mitnehmen?", False),
        ("is it ok to deploy on Friday?", True),
        ("can we deploy on Friday?", True),
    ],
)
def test_what_one_should_do_on_a_weekday_is_no_rule(question: str, *, is_rule: bool) -> None:
    (span,) = Question.read(question, TODAY).dates
    assert span.is_loose is is_rule


def test_an_order_is_no_wish_beside_a_time_that_is_named() -> None:
    assert wished("their latest project in July 2023") == ["July 2023"]
    assert wished("their latest project since July 2023") == ["latest", "since July 2023"]
    assert wished("the last session in July 2023") == ["last", "July 2023"]


def test_a_question_that_is_only_a_date_says_so() -> None:
    for text in (
        "2026-02-10",
        "what did we do yesterday?",
        "last summer",
        "5月4日",
        "since June",
        "Q3",
        "2025",
        "what happened in 2025",
        "what happened since Christmas?",
    ):
        assert Question.read(text, TODAY).query.asks_for_dates_alone, text
    assert not Question.read("the pool in June", TODAY).query.asks_for_dates_alone


@given(
    st.text(st.sampled_from("昨天今天气真好。？?！, yesterday what May 5月4日 she"), max_size=60)
)
def test_no_text_breaks(text: str) -> None:
    dates = find_dates(text, TODAY)
    try:
        kept = Question.read(text, TODAY).dates
    except UsageError:  # nothing to search for
        return
    assert [span for span in dates if span in kept] == list(kept)


def test_the_grammar_is_loaded_for_all_it_can_read() -> None:
    """A stem that is missing would hide dates that the grammar knows."""
    tables = (
        words.MONTHS, words.WEEKDAYS, words.DAY_WORDS, words.UNITS,
        words.SEASONS, holidays.NAMES,
    )  # fmt: skip
    for word in chain(*tables, english_german.NEWEST, english_german.OLDEST):
        assert not word.isascii() or any(stem in word for stem in DATE_STEMS), word
