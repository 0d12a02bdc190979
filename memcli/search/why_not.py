"""Follow lines of a document through a search and name the stage that lost them; pure.

There is only one path of a search; the pipeline tells an observer what each stage left.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from memcli.record import Record
from memcli.search.gathering import FOCUS_POOL
from memcli.search.options import SearchOptions
from memcli.search.ranked import RankedPassage
from memcli.search.stages import LOST

# A document (source, path) and its first and last line.
FollowedLines = tuple[tuple[str, str], int, int]


class Course:
    """An observer that records what each stage of one search left.

    Its cost is negligible, so a search may be timed and observed at once.
    """

    def __init__(self) -> None:
        self.stages: list[tuple[str, Sequence[RankedPassage]]] = []

    def __call__(self, stage: str, passages: Sequence[RankedPassage]) -> None:
        """Record the passages; no stage changes those of another."""
        self.stages.append((stage, passages))


class Waypoint(Record):
    """The place of the best passage that contains some lines, after a stage."""

    stage: str
    passages: int
    rank: int | None  # from 1; None: no passage contains them
    score: float | None  # None after recall, which has one score per retriever
    citation: str | None


class Trail(Record):
    """The path of some lines, stage by stage; empty if nothing was searched."""

    waypoints: tuple[Waypoint, ...]
    folded_into: str | None  # citation of the passage with the same content

    @property
    def rank(self) -> int | None:
        """Return the final rank, None if they are not shown."""
        return self.waypoints[-1].rank if self.waypoints else None

    @property
    def lost_at(self) -> str:
        """Name the stage, or the part of one, that left them out; "" if they are shown."""
        gone = next((at.stage for at in self.waypoints if at.rank is None), "")
        return "mmr.fold" if gone and self.folded_into else gone


def follow(course: Course, lines: FollowedLines) -> Trail:
    """Follow some lines."""
    waypoints: list[Waypoint] = []
    folded_into = None
    for stage, passages in course.stages:
        is_scored = stage != "recall"
        ranked = passages if is_scored else sorted(passages, key=_better_rank)
        place = next(((r, h) for r, h in enumerate(ranked, start=1) if h.touches(*lines)), None)
        if place is not None:
            rank, passage = place
            score = passage.score if is_scored else None
            waypoints.append(Waypoint(stage, len(passages), rank, score, passage.citation))
            continue
        last = waypoints[-1].citation if waypoints else None
        if last is not None:
            folded_into = next(
                (passage.citation for passage in passages if last in passage.duplicates), None
            )
        waypoints.append(Waypoint(stage, len(passages), None, None, None))
    return Trail(tuple(waypoints), folded_into)


def conclusion(trail: Trail, options: SearchOptions) -> str:
    """Say in one sentence what became of the lines."""
    if not trail.waypoints:
        return "not searched: nothing is indexed yet"
    if not trail.lost_at:
        return f"shown, rank {trail.rank} of {trail.waypoints[-1].passages}"
    return f"lost at {trail.lost_at}: {why(trail, options)}"


def why(trail: Trail, options: SearchOptions) -> str:
    """Explain why lines are missing after the stage."""
    ranks = [at.rank for at in trail.waypoints]
    gone = ranks.index(None)
    before = ranks[gone - 1] if gone else None
    return LOST[trail.lost_at].format(
        universe=options.universe,
        pool=FOCUS_POOL,
        judged="score" if options.profile.threshold_on_score else "confidence",
        min_score=options.min_score,
        mmr_min=options.mmr_min,
        limit=options.limit,
        cause=_cause(trail, options, before or 0),
        into=trail.folded_into,
        before=before,
        more=f"-n {before}" if before and before > options.limit else "--more",
    )


def _cause(trail: Trail, options: SearchOptions, rank: int) -> str:
    """Say why lines that have a rank are not shown."""
    if rank > options.limit:
        return f"--limit is {options.limit}"
    if options.budget is not None:
        return f"--budget is {options.budget}, or the better passages are enough"
    if not trail.waypoints[-1].passages:
        return "no passage is near the question"
    return "the better passages are enough"


def _better_rank(passage: RankedPassage) -> float:
    """Return the better of the ranks that the retrievers gave a candidate."""
    ranks = (passage.candidate.keyword_rank, passage.candidate.semantic_rank)
    return min((rank for rank in ranks if rank is not None), default=inf)
