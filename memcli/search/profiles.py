"""What each profile of ranking sets, how it scores, and which stages it takes part in."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

# The stages that can be switched, in the order of the pipeline.
STAGES = ("fertility", "coverage", "focus", "date", "decay", "newer", "mmr", "fold")


class Profile(NamedTuple):
    """A way to rank."""

    settings: Mapping[str, float | int | str]  # where the user has not set them
    score: str  # fusion | convex | two-pass
    stages: frozenset[str]
    by_limit: bool  # candidates a leg: limit * search.candidate_multiplier, not search.universe
    floor_on_score: bool  # search.min_score judges the fused score, not the confidence


PROFILES: Mapping[str, Profile] = MappingProxyType(
    {
        "default": Profile({}, "fusion", frozenset(STAGES), False, False),
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
            "fusion",
            frozenset(("decay", "mmr")),
            True,
            True,
        ),
        "convex": Profile({}, "convex", frozenset(), False, False),
        "two-pass": Profile({"search.limit": 8}, "two-pass", frozenset(), False, False),
    }
)
