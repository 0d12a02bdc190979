"""Read dates relative to today, in English and German: `yesterday`, `last week`; pure."""

from __future__ import annotations

from datetime import timedelta

from memcli.dates import absolute
from memcli.dates.words import (
    AMBIGUOUS_MONTHS,
    BEFORE_LAST_WORDS,
    DAY,
    DAY_WORDS,
    LAST_WORDS,
    MONTHS,
    NEXT_WORDS,
    SEASONS,
    THIS_WORDS,
    UNITS,
    WEEK,
    WEEKDAYS,
    WEEKEND,
    DateMatch,
    Seen,
    as_number,
    as_weekday,
    back,
    before,
    month_days,
    near_season,
    one_day,
    recent,
)

_AGO = ("ago", "назад")


def day(raw: list[str], low: list[str], seen: Seen) -> DateMatch | None:
    """Read `today`, `gestern`, `the day before yesterday`, `last night`."""
    if low[0] == "day" and low[1:3] in (["before", "yesterday"], ["after", "tomorrow"]):
        return 3, back(DAY, 2 if low[1] == "before" else -2, seen.today)
    if low[0] in DAY_WORDS:
        return 1, back(DAY, -DAY_WORDS[low[0]], seen.today)
    if low[0] in THIS_WORDS and low[1] in ("morning", "afternoon", "evening"):
        return 2, one_day(seen.today)
    return (2, back(DAY, 1, seen.today)) if low[:2] == ["last", "night"] else None


def ago(raw: list[str], low: list[str], seen: Seen) -> DateMatch | None:
    """Read `3 days ago`, `a week ago`, `vor zwei Wochen`: the day, or the whole week it was."""
    if low[:3] == ["a", "couple", "of"] and low[4] == "ago" and low[3] in UNITS:
        return 5, back(UNITS[low[3]], 2, seen.today)
    skip = low[0] == "vor"
    number, unit = as_number(low[skip]), UNITS.get(low[skip + 1], WEEKEND)
    if number is None or unit == WEEKEND or not (skip or low[2] in _AGO):
        return None
    return 3, back(unit, number, seen.today)


def period(raw: list[str], low: list[str], seen: Seen) -> DateMatch | None:
    """Read `last week`, `this month`, `next Friday`, `the past 7 days`, `letzten Monat`."""
    today = seen.today
    unit = UNITS.get(low[1], DAY)
    if low[0] in BEFORE_LAST_WORDS and unit != DAY:
        return 2, back(unit, 2, today)
    if low[0] == "week" and low[1:3] == ["before", "last"]:
        return 3, back(WEEK, 2, today)
    is_last, is_next = low[0] in LAST_WORDS, low[0] in NEXT_WORDS
    if not is_last and not is_next and low[0] not in THIS_WORDS:
        return None
    number, many = as_number(low[1]), UNITS.get(low[2], WEEKEND)
    if number is not None and many != WEEKEND and (is_last or is_next):
        far = before(many, number if is_last else -number, today)
        return 3, (min(far, today), max(far, today))
    if unit != DAY:
        if low[0] == "past" and unit != WEEKEND:
            return 2, (before(unit, 1, today), today)
        return 2, back(unit, is_last - is_next, today)
    weekday = as_weekday(raw[1])
    if weekday is None:
        return None
    if is_last or is_next:
        return 2, one_day(recent(weekday, today + timedelta(7 if is_next else -1)))
    return 2, one_day(back(WEEK, 0, today)[0] + timedelta(weekday))


def weekday(raw: list[str], low: list[str], seen: Seen) -> DateMatch | None:
    """Read `Tuesday`, `Tuesday last week`."""
    weekday = WEEKDAYS.get(low[0])
    if weekday is None:
        return None
    if UNITS.get(low[2]) == WEEK and (low[1] in LAST_WORDS or low[1] in NEXT_WORDS):
        week = back(WEEK, 1 if low[1] in LAST_WORDS else -1, seen.today)
        return 3, one_day(week[0] + timedelta(weekday))
    return 1, one_day(recent(weekday, seen.today))


def month(raw: list[str], low: list[str], seen: Seen) -> DateMatch | None:
    """Read `last May`, `this March`, `next June`; a lower-case `may` is a verb."""
    number, this_month = MONTHS.get(low[1]), seen.today.month
    if number is None or raw[1] in AMBIGUOUS_MONTHS or absolute.month(raw[1:], low[1:], seen):
        return None
    if low[0] in THIS_WORDS:
        return 2, month_days(seen.today.year, number)
    if low[0] in LAST_WORDS:
        return 2, month_days(seen.today.year - (number >= this_month), number)
    if low[0] in NEXT_WORDS:
        return 2, month_days(seen.today.year + (number <= this_month), number)
    return None


def season(raw: list[str], low: list[str], seen: Seen) -> DateMatch | None:
    """Read `last winter`, `this summer`, `letzten Sommer`."""
    near = (THIS_WORDS, LAST_WORDS, NEXT_WORDS)
    shift = next((by for table, by in zip(near, (0, 1, -1), strict=True) if low[0] in table), None)
    name = SEASONS.get(low[1])
    return None if shift is None or name is None else (2, near_season(name, shift, seen.today))
