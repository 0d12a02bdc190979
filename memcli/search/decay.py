"""Let dated records fade with age, down to a floor; pure.

factor = floor + (1 - floor) * 2^(-age_days / half_life); undated and future records keep 1. Ages
are fractional where the document and the question have a time of day.
With a floor of 0 every score of an old log falls to nothing, and old memory is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from memcli.search.hits import Hit, ordered


def factor(age_days: float | None, *, half_life_days: float, floor: float) -> float:
    """Give the decay of an age: 0.5 at the half-life when the floor is 0."""
    if age_days is None or age_days <= 0:
        return 1.0
    halved: float = 2.0 ** (-age_days / half_life_days)
    return floor + (1.0 - floor) * halved


def apply_decay(
    hits: Sequence[Hit],
    *,
    age_days: Callable[[str], float],
    half_life_days: float,
    floor: float,
) -> list[Hit]:
    """Multiply every score by the decay of its document's date."""
    dates = {hit.written for hit in hits}  # many hits are of one day
    ages = {date: age_days(date) if date else None for date in dates}
    factors = {
        date: factor(age, half_life_days=half_life_days, floor=floor) for date, age in ages.items()
    }
    decayed = []
    for hit in hits:
        date = hit.written
        by = factors[date]
        faded = hit._replace(faded=by)
        decayed.append(faded.moved(hit.score * by, "decay", age_days=ages[date], factor=by))
    return ordered(decayed)
