"""Find the calendar date of a document or a heading; leaves what age means to the ranking.

The modification time of a file is never a date.
"""

from __future__ import annotations

import re
from datetime import date, datetime

# Each digit run has a fixed length, so the search is linear and matches never overlap.
# Compiled at first use: a search dates nothing.
_IN_PATH = r"(?<![0-9])([0-9]{4})(?:-([0-9]{2})-|/([0-9]{2})/|([0-9]{2}))([0-9]{2})(?![0-9])"
_ISO_START = r"([0-9]{4})-([0-9]{2})-([0-9]{2})(?:$|T[0-9]|[^\w/-])"
# What may stand before a date in a heading: brackets and emphasis.
_OPENERS = "[(*_`~ \t"


def document_date(value: object, path: str) -> str | None:
    """Give the date in the front matter, else the one in the path, else None (evergreen)."""
    return value_date(value) or path_date(path)


def value_date(value: object) -> str | None:
    """Read a date from a front matter value: a date, a string or a number like 20260210."""
    if isinstance(value, datetime):
        return value.date().isoformat()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        value = str(value) if 0 < value <= 9999_12_31 else ""
    if not isinstance(value, str):
        return None
    # Longer text is not a date; a time and a zone may follow one.
    found = re.match(_IN_PATH, value.strip()[:64])
    return _checked(found) if found else None


def path_date(path: str) -> str | None:
    """Give the rightmost calendar date in a path, so the file name comes before its folders."""
    best = None
    for found in re.finditer(_IN_PATH, path):
        best = _checked(found) or best
    return best


def heading_date(text: str) -> str | None:
    """Give the date of a heading that begins with one: `2026-02-10`, `2026-02-10 Tuesday`."""
    found = re.match(_ISO_START, text.lstrip(_OPENERS))
    return _valid(found[1], found[2], found[3]) if found else None


def age_days(day: str, today: str) -> int:
    """Count whole calendar days from `day` to `today`; negative in the future."""
    return (date.fromisoformat(today) - date.fromisoformat(day)).days


def _checked(found: re.Match[str]) -> str | None:
    """Validate what the path pattern found."""
    return _valid(found[1], found[2] or found[3] or found[4], found[5])


def _valid(year: str, month: str, day: str) -> str | None:
    """Write a date as ISO when the calendar has it."""
    try:
        return date(int(year), int(month), int(day)).isoformat()
    except ValueError:
        return None
