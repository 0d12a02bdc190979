"""Read single dates in English and German: `yesterday`, `last week`, `early May`; pure."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, timedelta

from memcli.dates import absolute, holidays, words
from memcli.dates.words import DateMatch, Days, Rule, Seen

ARTICLES = ("the", "dem", "den", "der", "das")
_THIRDS = {
    "early": 0, "beginning": 0, "start": 0, "anfang": 0, "mid": 1, "middle": 1, "mitte": 1,
    "late": 2, "end": 2, "ende": 2,
}  # fmt: skip
_HALVES = ("half", "hälfte")
_WITHIN_WORDS = ("in", "im", "during", "von")
_MONTH_LENGTH = 28  # days; a longer range has a beginning, a middle and an end


def one(raw: list[str], low: list[str], seen: Seen) -> DateMatch | None:
    """Read one date, with the words that name a part or a neighbour of it."""
    return _first((day, _before_or_after, _part, _at, _plain), raw, low, seen)


def _first(rules: Iterable[Rule], raw: list[str], low: list[str], seen: Seen) -> DateMatch | None:
    return next((match for rule in rules if (match := rule(raw, low, seen))), None)


def named(raw: list[str], low: list[str], seen: Seen, *, bare: bool) -> DateMatch | None:
    """Read a date after a word such as `in`, where a bare month or year is a date too."""
    skip = 1 if low[0] in ARTICLES else 0
    raw, low = raw[skip:], low[skip:]
    rules: tuple[Rule, ...] = (day, _before_or_after, _part, _plain)
    match = _first(rules, raw, low, seen) or (bare_date(raw, low, seen) if bare else None)
    return match and (skip + match[0], match[1])


def _plain(raw: list[str], low: list[str], seen: Seen) -> DateMatch | None:
    """Read a date that needs no other word."""
    rules = (
        absolute.numeric, absolute.month, month, ago,
        absolute.year, absolute.quarter, absolute.season, season,
        holidays.dated, _of_date, period, weekday,
    )  # fmt: skip
    return _first(rules, raw, low, seen)


def bare_date(raw: list[str], low: list[str], seen: Seen) -> DateMatch | None:
    """Read a date that needs `since`, `in` or `between`: `May`, `2023`, `7/12`, `Sun`."""
    number = words.MONTHS.get(low[0])
    if number and raw[0] not in words.AMBIGUOUS_MONTHS:
        return 1, words.month_days(seen.today.year - (number > seen.today.month), number)
    year = words.as_year(low[0])
    if year and year <= seen.today.year + 1:
        return 1, words.year_days(year)
    if low[0] in ("h1", "h2"):
        half = int(low[0][1])
        return 1, words.begun(lambda year: words.half_days(year, half), seen.today)
    weekday = words.as_weekday(raw[0])
    if weekday is not None:
        return 1, words.one_day(words.recent(weekday, seen.today))
    return holidays.latest(raw, low, seen) or absolute.day_and_month(raw, low, seen)


def _at(raw: list[str], low: list[str], seen: Seen) -> DateMatch | None:
    """Read `in May`, `in 2023`, `im Mai`, `on Sun`."""
    if low[0] in holidays.AT_WORDS:
        match = holidays.latest(raw[1:], low[1:], seen)
        return match and (1 + match[0], match[1])
    if low[0] not in words.AT_WORDS or low[1] in words.WEEKDAYS or _plain(raw[1:], low[1:], seen):
        return None
    if "/" in low[1] and low[0] in _WITHIN_WORDS:  # in 1/2 of them
        return None
    match = bare_date(raw[1:], low[1:], seen)
    return match and (1 + match[0], match[1])


def _before_or_after(raw: list[str], low: list[str], seen: Seen) -> DateMatch | None:
    """Read `the week before 3 May`, `Friday after 3 May`, `two weeks before 3 May`."""
    at, number = 0, words.as_number(low[0])
    if low[0] in words.LAST_WORDS or low[0] in words.NEXT_WORDS or number is not None:
        at = 1
    unit, weekday = words.UNITS.get(low[at]), words.as_weekday(raw[at])
    side = low[at + 1]
    if side not in words.BEFORE_WORDS and side not in words.AFTER_WORDS:
        return None
    match = named(raw[at + 2 :], low[at + 2 :], seen, bare=True)
    if match is None:
        return None
    (first, last), is_before = match[1], side in words.BEFORE_WORDS
    if unit is None:
        if weekday is None:
            return None
        other = words.recent(weekday, first - timedelta(1) if is_before else last + timedelta(7))
        return at + 2 + match[0], words.one_day(other)
    if number is not None and (number > 1 or unit == words.DAY):
        count = number if is_before else -number
        return at + 2 + match[0], words.back(unit, count, first if is_before else last)
    return at + 2 + match[0], _next_to(unit, first, last, is_before=is_before)


def _next_to(unit: int, first: date, last: date, *, is_before: bool) -> Days:
    """Return the day, weekend or length of time next to a range of days.

    A week, month or year ends next to the day from which it is counted.
    """
    day = timedelta(1)
    if unit == words.WEEKEND:
        sunday = words.recent(6, first - day) if is_before else words.recent(6, last + 7 * day)
        return sunday - day, sunday
    if unit == words.DAY:
        return words.one_day(first - day if is_before else last + day)
    if is_before:
        return words.before(unit, 1, first), first - day
    return last + day, words.before(unit, -1, last)


def _part(raw: list[str], low: list[str], seen: Seen) -> DateMatch | None:
    """Read `early May 2023`, `end of March`, `Mitte Mai`, `first half of 2023`, `mid-May`."""
    if low[0].startswith("mid-"):
        raw, low = ["mid", raw[0][4:], *raw[1:]], ["mid", low[0][4:], *low[1:]]
        match = _part(raw, low, seen)
        return match and (match[0] - 1, match[1])
    number = _THIRDS.get(low[0])
    ordinal = words.ORDINALS.get(low[0])
    at = 1 if number is not None else 2
    is_half = low[1] in _HALVES and ordinal in (1, 2)
    is_week = low[1] == "week" and (ordinal is not None or low[0] == "last")
    if number is None and not is_half and not (is_week and low[2] == "of"):
        return None
    at += low[at] in ("of", "des", "von")
    match = named(raw[at:], low[at:], seen, bare=True)
    if match is None or (match[1][1] - match[1][0]).days + 1 < _MONTH_LENGTH:
        return None
    days = match[1]
    if number is not None:
        return at + match[0], words.share(days, number, 3)
    if is_half:
        return at + match[0], words.share(days, (ordinal or 1) - 1, 2)
    last = timedelta(6)
    if ordinal is None:
        return at + match[0], (days[1] - last, days[1])
    first = days[0] + timedelta(7 * (ordinal - 1))
    return at + match[0], (first, first + last)


def _of_date(raw: list[str], low: list[str], seen: Seen) -> DateMatch | None:
    """Read `the week of 8 May`, `the weekend of 8 May`."""
    unit = words.UNITS.get(low[0])
    if unit not in (words.WEEK, words.WEEKEND) or low[1] != "of":
        return None
    match = named(raw[2:], low[2:], seen, bare=False)
    return match and (2 + match[0], words.back(unit, 0, match[1][0]))


_AGO = ("ago", "назад")


def day(raw: list[str], low: list[str], seen: Seen) -> DateMatch | None:
    """Read `today`, `gestern`, `the day before yesterday`, `last night`."""
    if low[0] == "day" and low[1:3] in (["before", "yesterday"], ["after", "tomorrow"]):
        return 3, words.back(words.DAY, 2 if low[1] == "before" else -2, seen.today)
    if low[0] in words.DAY_WORDS:
        return 1, words.back(words.DAY, -words.DAY_WORDS[low[0]], seen.today)
    if low[0] in words.THIS_WORDS and low[1] in ("morning", "afternoon", "evening"):
        return 2, words.one_day(seen.today)
    return (2, words.back(words.DAY, 1, seen.today)) if low[:2] == ["last", "night"] else None


def ago(raw: list[str], low: list[str], seen: Seen) -> DateMatch | None:
    """Read `3 days ago`, `a week ago`, `vor zwei Wochen`: the day, or the whole week it was."""
    if low[:3] == ["a", "couple", "of"] and low[4] == "ago" and low[3] in words.UNITS:
        return 5, words.back(words.UNITS[low[3]], 2, seen.today)
    skip = low[0] == "vor"
    number, unit = words.as_number(low[skip]), words.UNITS.get(low[skip + 1], words.WEEKEND)
    if number is None or unit == words.WEEKEND or not (skip or low[2] in _AGO):
        return None
    return 3, words.back(unit, number, seen.today)


def period(raw: list[str], low: list[str], seen: Seen) -> DateMatch | None:
    """Read `last week`, `this month`, `next Friday`, `the past 7 days`, `letzten Monat`."""
    today = seen.today
    unit = words.UNITS.get(low[1], words.DAY)
    if low[0] in words.BEFORE_LAST_WORDS and unit != words.DAY:
        return 2, words.back(unit, 2, today)
    if low[0] == "week" and low[1:3] == ["before", "last"]:
        return 3, words.back(words.WEEK, 2, today)
    is_last, is_next = low[0] in words.LAST_WORDS, low[0] in words.NEXT_WORDS
    if not is_last and not is_next and low[0] not in words.THIS_WORDS:
        return None
    number, many = words.as_number(low[1]), words.UNITS.get(low[2], words.WEEKEND)
    if number is not None and many != words.WEEKEND and (is_last or is_next):
        far = words.before(many, number if is_last else -number, today)
        return 3, (min(far, today), max(far, today))
    if unit != words.DAY:
        if low[0] == "past" and unit != words.WEEKEND:
            return 2, (words.before(unit, 1, today), today)
        return 2, words.back(unit, is_last - is_next, today)
    weekday = words.as_weekday(raw[1])
    if weekday is None:
        return None
    if is_last or is_next:
        return 2, words.one_day(words.recent(weekday, today + timedelta(7 if is_next else -1)))
    return 2, words.one_day(words.back(words.WEEK, 0, today)[0] + timedelta(weekday))


def weekday(raw: list[str], low: list[str], seen: Seen) -> DateMatch | None:
    """Read `Tuesday`, `Tuesday last week`."""
    weekday = words.WEEKDAYS.get(low[0])
    if weekday is None:
        return None
    if words.UNITS.get(low[2]) == words.WEEK and (
        low[1] in words.LAST_WORDS or low[1] in words.NEXT_WORDS
    ):
        week = words.back(words.WEEK, 1 if low[1] in words.LAST_WORDS else -1, seen.today)
        return 3, words.one_day(week[0] + timedelta(weekday))
    return 1, words.one_day(words.recent(weekday, seen.today))


def month(raw: list[str], low: list[str], seen: Seen) -> DateMatch | None:
    """Read `last May`, `this March`, `next June`; a lower-case `may` is a verb."""
    number, shift = words.MONTHS.get(low[1]), words.shift_of(low[0])
    if number is None or raw[1] in words.AMBIGUOUS_MONTHS or absolute.month(raw[1:], low[1:], seen):
        return None
    if shift is None:
        return None
    is_over = (number - seen.today.month) * shift >= 0  # this year it has not been, or is over
    return 2, words.month_days(seen.today.year - shift * is_over, number)


def season(raw: list[str], low: list[str], seen: Seen) -> DateMatch | None:
    """Read `last winter`, `this summer`, `letzten Sommer`."""
    shift, name = words.shift_of(low[0]), words.SEASONS.get(low[1])
    if shift is None or name is None:
        return None
    return 2, words.near_season(name, shift, seen.today)
