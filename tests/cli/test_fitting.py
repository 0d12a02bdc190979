"""A screen is filled and never overrun; context lines are those of the file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.cli.search_text import Shows, fitted
from memcli.search.ranked import RankedPassage
from tests.commands import NewWorkspace
from tests.commands import run_here as run
from tests.render.test_text import PASSAGE
from tests.support import write


def _block(name: str, rows: int) -> str:
    return "".join(f"{name} {row}\n" for row in range(rows - 1)) + "\n"


@given(
    st.lists(st.integers(2, 9), min_size=1, max_size=12),
    st.integers(1, 40) | st.none(),
    st.booleans(),
)
def test_passages_are_whole_then_brief_then_left_out(
    sizes: list[int], rows: int | None, is_brief: bool
) -> None:
    passages = [PASSAGE for _ in sizes]
    order = range(1, len(passages) + 1)
    blocks, count = fitted(passages, _shows(sizes), order, rows, is_brief=is_brief)
    kinds = [block.split()[0] for block in blocks]
    assert [block.split()[1] for block in blocks] == [str(n + 1) for n in range(len(blocks))]
    assert kinds == ["whole"] * count + ["brief"] * (len(blocks) - count)
    text = "".join(blocks)
    used = text.count("\n") - text.endswith("\n\n")
    if rows is None:
        assert len(blocks) == len(sizes)
        assert count == (0 if is_brief else len(sizes))
        return
    assert len(blocks) == 1 or used <= rows
    assert len(blocks) == len(sizes) or used + 1 >= rows
    if count > 1:  # a whole passage costs none of the others its line
        assert len(blocks) == len(sizes)


@given(
    st.lists(st.tuples(st.integers(2, 9), st.sampled_from("abc")), min_size=1, max_size=12),
    st.integers(4, 40) | st.none(),
    st.randoms(use_true_random=False),
    st.booleans(),
)
def test_passages_of_a_document_stand_below_its_best_one(
    drawn: list[tuple[int, str]], rows: int | None, random: Random, in_days: bool
) -> None:
    """In days, of which each document here is one, no passage leaves its place."""
    passages = [_of(name) for _, name in drawn]
    wanted = list(range(1, len(passages) + 1))
    if in_days:
        random.shuffle(wanted)
    shows = _shows([size for size, _ in drawn])._replace(
        heading=lambda passages: f"heading {passages[0].about.path}\n",
        day=(lambda passage: f"day {passage.about.path}\n") if in_days else None,
    )
    blocks, whole = fitted(passages, shows, wanted, rows)
    rows_of = [line.split() for block in blocks for line in block.splitlines() if line]
    shown = [(kind, int(name)) for kind, name, *_ in rows_of if kind in ("whole", "brief")]
    ranks = list(dict.fromkeys(rank for _, rank in shown))
    assert {rank for kind, rank in shown if kind == "whole"} == set(wanted[:whole])
    assert set(ranks) == set(wanted[: len(ranks)])
    names = [drawn[rank - 1][1] for rank in ranks]
    headed = {names[at] for at, rank in enumerate(ranks) if rank in wanted[:whole]}
    if in_days:
        assert ranks == sorted(ranks)
    else:
        first = {name: ranks[names.index(name)] for name in headed}
        assert ranks == sorted(ranks, key=lambda n: (first.get(drawn[n - 1][1], n), n))
        several = sum(names.count(name) > 1 for name in headed)
        assert sum(kind == "heading" for kind, *_ in rows_of) == several
    text = "".join(blocks)
    used = text.count("\n") - text.endswith("\n\n")
    assert rows is None or len(blocks) == 1 or used <= rows


def _shows(sizes: list[int]) -> Shows:
    def whole(rank: int, passage: RankedPassage, beside: Sequence[RankedPassage]) -> str:
        return _block(f"whole {rank}", sizes[rank - 1])

    return Shows(whole, lambda rank, passage, beside: f"brief {rank}\n", lambda each: "")


def _of(name: str) -> RankedPassage:
    about = PASSAGE.about._replace(path=f"{name}.md")
    return PASSAGE._replace(candidate=PASSAGE.candidate._replace(about=about))


@pytest.fixture
def notes(workspace: NewWorkspace) -> Path:
    text = "# One\n\nfirst\n\n# Two\n\nzebra\n\n# Three\n\x1b[31mlast\n"
    return workspace({"memory/a.md": text}, index=True)


def test_context_lines_are_numbered_and_stop_at_the_ends_of_the_file(notes: Path) -> None:
    answer = run("search", "zebra", "-n", "1", "-C", "3").stdout
    assert answer == (
        "memory/a.md\n  2-\n  3- first\n  4-\n5: # Two\n7: zebra\n"
        "  8-\n  9- # Three\n 10- \x1b[31mlast\n"
    )
    answer = run("search", "zebra", "-n", "1", "-C", "100").stdout
    assert answer.count("\n") == 10


def test_lines_around_a_passage_that_has_changed_are_not_shown(notes: Path) -> None:
    write(notes, "memory/a.md", "# Two\n\nhorse\n")
    answer = run("search", "zebra", "-n", "1", "-C", "1", "--no-sync")
    assert answer.stdout == "memory/a.md\n5: # Two\n7: zebra\n"
    assert "1 changed file (memory/a.md) is not in this answer" in answer.stderr
