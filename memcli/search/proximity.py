"""Prefer records near a date that the query names; pure.

score' = score + (1 - score) * bonus, bonus = DATE_BONUS * 2^(-days / PROXIMITY_HALF_LIFE_DAYS),
days being the distance from the record's date to the nearest named span, 0 inside it. Undated
records get nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from memcli.search.hits import Hit, ordered

DATE_BONUS = 0.5
PROXIMITY_HALF_LIFE_DAYS = 3.0
# Beyond this the bonus is nothing, and the trace stays quiet.
FAR_DAYS = 30


def bonus(day: str | None, spans: Sequence[tuple[str, str]]) -> float:
    """Give the bonus of a date; 0 for none, for one far off, and where nothing is named."""
    if day is None or not spans:
        return 0.0
    days = distance_days(day, spans)
    return DATE_BONUS * 2.0 ** (-days / PROXIMITY_HALF_LIFE_DAYS) if days <= FAR_DAYS else 0.0


def distance_days(day: str, spans: Sequence[tuple[str, str]]) -> int:
    """Count the days from `day` to the nearest span of ISO dates, 0 inside one."""
    at = date.fromisoformat(day)
    return min(
        max((date.fromisoformat(start) - at).days, (at - date.fromisoformat(end)).days, 0)
        for start, end in spans
    )


def nearest_first(hits: Sequence[Hit], spans: Sequence[tuple[str, str]], limit: int) -> list[Hit]:
    """Choose the hits to look at closely: half the places go to those of a named date first."""
    named = [hit for hit in hits if bonus(hit.about.date, spans) == DATE_BONUS]
    first = {hit.about.chunk_id for hit in named[: limit // 2]}
    others = [hit for hit in hits if hit.about.chunk_id not in first]
    kept = first | {hit.about.chunk_id for hit in others[: limit - len(first)]}
    return [hit for hit in hits if hit.about.chunk_id in kept]


def apply_proximity(hits: Sequence[Hit], *, spans: Sequence[tuple[str, str]]) -> list[Hit]:
    """Raise every hit near a named date; without named dates nothing changes."""
    if not spans:
        return list(hits)
    moved = []
    for hit in hits:
        gain = bonus(hit.about.date, spans)
        score = hit.score + (1.0 - hit.score) * gain
        moved.append(hit.moved(score, "date", bonus=gain) if gain else hit)
    return ordered(moved)
