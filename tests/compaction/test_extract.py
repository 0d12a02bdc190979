"""Which sentence of a group stands for it."""

from __future__ import annotations

import pytest

from memcli.compaction.extract import SummaryLines, extract
from memcli.compaction.sentences import Sentence
from memcli.language.terms import content


def say(text: str, line: int) -> Sentence:
    return Sentence(text, "memory/2025-01-01.md", line, line, "", "", "")


def chosen(*sentences: Sentence) -> set[int]:
    """Tell which of one group stands for it."""
    weights = {word: 1.0 for each in sentences for word in content(each.text)}
    group = [range(len(sentences))]
    found = extract(sentences, SummaryLines(), weights, forced=(), groups=group, embed=None)
    return {*found.chosen}


@pytest.mark.parametrize(
    ("worse", "best"),
    [
        ("Does the harbour crane need grease?", "The harbour crane needs grease."),
        ("港口起重机需要润滑油吗？", "港口起重机需要润滑油。"),
        (
            "[table, 9 rows: harbour, crane, grease, weights, chains]",
            "They grease the harbour crane.",
        ),
    ],
)
def test_a_group_is_summarized_by_its_clearest_sentence(worse: str, best: str) -> None:
    """Not by a question, or by the mark of a table."""
    assert chosen(say(worse, 9), say(best, 18)) == {1}
    assert chosen(say(best, 9), say(worse, 18)) == {0}


def test_what_leans_on_another_sentence_does_not_stand_for_its_entry_by_being_first() -> None:
    other = "We planted 40 trees behind the barn and paid 90 EUR."
    for opening, best in (("That is why the", 1), ("The", 0)):
        first = say(f"{opening} harbour crane needs 40 g of grease.", 9)
        assert chosen(first, say(other, 18)) == {best}


def test_what_a_machine_says_stands_for_a_group_last() -> None:
    told = say("They grease the harbour crane.", 1)
    for by_machine, best in ((True, 1), (False, 0)):
        assert chosen(told._replace(by_machine=by_machine), say(told.text.upper(), 9)) == {best}


def test_confidence_is_the_mean_of_how_near_and_how_much() -> None:
    """One of two sentences that share no word: a cosine of 1 / sqrt(2), and half of the IDF."""
    both = [say("Herons nest.", 1), say("Carp sleep.", 2)]
    weights = dict.fromkeys(("herons", "nest", "carp", "sleep"), 1.0)
    found = [
        extract(both, SummaryLines(), weights, forced=forced, groups=(), embed=None).confidence
        for forced in ((), (0,), (1,), (0, 1))
    ]
    assert found == [0.0, 0.5946, 0.5946, 0.8409]
