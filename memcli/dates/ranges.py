"""Read ranges of days in English and German: `since May`, `from A to B`; pure."""

from __future__ import annotations

import re
from datetime import timedelta

from memcli.dates.absolute import ORDINAL
from memcli.dates.parts import ARTICLES, named
from memcli.dates.words import (
    AFTER_WORDS,
    AT_WORDS,
    BEFORE_WORDS,
    SINCE_WORDS,
    UNITS,
    UNTIL_WORDS,
    WEEKEND,
    DateMatch,
    Days,
    Reading,
    Seen,
    as_number,
    as_year,
    before,
)

JOINTS = frozenset("-–—") | {".."}
_BETWEEN = {"between": ("and",), "zwischen": ("und",)}
_FROM = {"from": ("to", "until", "till", "through"), "von": ("bis",), "vom": ("bis",)}
_TO = ("to", "through", "bis")
# Words for later or earlier than a day.
_EARLIER, _LATER, _THAN = ("earlier", "früher"), ("later", "später"), ("than", "als")


def joined(raw: list[str], low: list[str], seen: Seen) -> DateMatch | None:
    """Read two dates with what joins them: `between May and July 2023`, `from A to B`, `A - B`."""
    lead, ends = 1, _BETWEEN.get(low[0]) or _FROM.get(low[0])
    if ends is None:
        lead, ends = 0, (*_TO, *JOINTS)
    first = named(raw[lead:], low[lead:], seen, bare=lead > 0)
    begin_day = None if first else _day_of_month(low[lead:])
    if first is None and begin_day is None:
        return None
    at = lead + (first or begin_day or (0,))[0]
    if low[at] not in ends and not (lead and low[at] in JOINTS):
        return None
    last = named(raw[at + 1 :], low[at + 1 :], seen, bare=True)
    if begin_day:  # from the 3rd to the 7th of May
        if last is None or last[1][0] != last[1][1]:
            return None
        return at + 1 + last[0], (last[1][0].replace(day=begin_day[1]), last[1][0])
    if first is None:
        return None
    if last is None:
        return _to_day(raw, low, (lead, at), first[1], seen)
    # Both dates share the year: between August 11 and August 15 2023.
    after = at + 1 + last[0]
    first_year, last_year = _year_in(low[lead:at]), _year_in(low[at + 1 : after])
    begin, end = first[1], last[1]
    if last_year and not first_year:
        begin = _with_year(raw[lead:at], last_year, seen) or begin
    elif first_year and not last_year:
        end = _with_year(raw[at + 1 : after], first_year, seen) or end
    elif not first_year and begin[0] > end[1]:
        years = (_with_year(raw[lead:at], str(end[1].year - n), seen) or begin for n in (0, 1))
        begin = next((days for days in years if days[0] <= end[1]), begin)
    return (after, (begin[0], end[1])) if begin[0] <= end[1] else None


def _day_of_month(low: list[str]) -> tuple[int, int] | None:
    """Read `3`, `the 3rd`: how many words, and which day."""
    skip = 1 if low[0] in ARTICLES else 0
    match = ORDINAL.fullmatch(low[skip])
    return (skip + 1, int(match[1])) if match and not match[2] else None


def _to_day(
    raw: list[str], low: list[str], span: tuple[int, int], begin: Days, seen: Seen
) -> DateMatch | None:
    """Read the `7` of `May 3 to 7, 2023`, after the date in `span`."""
    lead, at = span
    end_day = _day_of_month(low[at + 1 :])
    if end_day is None or begin[0] != begin[1]:
        return None
    after = at + 1 + end_day[0]
    if as_year(low[after]):
        begin = _with_year(raw[lead:at], low[after], seen) or begin
        after += 1
    end = begin[0].replace(day=end_day[1])
    return (after, (begin[0], end)) if begin[0] <= end else None


def _year_in(low: list[str]) -> str:
    """Return the year in the words, as it is written."""
    return next((m[0] for word in low if (m := re.search(r"(?:19|20)\d\d", word))), "")


def _with_year(raw: list[str], year: str, seen: Seen) -> Days | None:
    words = [*raw, year]
    match = named([*words, *[""] * 5], [*(w.lower() for w in words), *[""] * 5], seen, bare=True)
    return match[1] if match and match[0] == len(words) else None


def bounded(raw: list[str], low: list[str], seen: Seen) -> tuple[int, Reading] | None:
    """Read `since May`, `until 2023`, `before last week`, `after 5 May`, `seit drei Tagen`."""
    skip = 1
    if low[1] in _THAN and low[0] in (*_EARLIER, *_LATER):
        raw = ["before" if low[0] in _EARLIER else "after", *raw[2:]]
        low = [raw[0], *low[2:]]
        skip = 2
    tables = (SINCE_WORDS, UNTIL_WORDS, BEFORE_WORDS, AFTER_WORDS)
    which = next((n for n, table in enumerate(tables) if low[0] in table), None)
    if which is None or low[1] in JOINTS:
        return None
    number, unit = as_number(low[1]), UNITS.get(low[2], WEEKEND)
    if low[0] == "seit" and number is not None and unit != WEEKEND:
        return 3, Reading(before(unit, number, seen.today), None)
    match = named(raw[1:], low[1:], seen, bare=True)
    if match is None:
        return None
    count, (first, last) = match
    day = timedelta(1)
    bounds = ((first, None), (None, last), (None, first - day), (last + day, None))
    return skip + count, Reading(*bounds[which])


def excepted(raw: list[str], low: list[str], seen: Seen) -> tuple[int, Reading] | None:
    """Read `not before August`, `no later than May`, `nicht im Juni`, `except last week`."""
    inner = bounded(raw[1:], low[1:], seen)
    if inner is not None:
        count, bound = inner
        if low[1] == "until":  # not until August is in August or later
            match = named(raw[2:], low[2:], seen, bare=True)
            return match and (1 + count, Reading(match[1][0]))
        day = timedelta(1)
        if bound.last:
            return 1 + count, Reading(bound.last + day)
        return (1 + count, Reading(None, bound.first - day)) if bound.first else None
    if low[0] == "no":
        return None
    if match := joined(raw[1:], low[1:], seen):
        return 1 + match[0], Reading(*match[1], excluded=True)
    at = 2 if low[1] in AT_WORDS else 1
    is_bare = at > 1 or low[0] not in ("not", "nicht")  # not 2000 but 3000 are amounts
    match = named(raw[at:], low[at:], seen, bare=is_bare)
    return match and (at + match[0], Reading(*match[1], excluded=True))
