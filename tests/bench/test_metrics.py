"""The metrics against a small example worked by hand."""

from __future__ import annotations

import math

import pytest

from memcli.bench.metrics import LINE_END_TOKENS, Range, reached, score
from memcli.bench.queries import read_queries
from memcli.bench.summary_recall import recall
from memcli.errors import UsageError
from memcli.language.tokens import quotient
from memcli.types import SegmentScore
from tests.bench.makers import passage

RELEVANT = [Range("a.md", 5, 6), Range("b.md", 1, 1)]
RESULTS = [Range("c.md", 1, 9), Range("a.md", 6, 8), Range("b.md", 2, 3), Range("b.md", 1, 4)]


def _costs(document: tuple[str, str]) -> list[float]:
    return [100.0] * 10


def test_ranks_and_recall_follow_the_first_passage_that_touches_each_range() -> None:
    """a.md is touched at rank 2, b.md at rank 4."""
    found = score(RELEVANT, RESULTS, _costs)
    assert (found["Hit@1"], found["Hit@5"], found["MRR@10"]) == (0.0, 1.0, 0.5)
    assert (found["Recall@5"], found["Recall@10"]) == (1.0, 1.0)
    gained = 1 / math.log2(3) + 1 / math.log2(5)
    assert found["nDCG@10"] == pytest.approx(gained / (1 + 1 / math.log2(3)))


def test_budget_recall_reads_lines_until_they_do_not_fit() -> None:
    """Nine lines of 100 tokens come first: only with 1,000 does one line of a.md fit."""
    found = score(RELEVANT, RESULTS, _costs)
    assert (found["Recall@500tok"], found["Recall@1000tok"], found["Recall@2000tok"]) == (0, 0.5, 1)


def test_a_range_counts_once_however_often_it_is_touched() -> None:
    found = score([Range("a.md", 1, 1)], [Range("a.md", 1, 1)] * 3, _costs)
    assert found["nDCG@10"] == 1.0


@pytest.mark.parametrize("line", ["{", "[]", '{"relevant": []}', '{"query": "q", "relevant": 1}'])
def test_a_line_that_is_no_query_is_named(line: str) -> None:
    with pytest.raises(UsageError, match=r"q\.jsonl:1"):
        read_queries([line], "q.jsonl")


def test_ten_of_twelve_wanted_passages_in_the_first_ten_places_are_the_ideal() -> None:
    wanted = [Range(f"{at:02}.md", 1, 1) for at in range(12)]
    assert score(wanted, wanted, _costs)["nDCG@10"] == 1.0
    missed = score(wanted, wanted[:9], _costs)["nDCG@10"]
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, 11))
    assert missed == pytest.approx(1 - 1 / math.log2(11) / ideal)


@pytest.mark.parametrize(("line", "share"), [(4, 0.0), (5, 0.5), (7, 0.5), (30, 0.5), (31, 0.0)])
def test_a_range_is_reached_by_any_line_of_it_to_the_last(line: int, share: float) -> None:
    wanted = [Range("a.md", 5, 30), Range("b.md", 1, 1)]
    document = wanted[0].document
    assert reached(wanted, {(document, line)}) == share
    assert (
        reached(wanted, {(document, line), *((wanted[1].document, n) for n in range(2, 40))})
        == share
    )


def test_the_lines_that_a_summary_cites_are_read_at_its_own_cost() -> None:
    """Of lines 3 and 7 that are judged the summary cites one; both are read where it is free."""
    text = "- It ran dry. (memory/a.md:1-5)\n- It was filled. (memory/a.md:7)"
    (shown,) = [passage("memory/s.md", 1, 2)]
    about = shown.candidate.about._replace(kind="summary")
    part = SegmentScore(1, 2, 0, len(text), None)
    candidate = shown.candidate._replace(about=about, text=text, segments=(part,))
    told = shown._replace(candidate=candidate)
    judged = [Range("memory/a.md", 3, 3), Range("memory/a.md", 7, 7)]
    first, both = (
        sum(quotient(line) + LINE_END_TOKENS for line in text.split("\n")[:n]) for n in (1, 2)
    )
    assert recall(judged, [told], first) == 0.5
    assert recall(judged, [told], both) == 1.0
    assert recall(judged, [told], first - 0.01) == 0.0
