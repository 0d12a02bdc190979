"""Answers of different models are joined by how sure each passage is."""

from __future__ import annotations

import pytest

from memcli.config.settings import load
from memcli.embedding.models import Calibration
from memcli.errors import Reason
from memcli.search.confidence import LOW
from memcli.search.federation import merge_answers as merged
from memcli.search.focus import WeightedTerm
from memcli.search.options import SearchOptions, options_of
from memcli.search.pipeline import NOTHING, OFF_TOPIC, Answer
from memcli.search.ranked import RankedPassage
from memcli.search.retrievers import RetrieverUse
from memcli.types import Filters
from tests.search.makers import candidate, fused

NOWHERE = {"a": ("x", "y"), "b": ("y", "x"), "c": ("x",)}


def options(limit: int = 10, budget: int | None = None) -> SearchOptions:
    config = load("/nowhere", {}, {"search.limit": limit})
    return options_of(config, filters=Filters(), budget=budget)


def answer(name: str, *confidences: float | None, match: str = "strong") -> Answer:
    passages: list[RankedPassage] = []
    for rank, each in enumerate(confidences, 1):
        (passage,) = fused(candidate(rank, lines=(f"{name}{rank} says something of this",)))
        passages.append(passage._replace(confidence=each))
    semantic = RetrieverUse(True, None, 3, 5)
    unknown = None in confidences
    return NOTHING._replace(
        passages=tuple(passages), match=match, semantic=semantic, missing_phrases=("x", name),
        uncalibrated=Reason("uncalibrated", "by words") if unknown else None,
    )  # fmt: skip


def words(found: Answer) -> list[str]:
    return [passage.text.split()[0] for passage in found.passages]


def test_the_surest_comes_next_and_each_keeps_its_order() -> None:
    found = merged([answer("a", 0.5, 0.9, 0.1), answer("b", 0.7, 0.5)], options=options())
    assert words(found) == ["b1", "a1", "a2", "b2", "a3"]
    assert (found.semantic, found.missing_phrases) == (RetrieverUse(True, None, 6, 10), ("x",))
    answers = [answer(name)._replace(missing_phrases=absent) for name, absent in NOWHERE.items()]
    assert merged(answers, options=options()).missing_phrases == ("x",)


def test_the_first_wins_ties_and_the_verdict_is_that_of_the_first_passage() -> None:
    sure, unsure = answer("a", 0.5), answer("b", 0.5, match="weak")
    assert words(merged([sure, unsure], options=options())) == ["a1", "b1"]
    assert merged([sure, unsure], options=options()).match == "strong"
    assert merged([unsure, sure], options=options()).match == "weak"
    assert merged([answer("a", match="none"), sure], options=options()).match == "strong"


def test_who_was_never_calibrated_takes_turns() -> None:
    unknown, sure = answer("a", None, None, None), answer("b", 0.9, 0.2)
    assert words(merged([unknown, sure], options=options())) == ["a1", "b1", "a2", "b2", "a3"]
    assert words(merged([sure, unknown], options=options())) == ["b1", "a1", "b2", "a2", "a3"]
    both = [unknown, answer("b", None, None)]
    assert words(merged(both, options=options())) == ["a1", "b1", "a2", "b2", "a3"]


def test_the_verdict_is_never_that_of_a_model_nothing_is_known_of() -> None:
    unknown, good = answer("a", None, match="weak"), answer("b", 0.9)
    assert merged([unknown, good], options=options()).match == "strong"
    low = answer("b", 0.1, match="weak")._replace(match_reason=LOW)
    assert merged([unknown, low], options=options()).match == "weak"  # it may have found it
    literal = answer("a", None, match="strong")  # what is asked for to the letter is there
    weak = answer("b", 0.3, match="weak")
    assert merged([literal, weak], options=options()).match == "strong"


def test_no_model_finds_words_that_no_note_contains() -> None:
    term = WeightedTerm(("zebra",), 1.0, text="zebra")
    constants = Calibration(0.0, 1.0, 1.0, near=0.9)
    off = [
        answer(name, 0.4)._replace(terms=(term,), unmatched=("zebra",), constants=constants)
        for name in "ab"
    ]
    short = options()._replace(worthwhile=True)
    found = merged(off, options=short)
    assert (found.passages, found.match_reason, len(found.left)) == ((), OFF_TOPIC, 2)
    assert len(merged(off, options=options()).passages) == 2
    assert merged([off[0], answer("b", 0.9)], options=short).passages


def test_passages_are_told_in_the_order_of_time_where_that_is_wanted() -> None:
    days = [("2026-01-03", "2026-01-01"), ("2026-01-04", "2026-01-02")]
    answers = [answer("a", 0.9, 0.8), answer("b", 0.7, 0.6)]
    for at, each in enumerate(answers):
        passages = [
            passage._replace(
                candidate=passage.candidate._replace(about=passage.about._replace(date=day))
            )
            for passage, day in zip(each.passages, days[at], strict=True)
        ]
        answers[at] = each._replace(passages=tuple(passages))
    found = merged(answers, options=options()._replace(sort="newest"))
    assert words(found) == ["b1", "a1", "b2", "a2"]
    assert words(merged(answers, options=options(2)._replace(sort="newest"))) == ["b1", "a1"]


def test_vectors_that_took_no_part_are_those_of_the_workspaces_that_are_named() -> None:
    retrievers = {
        name: RetrieverUse(not why, Reason("off", f"{name}: {why}") if why else None, 1, 2)
        for name, why in (("a", "none"), ("b", ""), ("c, d", "none"), ("e", "other"))
    }

    def told(*names: str) -> tuple[bool, str | None]:
        answers = [answer(name)._replace(semantic=retrievers[name]) for name in names]
        semantic = merged(answers, options=options()).semantic
        return semantic.ran, semantic.reason and semantic.reason.text

    assert told("a", "b", "c, d") == (True, "a, c, d: none")
    assert told("b", "e", "a") == (True, "e: other")
    assert told("a", "c, d") == (False, "none")


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_a_shorter_list_is_the_beginning_of_a_longer_one(limit: int) -> None:
    answers = [answer("a", 0.5, 0.4), answer("b", 0.6, 0.3)]
    assert words(merged(answers, options=options(limit))) == [
        "b1", "a1", "a2", "b2"
    ][:limit]  # fmt: skip


def test_a_budget_holds_for_all_together() -> None:
    answers = [answer("a", 0.9, 0.8), answer("b", 0.7, 0.6)]
    found = merged(answers, options=options(budget=9))
    assert (len(found.passages), found.omitted_over_budget > 0) == (1, True)
