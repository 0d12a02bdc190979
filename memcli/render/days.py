"""A chart of the days that dated documents cover, one row high."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

_LEVELS = " ▁▂▃▄▅▆▇█"


def chart(counts: Mapping[str, int], columns: int) -> str:
    """Draw documents over time: each column an equal span of days from the first to the last.

    `counts` are documents by ISO date. The highest column is full; a column with any document
    shows at least the lowest step, one without is empty. Fewer days than columns: one each.
    """
    days = {date.fromisoformat(day).toordinal(): count for day, count in counts.items()}
    first, last = min(days), max(days)
    span = last - first + 1
    width = min(columns, span)
    sums = [0] * width
    for day, count in days.items():
        sums[(day - first) * width // span] += count
    most = max(sums)
    return "".join(_LEVELS[-(-each * (len(_LEVELS) - 1) // most)] for each in sums)
