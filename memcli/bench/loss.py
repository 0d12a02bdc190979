"""Name the stage at which the lines that answer a question were lost; pure.

It follows each judged range through the search, as `search --why-not` follows lines. The search
returned 100 passages, which tells lines that were dropped from lines that came too late.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby, pairwise
from math import inf

from memcli.bench.metrics import Range
from memcli.record import Record
from memcli.search.options import SearchOptions
from memcli.search.pipeline import Answer
from memcli.search.ranked import RankedPassage
from memcli.search.why_not import Course, Trail, follow, why
from memcli.types import shown

GONE = "files"  # not a stage of a search: the lines are no longer in any file


class Loss(Record):
    """A stage and what happened there, for a person."""

    stage: str  # of `stages.TABLE`, or GONE
    why: str


def lost_at(
    course: Course,
    answer: Answer,
    relevant: Sequence[Range],
    options: SearchOptions,
    *,
    limit: int,
    line_count: Callable[[tuple[str, str]], int],
) -> Loss | None:
    """Find where the judged lines were lost; None if the first `limit` passages contain one.

    `course` belongs to the search that gave the answer. If there are several ranges, the one that
    came furthest counts. `line_count` returns the lines of a document (source, path), 0 if the
    workspace does not have it.
    """
    trails = [follow(course, partial(_touches, place)) for place in relevant]
    trail = min(trails, key=_left_behind)
    if trail.rank is not None:
        return None if trail.rank <= limit else _too_late(trail, limit)
    if all(place.start > line_count(place.document) for place in relevant):
        return Loss(GONE, _gone(relevant[0], line_count(relevant[0].document)))
    if not trail.waypoints:
        return Loss("recall", "the question contains nothing to search for")
    reason = why(trail, options)
    return Loss(trail.lost_at, reason + _limits(answer) if trail.lost_at == "recall" else reason)


def _left_behind(trail: Trail) -> tuple[float, int]:
    """Sort the range that came furthest first: shown passages by rank, then the last one lost."""
    passed = sum(at.rank is not None for at in trail.waypoints)
    return (inf if trail.rank is None else trail.rank, -passed)


def _gone(place: Range, lines: int) -> str:
    name = shown(*place.document)
    if not lines:
        return f"{name} is not in the workspace"
    return f"{name} has {lines} lines, and line {place.start} was judged"


def _limits(answer: Answer) -> str:
    """Return the settings and filters that may have kept the retrievers from finding more."""
    alone = "" if answer.semantic.ran else "; keyword search only"
    alone = alone if answer.keyword.ran else "; semantic search only"
    return alone + (f"; in no chunk: {', '.join(answer.unmatched)}" if answer.unmatched else "")


def _too_late(trail: Trail, limit: int) -> Loss:
    """Blame the last stage that moved the passage out of the first ones, or else the fusion."""
    # Ranks exist only after the retrievers are fused.
    ranked = [(at.stage, at.rank) for at in trail.waypoints if at.score is not None and at.rank]
    blamed = [after for (_, before), (after, rank) in pairwise(ranked) if before <= limit < rank]
    moved = (next(run) for _, run in groupby(ranked, key=lambda at: at[1]))
    ranks = ", ".join(f"{rank} at {stage}" for stage, rank in moved)
    return Loss(blamed[-1] if blamed else "fuse", f"rank {ranks}")


def _touches(place: Range, passage: RankedPassage) -> bool:
    return (
        passage.about.document == place.document
        and passage.start_line <= place.end
        and place.start <= passage.end_line
    )
