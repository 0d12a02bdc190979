"""Reads dates that are written out, in English and German: `7 May 2023`, `7/12/2023`; pure."""

from __future__ import annotations

import re
from datetime import date

from memcli.dates import words
from memcli.dates.words import DateMatch, Seen

ORDINAL = re.compile(r"(\d\d?)(?:st|nd|rd|th)?(?:[-–](\d\d?)(?:st|nd|rd|th)?)?")
# `re` compiles the next ones at their first use: a word with a digit.
NUMERIC = (
    r"(\d{4})([-/])(\d\d?)\2(\d\d?)(?:T[\d:.]+Z?)?|((?:19|20)\d\d)(\d\d)(\d\d)"
    r"|(\d\d?)\.(\d\d?)\.(\d{4})|(\d\d)\.(\d\d)\.(\d\d)|((?:19|20)\d\d)-(\d\d)"
)
SLASHED = r"(\d\d?)/(\d\d?)/((?:19|20)?\d\d)"
WEEK_OF_YEAR = r"((?:19|20)\d\d)-[Ww](\d\d)"
MONTH_AND_YEAR = r"(\d\d?)/((?:19|20)\d\d)"
DAY_AND_MONTH = r"(\d\d?)/(\d\d?)"
_DAY_WITH_DOTS = r"(\d\d?)\.(\d\d?)\."
PART_OF_YEAR = r"([QqHh])([1-4])(?:[-/]?((?:19|20)\d\d))?|((?:19|20)\d\d)[-/]?([QqHh])([1-4])"
_CENTURY = 2000  # of a year of two digits


def is_ambiguous(text: str) -> bool:
    """Return whether a date in numbers could be read in both orders: 7/12/2023, 7/12."""
    match = re.search(rf"(?<![\d/]){DAY_AND_MONTH}(?:/(?:19|20)?\d\d)?(?![\d/])", text)
    return bool(match and match[1] != match[2] and max(int(match[1]), int(match[2])) <= 12)


def numeric(raw: list[str], low: list[str], seen: Seen) -> DateMatch | None:
    """Read `2026-02-10`, `20260210`, `10.02.2026`, `7/12/2023`, `2026-02`, `02/2026`, `10.02.`.

    Also the ISO week `2026-W07`.
    """
    if not raw[0][:1].isdigit():
        return None
    if match := re.fullmatch(SLASHED, raw[0]):
        month, day = _in_order(int(match[1]), int(match[2]), seen)
        year = int(match[3])
        return 1, words.one_day(date(year if year > 99 else _CENTURY + year, month, day))
    if match := re.fullmatch(MONTH_AND_YEAR, raw[0]):
        return 1, words.month_days(int(match[2]), int(match[1]))
    if match := re.fullmatch(WEEK_OF_YEAR, raw[0]):
        year, week = int(match[1]), int(match[2])
        return 1, (date.fromisocalendar(year, week, 1), date.fromisocalendar(year, week, 7))
    if match := re.fullmatch(_DAY_WITH_DOTS, raw[0]):
        return 1, words.one_day(words.latest(seen.today, int(match[2]), int(match[1])))
    match = re.fullmatch(NUMERIC, raw[0])
    if not match:
        return None
    if match[14]:
        return 1, words.month_days(int(match[14]), int(match[15]))
    if match[13]:
        return 1, words.one_day(date(_CENTURY + int(match[13]), int(match[12]), int(match[11])))
    forms = match.group(1, 3, 4), match.group(5, 6, 7), match.group(10, 9, 8)
    return 1, words.one_day(date(*(int(part) for form in forms for part in form if part)))


def day_and_month(raw: list[str], low: list[str], seen: Seen) -> DateMatch | None:
    """Read `7/12` as the last such day; alone it may be a fraction or a number."""
    match = re.fullmatch(DAY_AND_MONTH, raw[0])
    if not match or raw[0] == "24/7" or low[1] == "of" or low[1] in words.UNITS:
        return None
    return 1, words.one_day(
        words.latest(seen.today, *_in_order(int(match[1]), int(match[2]), seen))
    )


def _in_order(one: int, two: int, seen: Seen) -> tuple[int, int]:
    """Return month and day of 7/12: as it is set, or as it can only be."""
    is_day_first = one > 12 or (seen.day_first and two <= 12)
    return (two, one) if is_day_first else (one, two)


def month(raw: list[str], low: list[str], seen: Seen) -> DateMatch | None:
    """Read `7 May 2023`, `7th of May`, `7. Mai`, `May 7th, 2023`, `May 3-7`, `May 2023`."""
    day = ORDINAL.fullmatch(low[0])
    at = (2 if low[1] == "of" else 1) if day else 0
    name = raw[at]
    number = words.MONTHS.get(low[at])
    if number is None:
        return None
    at += 1
    if not day and (day := ORDINAL.fullmatch(low[at])):
        at += 1
    year_at = at + (low[at] == "of")
    if year := words.as_year(low[year_at]):
        at = year_at + 1
        if not day:
            return at, words.month_days(year, number)
        first, last = (date(year, number, int(part)) for part in (day[1], day[2] or day[1]))
        return (at, (first, last)) if first <= last else None
    # As it is written: it may 7 times.
    if not day or (name in words.AMBIGUOUS_MONTHS and day[0].isdigit()):
        return None
    last = words.latest(seen.today, number, int(day[2] or day[1]))
    first = last.replace(day=int(day[1]))
    return (at, (first, last)) if first <= last else None


def year(raw: list[str], low: list[str], seen: Seen) -> DateMatch | None:
    """Read `year 2023`, `Jahr 2023`; without that word it is only a number."""
    year = words.as_year(low[1])
    is_near = year and year <= seen.today.year + 1
    return (2, words.year_days(year)) if year and is_near and low[0] in words.YEAR_WORDS else None


def quarter(raw: list[str], low: list[str], seen: Seen) -> DateMatch | None:
    """Read `Q3 2023`, `2023 Q3`, `Q3/2023`, `third quarter of 2023`, `3. Quartal 2023`, `Q3`.

    Without a year it is the last one that has begun.
    """
    at, low0 = 0, low[0]
    if match := re.fullmatch(PART_OF_YEAR, low0) or re.fullmatch(PART_OF_YEAR, low[1]):
        letter, number = match[1] or match[5], int(match[2] or match[6])
        year, at = match[3] or match[4], 1
        if not year and match.string == low0 and words.as_year(low[1]):
            year, at = low[1], 2
        elif match.string != low0:
            year, at = (low0, 2) if words.as_year(low0) and not year else (None, 0)
        if letter == "q" and not year and match.string == low0:
            return 1, words.latest_quarter(number, seen.today)
        if not year or (letter == "h" and number > 2):
            return None
        return at, (words.quarter_days if letter == "q" else words.half_days)(int(year), number)
    ordinal = words.ORDINALS.get(low0) or (int(low0) if low0 in ("1", "2", "3", "4") else 0)
    if not ordinal or words.UNITS.get(low[1]) != words.QUARTER:
        return None
    at = 3 if low[2] in ("of", "von") else 2
    year = words.as_year(low[at])
    if year:
        return at + 1, words.quarter_days(year, ordinal)
    return (2, words.latest_quarter(ordinal, seen.today)) if at == 2 else None


def season(raw: list[str], low: list[str], seen: Seen) -> DateMatch | None:
    """Read `summer 2024`, `summer of 2024`."""
    season, at = words.SEASONS.get(low[0]), 2 if low[1] == "of" else 1
    year = words.as_year(low[at])
    if season is None or not year:
        return None
    return at + 1, words.season_days(year, season)
