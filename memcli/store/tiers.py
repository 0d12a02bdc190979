"""Search by the first components of vectors first: a cascade of tiers that may end early; pure.

A Matryoshka model puts most of what it knows about a text into the first components of a vector. A
tier compares only these, at unit length. If its best score reaches its threshold, its results are
the answer, scored by whole vectors. Otherwise the next tier is searched, and finally all
components. The store contains whole vectors, so other tiers need no new embedding.
"""

from __future__ import annotations

from array import array
from math import fsum, sqrt

from memcli.checking import TYPE_CHECKING
from memcli.errors import ConfigError
from memcli.record import Record

if TYPE_CHECKING:
    from memcli.config.settings import Config

SECOND = 256  # components of the tier behind a smaller one
MULTIPLE = 8  # components whose codes fill bytes


class Tier(Record):
    """The first components of all vectors, and the score from which they decide."""

    components: int
    threshold: float

    def is_sure(self, best: float) -> bool:
        """Return whether the best score decides; no score passes a threshold of 1."""
        return min(1.0, best) > self.threshold


def tiers_of(config: Config) -> tuple[Tier, ...]:
    """Read the tiers of a configuration that may answer, the smallest first."""
    name = f"{config('embedding.encoder')}.matryoshka"
    cut = config(name) if name in config.values else 0
    if cut % MULTIPLE:
        raise ConfigError(
            f"{name} must be a multiple of {MULTIPLE}, not {cut}", hint=f"memcli config {name}"
        )
    sizes = [size for size in (cut, SECOND) if size >= cut > 0]
    thresholds = (config("matryoshka.first"), config("matryoshka.second"))
    tiers = map(Tier, dict.fromkeys(sizes), thresholds)
    return tuple(tier for tier in tiers if tier.threshold < 1.0)


def head_of(vector: bytes, components: int) -> bytes:
    """Cut a vector of float32 to its first components, at unit length again."""
    head = array("f", vector)[:components]
    length = sqrt(fsum(value * value for value in head))
    return array("f", [value / length for value in head]).tobytes() if length else head.tobytes()


def head_cosine(apart: float, length: float) -> float:
    """Return the cosine of a head to another of unit length, from their distance and its length."""
    return (1.0 + length * length - apart * apart) / (2.0 * length) if length else 0.0
