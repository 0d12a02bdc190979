"""What is packed together costs no more than what is packed apart."""

from __future__ import annotations

from typing import Any

import pytest

from memcli.context.packing import packed
from memcli.context.parts import PASSAGES, ContextPart, make_part
from memcli.search.ranked import Correction
from memcli.types import SUMMARY
from tests.records import make_excerpt

FILLER = ["- Nothing to tell of the night shift."] * 40
LINES = ["- The pool ran dry.", *FILLER, "- It was refilled."]


def parts_of(lines: list[str]) -> list[ContextPart]:
    """Make a part of the first and one of the last line of a chunk."""
    text = "\n".join(lines)
    chunk = make_excerpt(text=text, end_line=len(lines), end_byte=len(text.encode()))
    first, last = (0, len(lines[0])), (len(text) - len(lines[-1]), len(text))
    return [
        make_part(PASSAGES, chunk, window=window, score=score)
        for window, score in ((first, 0.9), (last, 0.8))
    ]


def shown(lines: list[str]) -> list[str]:
    found = packed(parts_of(lines), (), 10_000.0, by_lines=False)
    assert not found.left
    return [part.text for part in found.parts]


def test_two_lines_far_apart_stay_apart() -> None:
    assert shown(LINES) == [LINES[0], LINES[-1]]


def test_two_lines_with_little_between_them_are_joined() -> None:
    near = [LINES[0], "- So.", LINES[-1]]
    assert shown(near) == ["\n".join(near)]


def passage(path: str, *lines: str, first: int = 1, chunk_id: int = 0, **told: Any) -> ContextPart:
    """Make a part of a whole chunk of its own."""
    text = "\n".join(lines)
    chunk = make_excerpt(
        path=path, chunk_id=chunk_id or first, start_line=first, end_line=first + len(lines) - 1,
        start_byte=1000 * first, end_byte=1000 * first + len(text.encode()), ordinal=first,
        text=text, **told,
    )  # fmt: skip
    return make_part(PASSAGES, chunk)


def kept(*parts: ContextPart, room: float = 10_000.0) -> list[tuple[str, int, int]]:
    """Pack parts and give the lines that are shown, by path."""
    found = packed(parts, (), room, by_lines=False)
    places = [part.excerpt.about for part in found.parts]
    return [(about.path, about.start_line, about.end_line) for about in places]


def summary(cited: str, path: str = "summary.md", **told: Any) -> ContextPart:
    return passage(path, f"- The carp were fed. ({cited})", kind=SUMMARY, **told)


def log(first: int, last: int, **told: Any) -> ContextPart:
    return passage("log.md", *(f"Line {n}." for n in range(first, last + 1)), first=first, **told)


@pytest.mark.parametrize(
    ("lines", "left"),
    [((1, 2), (1, 2)), ((2, 3), (2, 2)), ((3, 4), None), ((4, 6), (5, 6)), ((5, 6), (5, 6))],
)
def test_of_the_lines_that_a_summary_tells_none_comes_behind_it(
    lines: tuple[int, int], left: tuple[int, int] | None
) -> None:
    told = summary("log.md:3-4")
    assert kept(told, log(*lines)) == [("summary.md", 1, 1), *([("log.md", *left)] if left else ())]


def test_what_is_left_of_a_part_is_whole_lines() -> None:
    found = packed([summary("log.md:3-4"), log(1, 7)], (), 10_000.0, by_lines=False)
    told = ["Line 1.\nLine 2.", "Line 5.\nLine 6.\nLine 7."]
    assert sorted(part.text for part in found.parts[1:]) == told


@pytest.mark.parametrize(("cited", "comes"), [("1-2", True), ("2-3", False), ("5", False),
                                              ("5-6", False), ("6", True)])  # fmt: skip
def test_a_summary_of_lines_that_are_told_does_not_come(cited: str, *, comes: bool) -> None:
    behind = [("two.md", 1, 1)] * comes
    told, other = summary("log.md:3-5"), summary(f"log.md:{cited}", "two.md")
    assert kept(told, other) == [("summary.md", 1, 1), *behind]
    assert kept(log(3, 5), other) == [("log.md", 3, 5), *behind]


def test_a_summary_tells_lines_of_the_memory_alone() -> None:
    other = log(3, 4, source="docs")
    assert kept(summary("log.md:3-4"), other) == [("summary.md", 1, 1), ("log.md", 3, 4)]
    assert kept(other, summary("log.md:3-4")) == [("log.md", 3, 4), ("summary.md", 1, 1)]


def test_of_the_best_three_one_without_room_is_cut_down() -> None:
    small = [passage(f"{n}.md", "So.", chunk_id=n + 1) for n in range(3)]
    large = passage("large.md", *["What the night shift wrote down at length."] * 20, chunk_id=9)
    large = large._replace(cuts=((0, 42),))
    room = sum(part.cost for part in small) + 60
    for before in range(4):
        shown = kept(*small[:before], large, room=room)
        assert (("large.md", 1, 1) in shown) == (before < 3)


def test_a_summary_does_not_stand_in_for_a_rule_that_it_words_otherwise() -> None:
    rule = "- You must never feed the carp at night."
    told = summary("log.md:3-4")
    raw = passage("log.md", "- The pond is old.", rule, first=3)
    assert kept(told, raw) == [("summary.md", 1, 1), ("log.md", 3, 4)]
    faithful = passage("summary.md", f"{rule} (log.md:3-4)", kind=SUMMARY)
    assert kept(faithful, raw) == [("summary.md", 1, 1)]


def test_a_passage_is_left_out_with_the_newer_line_that_corrects_it() -> None:
    newer = passage("new.md", "We use PostgreSQL.", *["It has a reason."] * 20, chunk_id=1)
    line = Correction(1, "memory", "new.md", 1, 1, "2025-08-18", "We use PostgreSQL.")
    older = passage("old.md", "MySQL.", chunk_id=2)._replace(corrected_by=(line,))
    assert kept(newer, older, room=older.cost) == []
    assert kept(older, room=older.cost) == [("old.md", 1, 1)]
    assert kept(newer, older) == [("new.md", 1, 21), ("old.md", 1, 1)]
