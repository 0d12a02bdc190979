"""The rare words of what was left out, for people and for search."""

from __future__ import annotations

from memcli.compaction.also import words
from memcli.compaction.similarity import idf

ENGLISH = ["We paddled a canoe down the river.", "The canoe had a leak."]
CHINESE = ["我去了厦门。", "厦门有鼓浪屿，鼓浪屿很美。"]


def test_rare_words_come_in_their_order_without_what_was_said() -> None:
    weights = idf(["the river", "the river", "the bank", "a canoe"])
    assert words(ENGLISH, ["the river"], weights, 100) == ("paddled", "canoe", "down", "leak")


def test_the_budget_is_kept() -> None:
    assert words(ENGLISH, [], idf(ENGLISH), 3) == ("down", "leak")  # 1 + 0.5 tokens each
    assert words(ENGLISH, [], idf(ENGLISH), 0) == ()


def test_chinese_is_named_by_what_recurs() -> None:
    assert words(CHINESE, [], idf(CHINESE), 5) == ("鼓浪屿", "厦门")
