"""Answers of different models are joined by how sure each passage is."""

from __future__ import annotations

import pytest

from memcli.config.settings import load
from memcli.search.hits import Hit
from memcli.search.joined import joined
from memcli.search.legs import Leg
from memcli.search.options import SearchOptions, options_of
from memcli.search.pipeline import NOTHING, Answer
from memcli.types import Filters
from tests.search.makers import candidate, fused


def options(limit: int = 10, budget: int | None = None) -> SearchOptions:
    config = load("/nowhere", {}, {"search.limit": limit})
    return options_of(config, filters=Filters(), budget=budget)


def answer(name: str, *confidences: float | None, verdict: str = "good") -> Answer:
    hits: list[Hit] = []
    for rank, each in enumerate(confidences, 1):
        (hit,) = fused(candidate(rank, lines=(f"{name}{rank} says something of this",)))
        hits.append(hit._replace(confidence=each))
    dense = Leg(True, None, 3, 5)
    return NOTHING._replace(hits=tuple(hits), verdict=verdict, dense=dense, absent=("x", name))


def words(found: Answer) -> list[str]:
    return [hit.text.split()[0] for hit in found.hits]


def test_the_surest_comes_next_and_each_keeps_its_order() -> None:
    found = joined([answer("a", 0.5, 0.9, 0.1), answer("b", 0.7, 0.5)], options=options())
    assert words(found) == ["b1", "a1", "a2", "b2", "a3"]
    assert (found.dense, found.absent) == (Leg(True, None, 6, 10), ("x",))


def test_the_first_wins_ties_and_the_verdict_is_that_of_the_first_passage() -> None:
    sure, unsure = answer("a", 0.5), answer("b", 0.5, verdict="weak")
    assert words(joined([sure, unsure], options=options())) == ["a1", "b1"]
    assert joined([sure, unsure], options=options()).verdict == "good"
    assert joined([unsure, sure], options=options()).verdict == "weak"
    assert joined([answer("a", verdict="none"), sure], options=options()).verdict == "good"


def test_who_was_never_calibrated_takes_turns() -> None:
    found = joined([answer("a", None, None), answer("b", 0.9, 0.2)], options=options())
    assert words(found) == ["a1", "a2", "b1", "b2"]
    found = joined([answer("b", 0.9, 0.2), answer("a", None, None)], options=options())
    assert words(found) == ["b1", "b2", "a1", "a2"]


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_a_shorter_list_is_the_beginning_of_a_longer_one(limit: int) -> None:
    answers = [answer("a", 0.5, 0.4), answer("b", 0.6, 0.3)]
    assert words(joined(answers, options=options(limit))) == [
        "b1", "a1", "a2", "b2"
    ][:limit]  # fmt: skip


def test_a_budget_holds_for_all_together() -> None:
    answers = [answer("a", 0.9, 0.8), answer("b", 0.7, 0.6)]
    found = joined(answers, options=options(budget=9))
    assert (len(found.hits), found.dropped > 0) == (1, True)
