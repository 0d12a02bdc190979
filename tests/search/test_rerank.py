"""The order that a reranker gives, and what stays where it gives none."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import memcli
from memcli.config.settings import load
from memcli.embedding.encoders import Vector
from memcli.errors import Reason, RetrieverError
from memcli.search.federation import ModelGroup, search_each
from memcli.search.focus import Adjustments, Width, focus
from memcli.search.options import options_of
from memcli.search.question import Question
from memcli.search.ranked import RankedPassage
from memcli.search.rerank import LIFT, SURE, SURE_LEAD, TOP, Lifts, RerankResult, rerank
from memcli.store.open import open_store
from memcli.types import Filters
from tests.search.makers import HALVES, candidate, fused
from tests.support import FAR_FUTURE_NS, write


class Reader:
    """Scores texts as it is told, and keeps what it was asked."""

    def __init__(self, scores: Sequence[float], *, by_part: bool = False, error: str = "") -> None:
        self.name = "tokens" if by_part else "onnx"
        self.is_by_part = by_part
        self.asked: list[tuple[str, list[str]]] = []
        self._scores, self._error = scores, error

    def scores(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        self.asked.append((query, list(texts)))
        if self._error:
            raise RetrieverError(self._error, hint="memcli status")
        return self._scores


def focused(lifts: Lifts) -> list[RankedPassage]:
    """Cut three chunks of two lines down to single lines."""
    passages = fused(
        candidate(1, cosines=(0.9, 0.2), lines=("one", "two <!-- unseen -->")),
        candidate(2, cosines=(0.8, 0.3), lines=("three", "four")),
        candidate(3, cosines=(0.7, 0.1), lines=("five", "six")),
    )
    return focus(
        passages,
        {1: [("one",), ("two",)], 2: [("three",), ("four",)], 3: [("five",), ("six",)]},
        (),
        weights=HALVES,
        text_share=1.0,
        whole=False,
        width=Width(lines=1),
        adjusted=Adjustments(lifts=lifts),
    )


def places(passages: Sequence[RankedPassage]) -> list[str]:
    return [passage.citation for passage in passages]


def test_passages_take_the_order_of_their_scores_and_keep_the_scores_of_before() -> None:
    passages, reader = focused({}), Reader([1.0, -7.0, 30.0, 1.0, 2.0, 0.0])
    again, told = rerank(passages, "why", reader, focused, has_vectors=True)
    assert told == RerankResult("onnx", 6)
    assert reader.asked == [("why", ["one", "three", "five", "two", "four", "six"])]
    assert [passage.text.split()[0] for passage in again] == [
        "five",
        "four",
        "one",
        "two",
        "six",
        "three",
    ]
    assert [passage.score for passage in again] == [passage.score for passage in passages]
    assert again[0].trace[-1].stage == "rerank"
    assert dict(again[0].trace[-1].inputs) == {"by": "onnx", "read": 30.0}


def test_only_the_best_are_read_and_the_others_stay_behind_them() -> None:
    passages = fused(*(candidate(n, cosines=(1 - n / 100,)) for n in range(1, TOP + 6)))
    again, told = rerank(passages, "why", Reader(range(TOP)), focused, has_vectors=True)
    assert told.read == TOP == 20  # as the help on ranking says
    assert places(again) == [*places(passages[:TOP])[::-1], *places(passages[TOP:])]
    assert again[TOP:] == passages[TOP:]


@given(st.lists(st.floats(-50, 50), min_size=6, max_size=6))
def test_no_passage_is_lost_and_better_ones_stand_first(scores: list[float]) -> None:
    passages = focused({})
    again, _ = rerank(passages, "why", Reader(scores), focused, has_vectors=True)
    given_to = dict(zip(places(passages), scores, strict=True))
    assert sorted(places(again)) == sorted(places(passages))
    assert [given_to[place] for place in places(again)] == sorted(scores, reverse=True)


def test_parts_that_are_more_like_the_query_than_others_are_lifted() -> None:
    """The mean is 0.5, so that line six, with 0.1 of its cosine, gains 0.4 * LIFT."""
    passages = focused({})
    at = places(passages).index("3.md:2")
    likenesses = [0.42] * 6
    likenesses[at] = 0.9
    again, told = rerank(
        passages, "why", Reader(likenesses, by_part=True), focused, has_vectors=True
    )
    assert told == RerankResult("tokens", 6)
    assert places(passages)[2] == "3.md:1"
    six = next(passage for passage in again if passage.citation == "3.md:2")
    step = six.trace[-1]
    assert step.stage == "rerank"
    assert dict(step.inputs) == pytest.approx({"by": "tokens", "read": 0.9, "lift": 0.4 * LIFT})
    own = 0.625 * 0.1 + 0.4 * LIFT
    neighbour = 0.625 * 0.7 - 0.08 * LIFT
    assert dict(six.trace[-2].inputs)["part"] == pytest.approx(own + 0.3 * neighbour)


def test_parts_are_not_read_where_the_first_passage_is_far_ahead() -> None:
    passages = focused({})
    passages[0] = passages[0]._replace(score=passages[1].score + SURE_LEAD)
    parts, whole = Reader([0.5] * 6, by_part=True), Reader([1.0] * 6)
    again, told = rerank(passages, "why", parts, focused, has_vectors=True)
    assert (again, told, parts.asked) == (passages, RerankResult("tokens", 0, SURE), [])
    assert rerank(passages, "why", whole, focused, has_vectors=True)[1].ran
    assert rerank(passages[:2], "why", parts, focused, has_vectors=True) == (passages[:2], told)
    passages[0] = passages[0]._replace(score=passages[1].score + 0.99 * SURE_LEAD)
    assert rerank(passages, "why", parts, focused, has_vectors=True)[1].ran


def test_without_vectors_there_is_nothing_to_add_a_likeness_to() -> None:
    passages, reader = focused({}), Reader([0.5] * 6, by_part=True)
    again, told = rerank(passages, "why", reader, focused, has_vectors=False)
    assert (again, reader.asked) == (passages, [])
    assert told.reason is not None
    assert not told.ran
    assert rerank(passages, "why", Reader([1.0] * 6), focused, has_vectors=False)[1].ran


@pytest.mark.parametrize(
    ("reader", "reason"),
    [
        (Reader([], error="it sleeps"), Reason("no-retriever", "it sleeps", "memcli status")),
        (Reader([1.0, 2.0]), Reason("rerank", "the reranker gives no score for some texts")),
        (
            Reader([1.0, 2.0, 3.0, float("nan"), 5.0, 6.0]),
            Reason("rerank", "the reranker gives no score for some texts"),
        ),
        (
            Reader([float("inf")] * 6, by_part=True),
            Reason("rerank", "the reranker gives no score for some texts"),
        ),
    ],
)
def test_the_order_stays_where_there_are_no_scores(reader: Reader, reason: Reason) -> None:
    passages = focused({})
    again, told = rerank(passages, "why", reader, focused, has_vectors=True)
    assert again is passages
    assert told == RerankResult(reader.name, 0, reason)


def test_nothing_found_is_nothing_to_read() -> None:
    reader = Reader([])
    assert rerank([], "why", reader, focused, has_vectors=True) == ([], RerankResult("onnx", 0))
    assert reader.asked == []


def test_each_lot_is_read_by_its_own_reranker_and_by_none_where_none_is_wanted(
    tmp_path: Path,
) -> None:
    write(tmp_path, "MEMORY.md", "The pool ran dry.\n")
    settings = {"embedding.encoder": "none"}
    with memcli.Memory.open(tmp_path, settings=settings) as memory:
        memory.index()
    config = load(str(tmp_path), {}, settings)
    options = options_of(config, filters=Filters())._replace(mode="keyword")
    wanted, own = Reader([1.0]), Reader([2.0])
    store = open_store(config, os.environ, lambda: FAR_FUTURE_NS)
    with store.snapshot() as snapshot:
        group = ModelGroup((), snapshot, "none", own, lambda _: Vector(None, "", None))
        for asked, reranker in ((0, None), (1, wanted)):
            question = Question.read("pool", date(2026, 1, 1))
            search_each([group], question, options._replace(reranker=reranker))
            assert (len(wanted.asked), len(own.asked)) == (0, asked)
    store.close()
