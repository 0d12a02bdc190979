"""Read holidays that people use as dates, in English and German: `since Christmas`; pure.

A holiday alone is an ordinary word: a Christmas card has no date.
"""

from __future__ import annotations

from datetime import date, timedelta
from functools import partial

from memcli.dates.words import DateMatch, Days, Seen, as_year, begun, near, shift_of

# Month, first day and last day; in German, Christmas begins on Christmas Eve.
_FIXED = {
    "christmas": (12, 24, 26), "xmas": (12, 24, 26), "weihnachten": (12, 24, 26),
    "christmas eve": (12, 24, 24), "heiligabend": (12, 24, 24), "christmas day": (12, 25, 25),
    "boxing day": (12, 26, 26), "new year eve": (12, 31, 31), "silvester": (12, 31, 31),
    "new year": (1, 1, 1), "new year day": (1, 1, 1), "neujahr": (1, 1, 1),
}  # fmt: skip
# First and last day, counted from Easter Sunday.
_MOVABLE = {
    "good friday": (-2, -2), "karfreitag": (-2, -2), "easter": (0, 1), "ostern": (0, 1),
    "easter sunday": (0, 0), "ostersonntag": (0, 0), "easter monday": (1, 1),
    "ostermontag": (1, 1), "ascension": (39, 39), "himmelfahrt": (39, 39),
    "christi himmelfahrt": (39, 39), "pentecost": (49, 50), "whitsun": (49, 50),
    "pfingsten": (49, 50),
}  # fmt: skip
NAMES = frozenset(_FIXED) | frozenset(_MOVABLE)
# Words before a holiday that make it a date; `words` has those of other dates.
AT_WORDS = ("at", "over", "zu", "über")
_LONGEST_NAME = 3  # words


def easter(year: int) -> date:
    """Return Easter Sunday of a year of the Gregorian calendar.

    Source: Nature, April 1876, as in J. Meeus, Astronomical Algorithms, chapter 8, whose names of
    the numbers are used here.
    """
    a, (b, c) = year % 19, divmod(year, 100)
    d, e = divmod(b, 4)
    g = (b - (b + 8) // 25 + 1) // 3
    h = (19 * a + b - d - g + 15) % 30
    i, k = divmod(c, 4)
    l_ = (32 + 2 * e + 2 * i - h - k) % 7
    m = (a + 11 * h + 22 * l_) // 451
    month, day = divmod(h + l_ - 7 * m + 114, 31)
    return date(year, month, day + 1)


def named(low: list[str]) -> str:
    """Return the holiday that the words begin with, the longest name; "" for none."""
    names = (" ".join(low[:count]) for count in range(_LONGEST_NAME, 0, -1))
    return next((name for name in names if name in NAMES), "")


def latest(raw: list[str], low: list[str], seen: Seen) -> DateMatch | None:
    """Read a holiday after a word such as `since`: the last one that has begun."""
    name = named(low)
    if not name:
        return None
    return len(name.split()), begun(partial(_days, name), seen.today)


def dated(raw: list[str], low: list[str], seen: Seen) -> DateMatch | None:
    """Read `Christmas 2023`, `Easter of 2024`, `last Christmas`, `letztes Ostern`."""
    if name := named(low):
        at = len(name.split())
        at += low[at] == "of"
        year = as_year(low[at])
        return (at + 1, _days(name, year)) if year else None
    name = named(low[1:])
    if not name:
        return None
    shift = shift_of(low[0])
    if shift is None:
        return None
    own = partial(_days, name)
    return len(name.split()) + 1, near(own, shift, seen.today) if shift else own(seen.today.year)


def _days(name: str, year: int) -> Days:
    if name in _FIXED:
        month, first, last = _FIXED[name]
        return date(year, month, first), date(year, month, last)
    sunday = easter(year)
    begin, end = _MOVABLE[name]
    return sunday + timedelta(begin), sunday + timedelta(end)
