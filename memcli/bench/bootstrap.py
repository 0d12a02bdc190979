"""Say how sure a difference of two means is: the paired bootstrap over questions; pure.

Efron and Tibshirani, An Introduction to the Bootstrap, 1993: questions are drawn with
replacement, and the middle 95 % of the mean differences are the interval. The draws are seeded,
so the same figures give the same interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum
from random import Random

from memcli.record import Record

DRAWS = 2000
SEED = 20250101


class Difference(Record):
    """A mean difference and its 95 % interval."""

    mean: float
    low: float
    high: float


def paired(before: Sequence[float], after: Sequence[float]) -> Difference:
    """Compare two figures a question, given in the same order; ValueError where they do not pair.

    Without questions the difference is 0.
    """
    if len(before) != len(after):
        raise ValueError(f"{len(before)} questions cannot be paired with {len(after)}")
    deltas = [b - a for a, b in zip(before, after, strict=True)]
    if not deltas:
        return Difference(0.0, 0.0, 0.0)
    draw = Random(SEED)
    size = len(deltas)
    means = sorted(fsum(draw.choices(deltas, k=size)) / size for _ in range(DRAWS))
    return Difference(fsum(deltas) / size, means[int(0.025 * DRAWS)], means[int(0.975 * DRAWS) - 1])
