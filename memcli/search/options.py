"""What a search is asked to do: the settings, and what the profile says where nobody set them."""

from __future__ import annotations

from typing import Any, NamedTuple

from memcli.config.settings import DEFAULT_ORIGIN, Config
from memcli.errors import ConfigError
from memcli.search.focus import KEEP_SHARE, PASSAGE_LINES
from memcli.search.fusion import Weights
from memcli.search.profiles import PROFILES, Profile
from memcli.types import Filters


class Options(NamedTuple):
    """What a search is asked to do."""

    limit: int
    mode: str  # hybrid | lexical | dense
    profile: Profile
    encoder: str  # its name in the configuration
    fusion: str  # scaled | weighted | rrf
    weights: Weights
    universe: int
    half_life_days: float
    decay_floor: float
    mmr_lambda: float
    mmr_min: float
    min_score: float
    budget: int | None
    whole: bool  # chunks in one piece instead of the lines that answer
    filters: Filters
    passage_lines: int = PASSAGE_LINES
    keep_share: float = KEEP_SHARE  # of the best part, from which a neighbour joins a passage
    spread: bool = False  # one passage of what a summary says of a document
    outside: frozenset[int] = frozenset()  # chunks that are no candidates: they are shown already
    without: frozenset[str] = frozenset()  # stages switched off, to see what they are worth

    def has(self, stage: str) -> bool:
        """Tell whether a stage of `profiles.STAGES` takes part."""
        return stage in self.profile.stages and stage not in self.without


def options_of(
    config: Config, *, filters: Filters, budget: int | None = None, whole: bool = False
) -> Options:
    """Read the search settings; the profile's stand in for those nobody has set."""
    profile = PROFILES[config("search.profile")]

    def setting(name: str) -> Any:  # noqa: ANN401
        is_set = config.values[name].origin != DEFAULT_ORIGIN
        return config(name) if is_set else profile.settings.get(name, config(name))

    limit, universe = setting("search.limit"), setting("search.universe")
    if profile.by_limit:
        universe = limit * setting("search.candidate_multiplier")
    return Options(
        limit=limit,
        mode=config("search.mode"),
        profile=profile,
        encoder=config("embedding.encoder"),
        fusion=setting("search.fusion"),
        weights=_weights(setting("search.vector_weight"), setting("search.text_weight")),
        universe=universe,
        half_life_days=setting("search.half_life_days"),
        decay_floor=setting("search.decay_floor"),
        mmr_lambda=setting("search.mmr_lambda"),
        mmr_min=setting("search.mmr_min"),
        min_score=setting("search.min_score"),
        budget=budget,
        whole=whole,
        filters=filters,
    )


def _weights(vector: float, text: float) -> Weights:
    if abs(vector + text - 1.0) > 1e-6:
        raise ConfigError(
            f"search.vector_weight and search.text_weight must sum to 1, not {vector + text:g}",
            hint="memcli config search",
        )
    return Weights(vector, text)
