"""Dates as they were understood, in a line for people, and documents over time; pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date

from memcli.dates.find import DateSpan

_ORDERS = {"newest": "a wish for the newest", "oldest": "a wish for the oldest"}
# A plainly written day or month needs no remark.
_ISO = r"(?:--[a-z]+ )?\d{4}-\d\d(?:-\d\d)?"


def line(dates: Sequence[DateSpan]) -> str:
    """Say how dates were read; "" if all are ISO days and months.

    Example: `Read "last week" as 2026-02-02 to 2026-02-08.`
    """
    read: dict[str, dict[str, None]] = {}
    for span in dates:
        if not re.fullmatch(_ISO, span.text):
            read.setdefault(span.text, {})[_meaning(span)] = None
    readings = [f'"{text}" as {" or ".join(meanings)}' for text, meanings in read.items()]
    return f"Read {', '.join(readings)}." if readings else ""


def _meaning(span: DateSpan) -> str:
    if span.order:
        return _ORDERS[span.order]
    if span.start is None:
        return f"up to {span.end}"
    if span.end is None:
        return f"{span.start} and later"
    days = span.start if span.start == span.end else f"{span.start} to {span.end}"
    days = f"any day but {days}" if span.excluded else days
    return f"{days} ({span.read}; search.date_order)" if span.read else days


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
