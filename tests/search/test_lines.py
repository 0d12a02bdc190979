"""Passages are whole lines: what is cited is what is shown, and what is introduced comes along."""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import memcli
from memcli.language.tokens import estimate
from memcli.markdown.comments import visible
from memcli.search.lines import (
    Run,
    beginning,
    introduces,
    joined,
    narrowed,
    whole_lines,
    whole_thought,
)
from memcli.search.passages import passages_of
from memcli.types import Candidate, SegmentScore
from tests.search.makers import candidate, fused

NOW = datetime(2026, 2, 20)


def _of_lines(*lines: str) -> Candidate:
    return candidate(1, lines=lines, cosines=(0.1,) * len(lines))


def _widened(lines: tuple[str, ...], part: int, taken: tuple[int, ...] = ()) -> tuple[int, int]:
    return tuple(whole_thought(_of_lines(*lines), Run(part, part), lambda p: p not in taken))  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("lines", "part", "run"),
    [
        (("There are two ways:", "- one", "- two", "Later."), 0, (0, 3)),
        (("So:", "```", "run it", "```", "Later."), 0, (0, 3)),
        (("结果：", "- 一", "- 二"), 0, (0, 2)),
        (("Said.", ":::", "What it holds."), 1, (1, 2)),
        (("Said.", ":::"), 1, (0, 1)),
        (("Said.", "For example:"), 1, (0, 1)),
        (("- TODO", "The pump leaks."), 0, (0, 1)),
        (("The pump leaks.", "ok, thanks!"), 1, (0, 1)),
        (("Ok, the pump leaks.", "Two."), 0, (0, 0)),
        (("One.", "Two.", "Three."), 1, (1, 1)),
    ],
)
def test_an_introduction_and_a_scrap_take_their_matter_along(
    lines: tuple[str, ...], part: int, run: tuple[int, int]
) -> None:
    assert _widened(lines, part) == run


def test_a_passage_ends_before_another_one() -> None:
    assert _widened(("Two ways:", "- one", "- two"), 0, taken=(2,)) == (0, 1)
    assert _widened(("Two ways:", "- one"), 0, taken=(1,)) == (0, 0)


def test_a_list_that_is_a_page_is_not_taken_whole() -> None:
    lines = ("All of them:", *(f"- item {n}" for n in range(40)))
    assert _widened(lines, 0) == (0, 12)


@given(st.lists(st.integers(1, 30), min_size=1, max_size=8), st.data())
def test_what_is_narrowed_holds_its_best_line_and_fits_if_that_does(
    sizes: list[int], data: st.DataObject
) -> None:
    lines = tuple(chr(97 + n) * size for n, size in enumerate(sizes))
    best = data.draw(st.integers(0, len(lines) - 1))
    most = data.draw(st.integers(1, 120))
    made = _of_lines(*lines)
    first, last = narrowed(made, Run(0, len(lines) - 1), best, lambda text: len(text) <= most)
    assert first <= best <= last
    held = "\n".join(lines[first : last + 1])
    assert len(held) <= most or (first, last) == (best, best)


def test_those_that_follow_each_other_and_touch_are_one() -> None:
    (chunk,) = fused(_of_lines("aa", "bb", "cc", "dd"))
    first, second, apart = (chunk._replace(first=n, last=n) for n in (1, 2, 0))
    (other,) = fused(candidate(2))
    first, second, other = (passage._replace(score=0.9) for passage in (first, second, other))
    made = joined([first, second, other, apart._replace(score=0.5)])
    assert [passage.citation for passage in made] == ["1.md:2-3", other.citation, "1.md:1"]
    assert made[0].trace[-1].inputs == (("added", "1.md:3"),)
    made = joined([first, second, other, apart._replace(score=0.7)])  # one that scores alike
    assert [passage.citation for passage in made] == ["1.md:1-3", other.citation]


def test_classic_shows_the_lines_that_its_700_characters_hold() -> None:
    (passage,) = fused(_of_lines("a" * 400, "b" * 250, "c" * 100))
    (shown,) = beginning([passage._replace(first=0, last=2)])
    assert (shown.start_line, shown.end_line, shown.is_cut) == (1, 2, False)
    assert len(shown.text) == 651


_BLOCKS = st.sampled_from(
    [
        "The pool ran dry at noon.",
        "There are several ways to fill the pool:\n\n- by hand\n- by pump\n- with the old hose",
        "Here's a simple example:\n\n```sh\npool --fill\npool --check\n```",
        ":::\nA note on the pool.\n:::",
        "| pool | size |\n| --- | --- |\n| old | 3 |\n| new | 5 |",
        "Before <!-- the pool is hidden --> after.",
        "The pool, again and again, " * 60 + "ends.",
        "水池在中午干了。" * 25,
    ]
)


