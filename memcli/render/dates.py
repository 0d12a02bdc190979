"""Dates as they were understood: in a line for people, as records for programs; pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memcli.checking import TYPE_CHECKING
from memcli.dates.find import DateSpan

if TYPE_CHECKING:
    from typing import Any

_ORDERS = {"newest": "a wish for the newest", "oldest": "a wish for the oldest"}
# A plainly written day or month needs no remark.
_ISO = r"(?:--[a-z]+ )?\d{4}-\d\d(?:-\d\d)?"


def line(dates: Sequence[DateSpan]) -> str:
    """Say how dates were read; "" where all are ISO days and months.

    Example: `Read "last week" as 2026-02-02 to 2026-02-08.`
    """
    told = dict.fromkeys(
        f'"{span.text}" as {_meaning(span)}' for span in dates if not re.fullmatch(_ISO, span.text)
    )
    return f"Read {', '.join(told)}." if told else ""


def record(span: DateSpan) -> dict[str, Any]:
    """Describe a date as `memcli.search/1` does."""
    described: dict[str, Any] = {"text": span.text, "start": span.start, "end": span.end}
    if span.order:
        described["order"] = span.order
    if span.read:
        described["read"] = span.read
    if span.excluded:
        described["excluded"] = True
    return described


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
