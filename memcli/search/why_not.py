"""Follow some lines of a document through a search and say at which stage they fell out; pure.

It watches the one path there is: the pipeline tells an observer what each stage left.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from memcli.search.hits import Hit
from memcli.search.options import Options

# What it means to be gone after a stage.
LOST = {
    "fuse": "no leg has it among its {universe} best, or a filter leaves it out",
    "pool": "its chunk is past those that are looked at part by part",
    "floor": "its confidence is below search.min_score, {min_score:g}",
    "mmr": "it stood at {before}, and --limit is {limit}",
    "pack": "it stood at {before}, and --limit is {limit}",
}


class Place(NamedTuple):
    """Lines of a document, both ends included."""

    source: str
    path: str
    first: int
    last: int


class Standing(NamedTuple):
    """Where the best hit that holds one of the lines stood after a stage."""

    stage: str
    hits: int
    rank: int | None  # from 1; None: no hit holds them
    score: float | None
    citation: str | None


class Trail:
    """An observer of one search."""

    def __init__(self, place: Place) -> None:
        """Watch for the lines of a place."""
        self.place = place
        self.standings: list[Standing] = []
        self.folded_into: str | None = None

    def __call__(self, stage: str, hits: Sequence[Hit]) -> None:
        """Note where the lines stand."""
        for rank, hit in enumerate(hits, start=1):
            if _holds(hit, self.place):
                self.standings.append(Standing(stage, len(hits), rank, hit.score, hit.citation))
                return
        last = self.standings[-1].citation if self.standings else None
        into = (hit.citation for hit in hits if last is not None and last in hit.duplicates)
        self.folded_into = self.folded_into or next(into, None)
        self.standings.append(Standing(stage, len(hits), None, None, None))


def verdict(trail: Trail, options: Options) -> str:
    """Say in one sentence where the lines ended."""
    ranks = [each.rank for each in trail.standings]
    if None not in ranks:
        return f"shown, rank {ranks[-1]} of {trail.standings[-1].hits}"
    lost = trail.standings[ranks.index(None)]
    if trail.folded_into is not None:
        return f"lost at {lost.stage}: folded into {trail.folded_into}, which says the same"
    why = LOST.get(lost.stage, "the stage left it out").format(
        universe=options.universe,
        min_score=options.min_score,
        limit=options.limit,
        before=ranks[ranks.index(None) - 1],
    )
    return f"lost at {lost.stage}: {why}"


def _holds(hit: Hit, place: Place) -> bool:
    return (
        (hit.about.source, hit.about.path) == (place.source, place.path)
        and hit.start_line <= place.last
        and place.first <= hit.end_line
    )