@given(st.lists(_BLOCKS, min_size=1, max_size=7), st.sampled_from([None, 200, 400]))
def test_what_is_cited_is_shown_and_charged(
    tmp_path_factory: pytest.TempPathFactory, blocks: list[str], budget: int | None
) -> None:
    folder = tmp_path_factory.mktemp("notes")
    text = "# Pool\n\n" + "\n\n".join(blocks) + "\n"
    (folder / "MEMORY.md").write_text(text, "utf-8")
    lines = text.split("\n")
    with memcli.Memory.open(str(folder), settings={"embedding.encoder": "none"}) as memory:
        results = memory.search("pool 水池", budget=budget, now=NOW).results
    assert results
    for passage in results:
        cited = "\n".join(lines[passage.start_line - 1 : passage.end_line])
        shown = passage.snippet.strip("…")
        assert passage.tokens == estimate(passage.text)
        if passage.cut:
            assert passage.text in cited
            assert shown == visible(passage.text).strip("\n")
        else:
            assert passage.text == cited
            assert passage.snippet == visible(cited).strip("\n")
    if budget is not None:
        assert sum(passage.tokens for passage in results) <= budget


def test_more_fills_a_budget_and_cuts_the_best_passage_down_to_it(tmp_path: Path) -> None:
    facts = "\n\n".join(f"Fact {n} about the pool is that it holds {n} litres." for n in range(60))
    (tmp_path / "MEMORY.md").write_text(f"# Pool\n\n{facts}\n", "utf-8")
    with memcli.Memory.open(str(tmp_path), settings={"embedding.encoder": "none"}) as memory:
        for budget in (150, 300, 600):
            for full in (False, True):
                found = memory.search("pool", budget=budget, full=full, more=True, now=NOW)
                assert 0.9 * budget <= sum(p.tokens for p in found.results) <= budget


@given(st.text(alphabet="ab:： \t*_\n", max_size=8))
def test_a_text_introduces_where_a_colon_is_its_last_word(text: str) -> None:
    """As an expression finds it that is too slow to be asked of every part."""
    assert introduces(text) == bool(re.search(r"[:：][ \t*_]*$", text))


def test_lines_as_far_from_the_best_go_from_the_end_first() -> None:
    made = _of_lines("aa", "bb", "cc", "dd", "ee")
    assert narrowed(made, Run(0, 4), 2, lambda text: len(text) <= 11) == Run(0, 3)
    assert narrowed(made, Run(0, 4), 2, lambda text: len(text) <= 8) == Run(1, 3)
    assert narrowed(made, Run(0, 4), 1, lambda text: len(text) <= 11) == Run(0, 3)
    assert narrowed(made, Run(0, 4), 3, lambda text: len(text) <= 11) == Run(1, 4)


def test_a_run_takes_all_of_its_lines_and_one_that_is_too_long_is_cut_around_its_best() -> None:
    parts = tuple(SegmentScore(1, 1, at, at + 2, None) for at in (0, 3, 6, 9))
    made = _of_lines("aa bb cc dd")._replace(segments=parts)
    assert whole_lines(made, Run(1, 2)) == Run(0, 3)
    for most, run in ((2, Run(1, 1)), (5, Run(1, 2)), (8, Run(0, 2)), (10, Run(0, 2))):
        assert narrowed(made, Run(0, 3), 1, lambda text, most=most: len(text) <= most) == run  # type: ignore[misc]


def test_those_that_do_not_touch_or_are_long_together_stay_apart() -> None:
    lines = [f"line {n}" for n in range(20)]
    (chunk,) = fused(_of_lines(*lines))

    def made(*runs: tuple[int, int]) -> list[str]:
        return [
            passage.citation
            for passage in joined([chunk._replace(first=a, last=b) for a, b in runs])
        ]

    assert made((0, 1), (3, 4)) == ["1.md:1-2", "1.md:4-5"]
    assert made((0, 5), (6, 11)) == made((6, 11), (0, 5)) == ["1.md:1-12"]
    assert made((0, 5), (6, 12)) == ["1.md:1-6", "1.md:7-13"]


def test_passages_are_numbered_from_one() -> None:
    passages = fused(candidate(1, bm25=2.0), candidate(2, bm25=1.0))
    assert [passage.rank for passage in passages_of(passages)] == [1, 2]


@pytest.mark.parametrize("profile", ["classic", "default"])
def test_a_chunk_is_shown_whole_where_that_is_asked_for(tmp_path: Path, profile: str) -> None:
    text = "\n\n".join(f"Fact {n} about the pool is that it holds {n} litres." for n in range(30))
    (tmp_path / "MEMORY.md").write_text(f"# Pool\n\n{text}\n", "utf-8")
    settings = {"embedding.encoder": "none", "search.profile": profile}
    with memcli.Memory.open(str(tmp_path), settings=settings) as memory:
        short, whole = (
            memory.search("pool", full=full, now=NOW).results[0].text for full in (False, True)
        )
    assert len(short) <= 700 < len(whole) == len(f"# Pool\n\n{text}")
    assert short in whole
