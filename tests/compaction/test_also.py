"""Names, dates and amounts of what was left out, for people and for search."""

from __future__ import annotations

from memcli.compaction.also import names
from memcli.compaction.similarity import idf

ENGLISH = [
    "Woah, we drove with Odette to Lake Bled!",
    "The hotel in Bled cost 240 EUR, and Odette paid on 14 March.",
    "Yup, it was exciting.",
]
CHINESE = ["我去了厦门。", "厦门有鼓浪屿，鼓浪屿很美。"]


def test_names_dates_and_amounts_come_in_their_order_and_no_other_words() -> None:
    assert names(ENGLISH, [], idf(ENGLISH), 100) == ("Odette", "Lake Bled", "240 EUR", "14 March")


def test_what_was_said_and_who_speaks_is_left_out() -> None:
    said = ["Odette went to Lake Bled."]
    assert names(ENGLISH, said, idf(ENGLISH), 100) == ("240 EUR", "14 March")
    assert names(ENGLISH[:1], [], idf(ENGLISH), 100, speakers={"Odette"}) == ("Lake Bled",)


def test_the_budget_is_kept() -> None:
    assert names(ENGLISH, [], idf(ENGLISH), 4) == ("240 EUR", "Bled")
    assert names(ENGLISH, [], idf(ENGLISH), 0) == ()


def test_chinese_is_named_by_what_recurs() -> None:
    assert names(CHINESE, [], idf(CHINESE), 5) == ("鼓浪屿", "厦门")


def test_what_chinese_says_once_does_not_recur() -> None:
    said = ["那天我们一起坐船去了厦门。"]
    assert names(said, [], idf(said), 4) == ()
    assert names([*said, "厦门很热。"], [], idf(said), 4) == ("厦门",)
