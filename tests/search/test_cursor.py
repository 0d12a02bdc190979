"""Where in a passage the cursor lands."""

from __future__ import annotations

from typing import Any

import pytest

from memcli.search.cursor import CursorPlace, cursor_of
from memcli.search.ranked import RankedPassage
from memcli.types import SegmentScore, Turn
from tests.records import make_candidate

TEXT = "## Ports\n\nÄ first line, long\n\n- the pool\n- the pool ran dry\n"
PARTS = (
    SegmentScore(11, 13, 0, 28, 0.1),
    SegmentScore(15, 15, 30, 40, 0.9),
    SegmentScore(16, 16, 41, 59, 0.2),
)


def _passage(
    text: str = TEXT, parts: tuple[SegmentScore, ...] = PARTS, first: int = 0, **more: Any
) -> RankedPassage:
    candidate = make_candidate(start_line=11, end_line=16, text=text, segments=parts)
    return RankedPassage(candidate, first, 2, 0.5, None, 1.0)._replace(**more)


def test_the_line_with_the_most_words_wins_and_the_first_of_equals() -> None:
    assert cursor_of(_passage(), ["pool", "dry"]) == CursorPlace(16, 7, "- the pool ran dry")
    assert cursor_of(_passage(), ["pool"]) == CursorPlace(15, 7, "- the pool")
    again = "- a pool beside the pool\n- the pool ran dry\n"
    assert cursor_of(_passage(again), ["pool", "dry"]) == CursorPlace(12, 7, "- the pool ran dry")


def test_columns_count_bytes() -> None:
    assert cursor_of(_passage(), ["line"]) == CursorPlace(
        13, len("Ä first ".encode()) + 1, "Ä first line, long"
    )


def test_without_a_word_it_is_where_the_meaning_was_found() -> None:
    assert cursor_of(_passage(best=1), ["sewer"]) == CursorPlace(15, 1, "- the pool")
    unread = tuple(part._replace(cosine=None) for part in PARTS)
    assert cursor_of(_passage(parts=unread), []) == CursorPlace(13, 1, "Ä first line, long")


def test_a_heading_alone_is_better_than_nothing() -> None:
    assert cursor_of(_passage("## Ports", parts=()), []) == CursorPlace(11, 1, "## Ports")


def test_a_passage_that_begins_within_a_line_counts_what_stands_before_it() -> None:
    inside = SegmentScore(13, 13, TEXT.index("line"), TEXT.index(", long"), 0.1)
    passage = _passage(parts=(PARTS[0], inside, PARTS[2]), first=1, last=1)
    assert passage.continues_before
    assert cursor_of(passage, ["line"]) == CursorPlace(13, 10, "line")


def test_where_the_line_begins_before_its_chunk_the_column_is_the_first() -> None:
    passage = _passage("pool ran dry", broken=(True, False))
    assert cursor_of(passage, ["dry"]) == CursorPlace(11, 1, "pool ran dry")


def test_a_word_in_a_comment_has_found_nothing() -> None:
    text = "<!-- pool dry -->\nno\nthe pool\n"
    assert cursor_of(_passage(text), ["pool", "dry"]) == CursorPlace(13, 5, "the pool")


@pytest.mark.parametrize(
    "frame",
    [
        "```yaml pool", "  ```", "~~~", "## The pool", "| --- | :-: |", "***",
        "- **Kate** (D1:1): Hey Odette!",
        "Hello there.", "[10:32] Odette: Good morning :)", "42.",
    ],
)  # fmt: skip
def test_a_line_that_only_frames_a_text_or_greets_is_not_the_best(frame: str) -> None:
    passage = _passage(f"{frame}\n\nThe valve is shut.\n", parts=())
    for words in (["pool"], []):
        assert cursor_of(passage, words) == CursorPlace(13, 1, "The valve is shut.")


def test_of_lines_with_as_many_words_it_is_the_one_that_is_nearest_in_meaning() -> None:
    assert cursor_of(_passage(best=2), ["pool"]) == CursorPlace(15, 7, "- the pool")
    near = (*PARTS[:2], PARTS[2]._replace(cosine=0.95))
    assert cursor_of(_passage(parts=near), ["pool"]).line == 16
    number = _passage("## Call\n\nthe plumber\n\n555\n- or not\n")
    assert cursor_of(number, ["555"]).text == "555"


def test_who_is_named_counts_and_a_question_counts_for_less() -> None:
    text = (
        "- **Kate**: Was the pool shut?\n- **Odette**: the pool was shut\n- **Kate**: the pool is\n"
    )
    turns = tuple(Turn(11 + n, 11 + n, who) for n, who in enumerate(("Kate", "Odette", "Kate")))
    passage = _passage(text, parts=(), turns=turns)
    assert cursor_of(passage, ["pool"]).line == 12
    assert cursor_of(passage._replace(named_speakers=("Kate",)), ["pool"]).line == 13
