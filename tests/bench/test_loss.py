"""The stage that lost the judged lines is read off the search, never guessed."""

from __future__ import annotations

from pathlib import Path

import pytest

from memcli.bench.metrics import Range
from memcli.bench.quality import Loss, lost_at
from memcli.config.settings import load
from memcli.search.options import SearchOptions, options_of
from memcli.search.pipeline import NOTHING, Answer
from memcli.search.ranked import RankedPassage
from memcli.search.retrievers import MODE_IS_KEYWORD, RetrieverUse
from memcli.search.why_not import Course
from memcli.types import Filters
from tests.bench.makers import passage

WANTED = Range("a.md", 3, 4)
OTHERS = [passage("b.md", n, n, chunk=n) for n in range(1, 131)]
HELD = passage("a.md", 4, 6, chunk=500)
ANSWER = NOTHING._replace(
    keyword=RetrieverUse(True, None, 0, 9), semantic=RetrieverUse(True, None, 9, 9)
)


@pytest.fixture
def options(tmp_path: Path) -> SearchOptions:
    wanted = options_of(load(str(tmp_path), {}, {}), filters=Filters())
    return wanted._replace(limit=100, min_score=0.25)


def _course(**stages: list[RankedPassage]) -> Course:
    course = Course()
    for stage, passages in stages.items():
        course(stage, passages)
    return course


def _lost(
    options: SearchOptions,
    course: Course,
    *relevant: Range,
    answer: Answer = ANSWER,
    lines: int = 9,
) -> Loss | None:
    judged = relevant or (WANTED,)
    return lost_at(course, answer, judged, options, lambda path: [1.0] * lines)


def test_nothing_is_lost_when_the_first_passages_hold_the_lines(options: SearchOptions) -> None:
    course = _course(fuse=[*OTHERS[:9], HELD], budget=[*OTHERS[:4], HELD])
    assert _lost(options, course) is None


@pytest.mark.parametrize(
    ("fused", "focused", "chosen", "expected"),
    [
        (0, 7, 9, Loss("focus", "moved it from rank 1 to 8")),
        (2, 3, 6, Loss("mmr", "moved it from rank 4 to 7")),
        (8, 1, 5, Loss("mmr", "moved it from rank 2 to 6")),
        (8, 8, 6, Loss("fuse", "put it at rank 9")),
    ],
)
def test_what_comes_too_late_is_blamed_on_the_last_stage_that_put_it_there(
    options: SearchOptions, fused: int, focused: int, chosen: int, expected: Loss
) -> None:
    def at(place: int) -> list[RankedPassage]:
        return [*OTHERS[:place], HELD, *OTHERS[place:20]]

    course = _course(recall=at(0), fuse=at(fused), focus=at(focused), mmr=at(chosen))
    assert _lost(options, course) == expected


def test_a_file_that_is_gone_is_said_before_all(options: SearchOptions) -> None:
    course = _course(recall=OTHERS, budget=OTHERS[:100])
    assert _lost(options, course, lines=0) == Loss("files", "a.md is not in the workspace")
    cut = _lost(options, course, lines=2)
    assert cut == Loss("files", "a.md has 2 lines, and line 3 was judged")


def test_what_no_retriever_finds_is_lost_at_recall(options: SearchOptions) -> None:
    course = _course(recall=OTHERS, fuse=OTHERS)
    answer = ANSWER._replace(
        semantic=RetrieverUse(False, MODE_IS_KEYWORD, 0, 9), unmatched=("heron",)
    )
    assert _lost(options, course, answer=answer) == Loss(
        "recall",
        "neither retriever ranks it among its best 200, or a filter or quoted phrase excludes it; "
        "keyword search only; in no chunk: heron",
    )


def test_each_stage_that_leaves_the_lines_out_is_named(options: SearchOptions) -> None:
    """The last chunk of 131 is not a candidate; what stood 120th is none of 100."""
    all_of_them = [*OTHERS, HELD]
    assert _lost(options, _course(fuse=all_of_them, candidates=OTHERS[:100])) == Loss(
        "candidates", "it ranked 131, and only 100 chunks get a closer look"
    )
    late = [*OTHERS[:119], HELD]
    assert _lost(options, _course(focus=late, threshold=OTHERS[:9])) == Loss(
        "threshold", "its confidence is below search.min_score, 0.25"
    )
    assert _lost(options, _course(threshold=late, mmr=OTHERS[:100])) == Loss(
        "mmr", "it ranked 120; --limit is 100 and search.mmr_min -1"
    )
    assert _lost(options, _course(threshold=late, budget=OTHERS[:100])) == Loss(
        "budget", "it ranked 120, and --limit is 100; -n 120 shows it"
    )


def test_a_folded_passage_is_lost_at_a_part_of_mmr(options: SearchOptions) -> None:
    folding = OTHERS[0]._replace(duplicates=("a.md:4-6",))
    course = _course(floor=[OTHERS[0], HELD], mmr=[folding], budget=[folding])
    assert _lost(options, course) == Loss("mmr.fold", "folded into b.md:1, which says the same")


def test_of_several_ranges_the_one_that_came_furthest_is_told(options: SearchOptions) -> None:
    second, other = Range("c.md", 1, 1), passage("c.md", 1, 2, chunk=600)
    gone_late = _course(recall=[HELD, other], floor=[HELD, *OTHERS[:9]], mmr=OTHERS[:9])
    assert _lost(options, gone_late, second, WANTED) == _lost(options, gone_late, WANTED)
    shown = _course(recall=[HELD, other], floor=[HELD, other], mmr=[*OTHERS[:9], other])
    assert _lost(options, shown, WANTED, second) == Loss("mmr", "moved it from rank 2 to 10")


def test_a_question_without_words_is_lost_before_the_first_stage(options: SearchOptions) -> None:
    assert _lost(options, Course()) == Loss("recall", "the question contains nothing to search for")
