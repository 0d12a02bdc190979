"""Finds the dates that a text names in English, German or Chinese; it reads no clock.

A small grammar over tables, because a date library costs more than the search. Words that
are also something else (`may`, `march`, `sun`) are dates only beside a number or after a
preposition, and what is not in the calendar is no date. What a date is good for is left
to the caller.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta
from itertools import pairwise

from memcli.record import Record
from memcli.search.date_words import (
    AMBIGUOUS_MONTHS,
    AT_WORDS,
    DAY,
    DAY_WORDS,
    LAST_WORDS,
    MONTHS,
    NEAR_YEARS,
    THIS_WORDS,
    UNITS,
    WEEK,
    WEEKDAYS,
    WEEKEND,
    YEAR,
    YEAR_WORDS,
    Days,
    as_number,
    as_weekday,
    as_year,
    back,
    before,
    latest,
    month_days,
    one_day,
    recent,
    year_days,
)

MAX_CHARS = 10_000  # dates stand in questions, not in pasted documents


class DateSpan(Record):
    """A stretch of days, both ends inclusive, and the words that name it."""

    start: str  # YYYY-MM-DD
    end: str
    text: str
    at: int  # where the words begin


_Found = tuple[int, Days]  # how many words were read, and what they mean

# A word with what hangs on it, so that a path, a version or an id is one word and no date.
_WORD = re.compile(r"[0-9A-Za-z_À-ɏ]+(?:[./:'’-][0-9A-Za-z_À-ɏ]+)*")
_GAP = 3  # characters between the words of one date: a space, a comma, an ordinal's dot
_BAD_BEFORE = tuple("#$€£¥@/\\~-.")
_BAD_AFTER = tuple("%°€£¥/\\")
_ORDINAL = re.compile(r"(\d\d?)(st|nd|rd|th)?")
# `re` compiles the next two at their first use: a word with a digit, a text with a sign.
_NUMERIC = (
    r"(\d{4})([-/])(\d\d?)\2(\d\d?)(?:T[\d:.]+Z?)?|((?:19|20)\d\d)(\d\d)(\d\d)"
    r"|(\d\d?)\.(\d\d?)\.(\d{4})|((?:19|20)\d\d)-(\d\d)"
)
# The number of a weekday may belong to what follows: 上周一直 (all of last week), 上周三个会
# (three meetings last week).
_CHINESE_SIGNS = frozenset("天日周週期拜月年昨今")
_CHINESE = (
    r"(?<!\d)(?P<year>(?:19|20)\d\d)年(?:(?P<m>\d\d?)月(?:(?P<d>\d\d?)[日号號]?)?)?"
    r"|(?P<near>[去今前]年)?(?<![\d个個])(?P<month>\d\d?|十[一二]?|[一二三四五六七八九])月"
    r"(?:(?P<day>\d\d?)[日号號]|份)?"
    r"|(?<!\d)(?P<n>\d{1,3}|[一二两兩三四五六七八九十])[个個]?"
    r"(?P<unit>天|日|周|週|星期|礼拜|禮拜|月|年)[之以]?前"
    r"|(?P<which>[上这這本])[个個]?(?P<period>周末|週末|月)"
    r"|(?:(?P<of>[上这這本])[个個]?|(?<![个個下每隔\d一二两兩三四五六七八九十]))"
    r"(?:周|週|星期|礼拜|禮拜)"
    r"(?P<weekday>[一二三四五六日天](?![直些起样樣边邊共般个個次定天场場位名件]))?"
    r"|(?P<word>大前天|前天|昨[天日晚]|今[天日晚早]|明天|[去今前]年)"
)


def find_dates(text: str, today: date) -> tuple[DateSpan, ...]:
    """Find the dates named in the text, in order and without overlap."""
    text = text[:MAX_CHARS]
    found: list[DateSpan] = []
    if not text.isascii() and not _CHINESE_SIGNS.isdisjoint(text):
        found += _chinese(text, today)
    taken = {at for span in found for at in range(span.at, span.at + len(span.text))}
    # In `in 2023年5月` the year is taken.
    found += [s for s in _latin(text, today) if taken.isdisjoint(range(s.at, s.at + len(s.text)))]
    return tuple(sorted(found, key=lambda span: span.at))


def parse_date(text: str, today: date) -> DateSpan:
    """Read a text that is a date as a whole; anything else is a ValueError."""
    text = text.strip()
    # What a lone word needs beside it in a sentence, it does not need here.
    for lead, body in (("", text), ("in ", text), ("in ", text.title()), ("on ", text.title())):
        for span in find_dates(lead + body, today):
            if span.at <= len(lead) and span.at + len(span.text) == len(lead + body):
                return DateSpan(span.start, span.end, text, 0)
    if re.fullmatch(_NUMERIC, text):
        raise ValueError(f"{text} is not in the calendar")
    raise ValueError(
        f"{text!r} is not a date: write 2026-02-10, 2026-02, yesterday, 'last week', "
        "'3 days ago' or 'May 2023'"
    )


def _latin(text: str, today: date) -> Iterator[DateSpan]:
    words = [
        match
        for match in _WORD.finditer(text)
        if not text.startswith(_BAD_AFTER, match.end())
        and not text.endswith(_BAD_BEFORE, 0, match.start())
    ]
    at = 0
    while at < len(words):
        near = words[at : at + 5]
        for n, (one, two) in enumerate(pairwise(near), 1):
            gap = text[one.end() : two.start()]
            if len(gap) > _GAP or gap.strip() not in ("", ",", "."):
                near = near[:n]
                break
        raw = [match[0].removesuffix("'s").removesuffix("’s") for match in near] + [""] * 5
        found = _read(raw, [word.lower() for word in raw], today)
        if found is None:
            at += 1
            continue
        count, (first, last) = found
        start, end = near[0].start(), near[count - 1].start() + len(raw[count - 1])
        yield DateSpan(first.isoformat(), last.isoformat(), text[start:end], start)
        at += count


def _read(raw: list[str], low: list[str], today: date) -> _Found | None:
    """Read the date that begins with the first word."""
    for rule in (_numeric, _month, _named_month, _day, _ago, _year, _period, _weekday):
        try:
            found = rule(raw, low, today)
        except (ValueError, OverflowError):  # not in the calendar
            return None
        if found is not None:
            return found
    return None


def _numeric(raw: list[str], low: list[str], today: date) -> _Found | None:
    match = re.fullmatch(_NUMERIC, raw[0]) if raw[0][:1].isdigit() else None
    if not match:
        return None
    if match[11]:
        return 1, month_days(int(match[11]), int(match[12]))
    forms = match.group(1, 3, 4), match.group(5, 6, 7), match.group(10, 9, 8)
    return 1, one_day(date(*(int(part) for form in forms for part in form if part)))


def _month(raw: list[str], low: list[str], today: date) -> _Found | None:
    """Read `7 May 2023`, `7th of May`, `7. Mai`, `May 7th, 2023`, `May 2023`."""
    day = _ORDINAL.fullmatch(low[0])
    at = (2 if low[1] == "of" else 1) if day else 0
    name = raw[at]
    number = MONTHS.get(low[at])
    if number is None:
        return None
    at += 1
    if not day and (day := _ORDINAL.fullmatch(low[at])):
        at += 1
    year_at = at + (low[at] == "of")
    if year := as_year(low[year_at]):
        days = one_day(date(year, number, int(day[1]))) if day else month_days(year, number)
        return year_at + 1, days
    if not day or (name in AMBIGUOUS_MONTHS and not day[2]):  # as it is written: it may 7 times
        return None
    return at, one_day(latest(today, number, int(day[1])))


def _named_month(raw: list[str], low: list[str], today: date) -> _Found | None:
    """Read `in May`, `since March`, `last May`; a lower-case `may` is a verb."""
    number = MONTHS.get(low[1])
    if number is None or raw[1] in AMBIGUOUS_MONTHS or _month(raw[1:], low[1:], today):
        return None
    if low[0] in THIS_WORDS:
        return 2, month_days(today.year, number)
    if low[0] in AT_WORDS or low[0] in LAST_WORDS:
        this_year = number < today.month + (low[0] in AT_WORDS)
        return 2, month_days(today.year - (not this_year), number)
    return None


def _year(raw: list[str], low: list[str], today: date) -> _Found | None:
    """Read `in 2023`, `year 2023`; a year alone is a number."""
    year = as_year(low[1])
    if year and year <= today.year + 1 and (low[0] in AT_WORDS or low[0] in YEAR_WORDS):
        return 2, year_days(year)
    return None


def _day(raw: list[str], low: list[str], today: date) -> _Found | None:
    if low[:3] == ["day", "before", "yesterday"]:
        return 3, back(DAY, 2, today)
    if low[0] in DAY_WORDS:
        return 1, back(DAY, -DAY_WORDS[low[0]], today)
    if low[0] in THIS_WORDS and low[1] in ("morning", "afternoon", "evening"):
        return 2, one_day(today)
    return (2, back(DAY, 1, today)) if low[:2] == ["last", "night"] else None


def _ago(raw: list[str], low: list[str], today: date) -> _Found | None:
    """Read `3 days ago`, `a week ago`, `vor zwei Wochen`: the day, or the whole week it was."""
    skip = low[0] == "vor"
    number, unit = as_number(low[skip]), UNITS.get(low[skip + 1], WEEKEND)
    if number is None or unit == WEEKEND or not (skip or low[2] == "ago"):
        return None
    return 3, back(unit, number, today)


def _period(raw: list[str], low: list[str], today: date) -> _Found | None:
    """Read `last week`, `this month`, `last Friday`, `the past 7 days`, `letzten Monat`."""
    is_last = low[0] in LAST_WORDS
    if not is_last and low[0] not in THIS_WORDS:
        return None
    number, unit = as_number(low[1]), UNITS.get(low[2], WEEKEND)
    if is_last and number is not None and unit != WEEKEND:
        return 3, (before(unit, number, today), today)
    unit = UNITS.get(low[1], DAY)
    if unit != DAY:
        if low[0] == "past" and unit != WEEKEND:
            return 2, (before(unit, 1, today), today)
        return 2, back(unit, int(is_last), today)
    weekday = as_weekday(raw[1])
    if weekday is None:
        return None
    if is_last:
        return 2, one_day(recent(weekday, today - timedelta(1)))
    return 2, one_day(back(WEEK, 0, today)[0] + timedelta(weekday))


def _weekday(raw: list[str], low: list[str], today: date) -> _Found | None:
    """Read `Tuesday`, `on Tue`, `Tuesday last week`."""
    weekday = WEEKDAYS.get(low[0])
    if weekday is not None:
        if low[1] in LAST_WORDS and UNITS.get(low[2]) == WEEK:
            return 3, one_day(back(WEEK, 1, today)[0] + timedelta(weekday))
        return 1, one_day(recent(weekday, today))
    weekday = as_weekday(raw[1])
    if weekday is None or low[0] not in AT_WORDS or low[1] in WEEKDAYS:
        return None
    return 2, one_day(recent(weekday, today))


def _chinese(text: str, today: date) -> Iterator[DateSpan]:
    for match in re.finditer(_CHINESE, text):
        try:
            days = _read_chinese(match, today)
        except (ValueError, OverflowError):  # not in the calendar
            continue
        if days:
            yield DateSpan(days[0].isoformat(), days[1].isoformat(), match[0], match.start())


def _read_chinese(match: re.Match[str], today: date) -> Days | None:
    if match["year"]:
        year, month, day = int(match["year"]), match["m"], match["d"]
        if day:
            return one_day(date(year, int(month), int(day)))
        return month_days(year, int(month)) if month else year_days(year)
    if match["month"]:
        return _chinese_month(match, today)
    if match["n"]:
        return back(UNITS[match["unit"]], as_number(match["n"]) or 0, today)
    if match["period"]:
        return back(UNITS[match["period"]], int(match["which"] == "上"), today)
    if match["word"]:
        if match["word"] in NEAR_YEARS:
            return back(YEAR, NEAR_YEARS[match["word"]], today)
        return back(DAY, -DAY_WORDS[match["word"]], today)
    if not match["weekday"]:
        return back(WEEK, int(match["of"] == "上"), today) if match["of"] else None
    weekday = "一二三四五六日".find(match["weekday"]) % 7  # 天 is not found: -1, Sunday
    if not match["of"]:
        return one_day(recent(weekday, today))
    return one_day(back(WEEK, int(match["of"] == "上"), today)[0] + timedelta(weekday))


def _chinese_month(match: re.Match[str], today: date) -> Days:
    number = as_number(match["month"]) or 10 + (as_number(match["month"][1:]) or 0)
    if match["near"]:
        year = today.year - NEAR_YEARS[match["near"]]
        day = match["day"]
        return one_day(date(year, number, int(day))) if day else month_days(year, number)
    if match["day"]:
        return one_day(latest(today, number, int(match["day"])))
    return month_days(today.year - (number > today.month), number)
