"""What each profile of ranking sets, how it scores, and which stages it takes part in."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from memcli.record import Record
from memcli.search.stages import SWITCHES


class Profile(Record):
    """A way to rank."""

    settings: Mapping[str, float | int | str]  # where the user has not set them
    stages: frozenset[str]  # of `stages.SWITCHES`
    by_limit: bool  # candidates a leg: limit * search.candidate_multiplier, not search.universe
    floor_on_score: bool  # search.min_score judges the fused score, not the confidence
    formula: str = ""  # of stage `score`: convex | two-pass


PROFILES: Mapping[str, Profile] = MappingProxyType(
    {
        "default": Profile({}, frozenset(SWITCHES) - {"score", "spread", "cut"}, False, False),
        "classic": Profile(
            {
                "search.fusion": "weighted",
                "search.vector_weight": 0.7,
                "search.text_weight": 0.3,
                "search.limit": 6,
                "search.half_life_days": 30.0,
                "search.decay_floor": 0.0,
                "search.mmr_lambda": 0.7,
                "search.min_score": 0.35,
            },
            frozenset(("decay", "mmr", "cut")),
            True,
            True,
        ),
        "convex": Profile({}, frozenset(("score", "cut")), False, False, "convex"),
        "two-pass": Profile(
            {"search.limit": 8}, frozenset(("score", "cut")), False, False, "two-pass"
        ),
    }
)
