"""Which sentence of a group stands for it."""

from __future__ import annotations

import pytest

from memcli.compaction.extract import Said, extract
from memcli.compaction.sentences import Sentence
from memcli.language.terms import content
from memcli.language.tokens import quotient


def say(text: str, line: int) -> Sentence:
    return Sentence(text, "memory/2025-01-01.md", line, line, "", "", "")


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("Does the harbour crane need grease?", "The harbour crane needs grease."),
        ("港口起重机需要润滑油吗？", "港口起重机需要润滑油。"),
    ],
)
def test_a_question_stands_for_a_group_only_where_nothing_is_told(asked: str, told: str) -> None:
    """Both say the same words at the same cost, and what comes first wins a tie."""
    words = {word: 1.0 for text in (asked, told) for word in content(text)}
    for texts, best in (((asked, told), 1), ((told, asked), 0)):
        sentences = [say(text, line) for line, text in enumerate(texts, 1)]
        found = extract(
            sentences, Said(), words, forced=(), groups=[range(2)], budget=0.0, embed=None
        )
        assert found.chosen == (best,)


def test_what_leans_on_nothing_before_stands_for_a_group_last() -> None:
    """They would be alike but for the word that only another sentence could explain."""
    texts = ("They grease the harbour crane.", "Some grease the harbour crane.")
    words = {word: 1.0 for word in content(texts[0])}
    assert content(texts[1]) == content(texts[0])
    for ordered, best in ((texts, 1), (texts[::-1], 0)):
        sentences = [say(text, 9 * line) for line, text in enumerate(ordered, 1)]
        found = extract(
            sentences, Said(), words, forced=(), groups=[range(2)], budget=0.0, embed=None
        )
        assert found.chosen == (best,)


def test_a_question_stands_for_a_group_before_what_leans_on_nothing() -> None:
    both = [say("They grease the harbour crane.", 1), say("Do we grease the harbour crane?", 9)]
    words = {word: 1.0 for word in content(both[0].text)}
    found = extract(both, Said(), words, forced=(), groups=[range(2)], budget=0.0, embed=None)
    assert found.chosen == (1,)


def test_what_a_machine_says_stands_for_a_group_last() -> None:
    told = say("They grease the harbour crane.", 1)
    for by_machine, best in ((True, 1), (False, 0)):
        both = [told._replace(by_machine=by_machine), say(told.text.upper(), 9)]
        words = {word: 1.0 for word in content(told.text)}
        found = extract(both, Said(), words, forced=(), groups=[range(2)], budget=0.0, embed=None)
        assert found.chosen == (best,)


def test_a_sentence_that_costs_all_of_the_budget_is_chosen() -> None:
    told = say("They grease the harbour crane.", 1)
    words = {word: 1.0 for word in content(told.text)}
    cost = quotient(told.shown)
    for budget, chosen in ((cost, (0,)), (cost - 0.01, ())):
        found = extract([told], Said(), words, forced=(), groups=(), budget=budget, embed=None)
        assert found.chosen == chosen


def test_prose_stands_for_a_group_before_what_stands_for_a_table() -> None:
    table = say("[table, 9 rows: harbour, crane, grease, weights, chains]", 1)
    words = {word: 1.0 for word in content(table.text)}
    both = [table, say("They grease the harbour crane.", 9)]
    found = extract(both, Said(), words, forced=(), groups=[range(2)], budget=0.0, embed=None)
    assert found.chosen == (1,)


def test_confidence_is_the_mean_of_how_near_and_how_much() -> None:
    """One of two sentences that share no word: a cosine of 1 / sqrt(2), and half of the IDF."""
    both = [say("Herons nest.", 1), say("Carp sleep.", 2)]
    weights = dict.fromkeys(("herons", "nest", "carp", "sleep"), 1.0)
    found = [
        extract(both, Said(), weights, forced=forced, groups=(), budget=0.0, embed=None).confidence
        for forced in ((), (0,), (1,), (0, 1))
    ]
    assert found == [0.0, 0.5946, 0.5946, 0.8409]
