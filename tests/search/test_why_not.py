"""Lines are followed from stage to stage, and where they end is said in one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from memcli.config.settings import load
from memcli.search.options import SearchOptions, options_of
from memcli.search.why_not import Course, Trail, Waypoint, conclusion, follow
from memcli.types import Filters
from tests.commands import NewWorkspace, printed
from tests.search.makers import candidate, fused
from tests.support import write

SECOND = (("memory", "2.md"), 1, 1)


@pytest.fixture
def options(tmp_path: Path) -> SearchOptions:
    return options_of(load(str(tmp_path), {}, {}), filters=Filters())


def test_recall_ranks_by_the_better_leg_and_scores_nothing() -> None:
    """The better rank of 1 is 3, of 2 it is 2, of 3 there is none."""
    found = (candidate(1, ranks=(3, 9)), candidate(2, ranks=(None, 2)), candidate(3))
    course = Course()
    course("recall", fused(*found))
    assert follow(course, SECOND).waypoints == (Waypoint("recall", 3, 1, None, "2.md:1"),)


def test_the_best_hit_that_holds_a_line_is_followed_to_the_end(options: SearchOptions) -> None:
    first, second = fused(candidate(1, bm25=2.0), candidate(2, bm25=1.0))
    course = Course()
    course("fuse", [first, second])
    course("mmr", [second, first])
    trail = follow(course, SECOND)
    assert [(at.stage, at.rank) for at in trail.waypoints] == [("fuse", 2), ("mmr", 1)]
    assert (trail.rank, trail.lost_at) == (1, "")
    assert conclusion(trail, options) == "shown, rank 1 of 2"


def test_what_is_folded_in_names_the_passage_that_stands_for_it(options: SearchOptions) -> None:
    first, second = fused(candidate(1, bm25=2.0), candidate(2, bm25=1.0))
    course = Course()
    course("threshold", [first, second])
    course("mmr", [first._replace(duplicates=("2.md:1",))])
    course("budget", [first])
    trail = follow(course, SECOND)
    assert (trail.rank, trail.folded_into) == (None, "1.md:1")
    told = "lost at mmr.fold: folded into 1.md:1, which says the same"
    assert conclusion(trail, options) == told


def test_the_floor_names_what_it_judges(options: SearchOptions) -> None:
    course = Course()
    course("fuse", fused(candidate(2)))
    course("threshold", [])
    on_score = options._replace(profile=options.profile._replace(threshold_on_score=True))
    for given, judged in ((options, "confidence"), (on_score, "score")):
        told = conclusion(follow(course, SECOND), given)
        assert told == f"lost at threshold: its {judged} is below search.min_score, 0"


def test_the_end_names_the_limit_or_the_budget_only_if_that_was_the_cause(
    options: SearchOptions,
) -> None:
    first, second = fused(candidate(1, bm25=2.0), candidate(2, bm25=1.0))
    course = Course()
    course("mmr", [first, second])
    course("budget", [first])
    trail = follow(course, SECOND)
    for given, cause in (
        (options, "the better passages are enough; --more"),
        (options._replace(limit=1), "--limit is 1; -n 2"),
        (options._replace(budget=9), "--budget is 9, or the better passages are enough; --more"),
    ):
        assert conclusion(trail, given) == f"lost at budget: it ranked 2, and {cause} shows it"


def test_a_search_that_was_not_made_has_no_trail(options: SearchOptions) -> None:
    trail = follow(Course(), SECOND)
    assert trail == Trail((), None)
    assert (trail.rank, trail.lost_at) == (None, "")
    assert conclusion(trail, options) == "not searched: nothing is indexed yet"


def test_the_lines_of_another_source_are_named_with_it(
    workspace: NewWorkspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = f'[[source]]\nname = "docs"\npath = "{tmp_path}/notes/docs"\n'
    write(tmp_path, "config/memcli/config.toml", config)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    workspace({
        "MEMORY.md": "# Pool\n\nIt is full.\n", "docs/MEMORY.md": "# Pool\n\nIt is empty.\n",
    })  # fmt: skip
    out, _ = printed("search", "empty", "--why-not", "docs:MEMORY.md")
    assert out.startswith("docs:MEMORY.md:1-3: shown, rank 1 of ")
