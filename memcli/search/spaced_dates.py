"""The grammar of dates in English and German; pure.

A text is cut into words, and at each word the rules are tried in order: what joins two dates or
bounds a stretch of time by one comes before what is a date by itself. Words that are also
something else (`may`, `march`, `sun`, a year, `Q3`) are dates only beside a number or after a
word that asks for one, and what is not in the calendar is no date.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from itertools import pairwise

from memcli.record import Record
from memcli.search.date_words import (
    AFTER_WORDS,
    AMBIGUOUS_MONTHS,
    AT_WORDS,
    BEFORE_LAST_WORDS,
    BEFORE_WORDS,
    DAY,
    DAY_WORDS,
    EXCEPT_WORDS,
    LAST_WORDS,
    MONTHS,
    NEXT_WORDS,
    ORDINALS,
    QUARTER,
    SEASONS,
    SINCE_WORDS,
    THIS_WORDS,
    UNITS,
    UNTIL_WORDS,
    WEEK,
    WEEKDAYS,
    WEEKEND,
    YEAR_WORDS,
    Days,
    Reading,
    as_number,
    as_weekday,
    as_year,
    back,
    before,
    half,
    half_days,
    latest,
    month_days,
    near_season,
    one_day,
    quarter_days,
    recent,
    season_days,
    third,
    year_days,
)


class Seen(Record):
    """Where dates are read from: the day, and how 7/12/2023 is meant."""

    today: date
    day_first: bool


_Found = tuple[int, Days]  # how many words were read, and what they mean
_Rule = Callable[[list[str], list[str], Seen], _Found | None]

# A word with what hangs on it, so that a path, a version or an id is one word and no date; or a
# dash that joins two dates.
_WORD = re.compile(
    r"[0-9A-Za-z_À-ɏ]+(?:[./:'’–-][0-9A-Za-z_À-ɏ]+)*|(?<=\s)[-–—](?=\s)|(?<=\d\.)[-–](?=\d)|(?<=\w)\.\.(?=\w)"
)
_JOINTS = frozenset("-–—") | {".."}
_JOINED = ("..", ".-", ".–")  # what may end right before a date, for all of _BAD_BEFORE
_GAP = 3  # characters between the words of one date: a space, a comma, an ordinal's dot
_LONGEST = 14  # words: between the 11th of August 2023 and the 15th of August 2023
_BAD_BEFORE = tuple("#$€£¥@/\\~-.")
_BAD_AFTER = tuple("%°€£¥/\\")
_ORDINAL = re.compile(r"(\d\d?)(?:st|nd|rd|th)?(?:[-–](\d\d?)(?:st|nd|rd|th)?)?")
# `re` compiles the next ones at their first use: a word with a digit.
NUMERIC = (
    r"(\d{4})([-/])(\d\d?)\2(\d\d?)(?:T[\d:.]+Z?)?|((?:19|20)\d\d)(\d\d)(\d\d)"
    r"|(\d\d?)\.(\d\d?)\.(\d{4})|(\d\d)\.(\d\d)\.(\d\d)|((?:19|20)\d\d)-(\d\d)"
)
SLASHED = r"(\d\d?)/(\d\d?)/((?:19|20)?\d\d)"
_PART_OF_YEAR = r"([QqHh])([1-4])(?:[-/]?((?:19|20)\d\d))?|((?:19|20)\d\d)[-/]?([QqHh])([1-4])"
_CENTURY = 2000  # of a year of two digits
_MONTH_LENGTH = 28  # days, from which a stretch has a beginning, a middle and an end

_BETWEEN = {"between": ("and",), "zwischen": ("und",)}
_FROM = {"from": ("to", "until", "till", "through"), "von": ("bis",), "vom": ("bis",)}
_TO = ("to", "through", "bis")
_ARTICLES = ("the", "dem", "den", "der", "das")
_THIRDS = {
    "early": 0, "beginning": 0, "start": 0, "anfang": 0, "mid": 1, "middle": 1, "mitte": 1,
    "late": 2, "end": 2, "ende": 2,
}  # fmt: skip
_HALVES = ("half", "hälfte")
_NEARLY = ("shortly", "just", "right", "kurz")
# Of what lies later or earlier than a day.
_EARLIER, _LATER, _THAN = ("earlier", "früher"), ("later", "später"), ("than", "als")
# Was it not in June? Haben wir nicht gestern gesagt ...? Why not today? They ask of that day.
_SUBJECTS = (
    "i", "you", "he", "she", "it", "we", "they", "this", "that", "there",
    "ich", "du", "er", "sie", "es", "wir", "ihr", "man", "das",
)  # fmt: skip
_WHY = ("why", "warum", "wieso", "weshalb", "or", "oder")
# Names of other things, and what comes again and again.
_NAMES_BEFORE_A_WEEKDAY = (
    "every", "each", "jeden", "jede", "black", "good", "cyber", "ash", "palm", "easter", "casual",
    "shrove", "maundy",
)  # fmt: skip
NEWEST = (
    "latest", "newest", "most recent", "most recently", "last time", "neueste", "neuesten",
    "neuester", "neuestes", "jüngste", "jüngsten", "zuletzt", "letztes mal", "letzten mal",
)  # fmt: skip
OLDEST = ("earliest", "oldest", "first time", "früheste", "frühesten", "erstes mal", "ersten mal")
# Records of which there is one after the other.
_SEQUENCES = (
    "session", "sessions", "meeting", "meetings", "entry", "entries", "note", "notes",
    "conversation", "conversations", "chat", "message", "mention", "sitzung", "treffen",
    "besprechung", "eintrag", "notiz", "gespräch",
)  # fmt: skip
# What someone owns or counts is no matter of time: his first car.
_OWNERS = (
    "my", "your", "his", "her", "its", "our", "their", "mein", "meine", "meinen", "sein", "seine",
    "seinen", "ihr", "ihre", "ihren", "unser", "unsere", "unseren",
)  # fmt: skip
# Behind `first` and `last` they are no matter of time.
_NOT_IN_TIME = (
    "place", "prize", "aid", "class", "floor", "name", "names", "half", "row", "line", "resort",
    "one", "stand", "platz", "hilfe",
)  # fmt: skip


def read(text: str, today: date, *, day_first: bool) -> Iterator[tuple[int, int, Reading]]:
    """Find dates: where the words of each begin and end, and what they mean."""
    words = [
        match
        for match in _WORD.finditer(text)
        if not text.startswith(_BAD_AFTER, match.end())
        and (
            not text.endswith(_BAD_BEFORE, 0, match.start())
            or text.endswith(_JOINED, 0, match.start())
            or match[0] in _JOINTS
        )
    ]
    seen, at = Seen(today, day_first), 0
    asks_when = text.lstrip().lower().startswith(("when ", "wann "))
    previous = ""
    while at < len(words):
        near = _together(text, words[at : at + _LONGEST])
        raw = [match[0].removesuffix("'s").removesuffix("’s") for match in near] + [""] * 5
        low = [word.lower() for word in raw]
        is_plain = low[0] in EXCEPT_WORDS and (
            previous in _WHY or (at == 2 and previous in _SUBJECTS)
        )
        skipped = 1 if is_plain else _other(low)
        # When did we first meet, but: when did we get our first car.
        is_wish = asks_when and previous not in _OWNERS
        found = None if skipped else _read(raw, low, seen) or _order(low, asks_when=is_wish)
        if found:
            count, reading = found
            yield near[0].start(), near[count - 1].start() + len(raw[count - 1]), reading
        previous = low[0]
        at += found[0] if found else skipped or 1


def is_ambiguous(text: str) -> bool:
    """Tell whether a date in numbers could be meant in both orders: 7/12/2023."""
    match = re.search(rf"(?<!\d){SLASHED}(?!\d)", text)
    return bool(match and match[1] != match[2] and max(int(match[1]), int(match[2])) <= 12)


def _together(text: str, words: list[re.Match[str]]) -> list[re.Match[str]]:
    """Give the first words up to a gap that no date bridges."""
    for n, (one, two) in enumerate(pairwise(words), 1):
        gap = text[one.end() : two.start()]
        if len(gap) > _GAP or gap.strip() not in ("", ",", "."):
            return words[:n]
    return words


def _other(low: list[str]) -> int:
    """Count the words of what only looks like a date: every Monday, Black Friday, New Year 2025."""
    if low[0] in _NAMES_BEFORE_A_WEEKDAY and low[1] in WEEKDAYS:
        return 2
    if low[0] == "new" and low[1] == "year" and as_year(low[2]):
        return 3
    # Shortly before a day is near it, which is what a day that is named stands for.
    if low[0] in _NEARLY and (low[1] in BEFORE_WORDS or low[1] in AFTER_WORDS):
        return 2
    return 2 if low[:2] == ["usa", "today"] else 0


def _read(raw: list[str], low: list[str], seen: Seen) -> tuple[int, Reading] | None:
    """Read the date that begins with the first word."""
    try:
        if low[0] in EXCEPT_WORDS or low[0] == "no":
            return _excepted(raw, low, seen)
        joined = _joined(raw, low, seen)
        if joined:
            return joined[0], Reading(*joined[1])
        if low[0] == "day" or (low[0] == "vor" and as_number(low[1]) is not None):
            found = _one(raw, low, seen)  # the day before yesterday, vor drei Tagen
            return found and (found[0], Reading(*found[1]))
        if bounded := _bounded(raw, low, seen):
            return bounded
        found = _one(raw, low, seen)
    except (ValueError, OverflowError):  # not in the calendar
        return None
    return found and (found[0], Reading(*found[1]))


def _excepted(raw: list[str], low: list[str], seen: Seen) -> tuple[int, Reading] | None:
    """Read `not before August`, `no later than May`, `nicht im Juni`, `except last week`."""
    inner = _bounded(raw[1:], low[1:], seen)
    if inner is not None:
        count, bound = inner
        if low[1] == "until":  # not until August is in August or later
            found = _named(raw[2:], low[2:], seen, bare=True)
            return found and (1 + count, Reading(found[1][0]))
        day = timedelta(1)
        if bound.last:
            return 1 + count, Reading(bound.last + day)
        return (1 + count, Reading(None, bound.first - day)) if bound.first else None
    if low[0] == "no":
        return None
    if found := _joined(raw[1:], low[1:], seen):
        return 1 + found[0], Reading(*found[1], excluded=True)
    at = 2 if low[1] in AT_WORDS else 1
    is_bare = at > 1 or low[0] not in ("not", "nicht")  # not 2000 but 3000 are amounts
    found = _named(raw[at:], low[at:], seen, bare=is_bare)
    return found and (at + found[0], Reading(*found[1], excluded=True))


def _order(low: list[str], *, asks_when: bool) -> tuple[int, Reading] | None:
    """Read `latest`, `most recent`, `the first session`; `when did we first ...`."""
    for words, order in ((NEWEST, "newest"), (OLDEST, "oldest")):
        count = 1 if low[0] in words else 2 if f"{low[0]} {low[1]}" in words else 0
        if count and low[:2] != ["latest", "by"]:
            return count, Reading(order=order)
    is_last, is_first = low[0] in LAST_WORDS, low[0] in ("first", "erste", "ersten", "erstes")
    if (is_last or is_first) and (
        low[1] in _SEQUENCES or (asks_when and low[1] not in _NOT_IN_TIME)
    ):
        return 1, Reading(order="newest" if is_last else "oldest")
    return None


def _joined(raw: list[str], low: list[str], seen: Seen) -> _Found | None:
    """Read two dates with what joins them: `between May and July 2023`, `from A to B`, `A - B`."""
    lead, ends = 1, _BETWEEN.get(low[0]) or _FROM.get(low[0])
    if ends is None:
        lead, ends = 0, (*_TO, *_JOINTS)
    first = _named(raw[lead:], low[lead:], seen, bare=lead > 0)
    begin_day = None if first else _day_of_month(low[lead:])
    if first is None and begin_day is None:
        return None
    at = lead + (first or begin_day or (0,))[0]
    if low[at] not in ends and not (lead and low[at] in _JOINTS):
        return None
    last = _named(raw[at + 1 :], low[at + 1 :], seen, bare=True)
    if begin_day:  # from the 3rd to the 7th of May
        if last is None or last[1][0] != last[1][1]:
            return None
        return at + 1 + last[0], (last[1][0].replace(day=begin_day[1]), last[1][0])
    if first is None:
        return None
    if last is None:
        return _to_day(raw, low, (lead, at), first[1], seen)
    # The year of one is that of the other: between August 11 and August 15 2023.
    after = at + 1 + last[0]
    first_year, last_year = _year_in(low[lead:at]), _year_in(low[at + 1 : after])
    begin, end = first[1], last[1]
    if last_year and not first_year:
        begin = _with_year(raw[lead:at], last_year, seen) or begin
    elif first_year and not last_year:
        end = _with_year(raw[at + 1 : after], first_year, seen) or end
    elif not first_year and begin[0] > end[1]:
        begin = _with_year(raw[lead:at], str(end[1].year - 1), seen) or begin
    return (after, (begin[0], end[1])) if begin[0] <= end[1] else None


def _day_of_month(low: list[str]) -> tuple[int, int] | None:
    """Read `3`, `the 3rd`: how many words, and which day."""
    skip = 1 if low[0] in _ARTICLES else 0
    match = _ORDINAL.fullmatch(low[skip])
    return (skip + 1, int(match[1])) if match and not match[2] else None


def _to_day(
    raw: list[str], low: list[str], span: tuple[int, int], begin: Days, seen: Seen
) -> _Found | None:
    """Read the day that ends `May 3 to 7, 2023`, behind the date that stands in `span`."""
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
    """Give the year that words name, as it is written."""
    return next((m[0] for word in low if (m := re.search(r"(?:19|20)\d\d", word))), "")


def _with_year(raw: list[str], year: str, seen: Seen) -> Days | None:
    words = [*raw, year]
    found = _named([*words, *[""] * 5], [*(w.lower() for w in words), *[""] * 5], seen, bare=True)
    return found[1] if found and found[0] == len(words) else None


def _bounded(raw: list[str], low: list[str], seen: Seen) -> tuple[int, Reading] | None:
    """Read `since May`, `until 2023`, `before last week`, `after 5 May`, `seit drei Tagen`."""
    skip = 1
    if low[1] in _THAN and low[0] in (*_EARLIER, *_LATER):
        raw = ["before" if low[0] in _EARLIER else "after", *raw[2:]]
        low = [raw[0], *low[2:]]
        skip = 2
    tables = (SINCE_WORDS, UNTIL_WORDS, BEFORE_WORDS, AFTER_WORDS)
    which = next((n for n, table in enumerate(tables) if low[0] in table), None)
    if which is None or low[1] in _JOINTS:
        return None
    number, unit = as_number(low[1]), UNITS.get(low[2], WEEKEND)
    if low[0] == "seit" and number is not None and unit != WEEKEND:
        return 3, Reading(before(unit, number, seen.today), None)
    found = _named(raw[1:], low[1:], seen, bare=True)
    if found is None:
        return None
    count, (first, last) = found
    day = timedelta(1)
    bounds = ((first, None), (None, last), (None, first - day), (last + day, None))
    return skip + count, Reading(*bounds[which])


def _one(raw: list[str], low: list[str], seen: Seen) -> _Found | None:
    """Read one date, with what tells which part or neighbour of it is meant."""
    rules: tuple[_Rule, ...] = (_day, _beside, _part, _at)
    return next((found for rule in rules if (found := rule(raw, low, seen))), None) or _plain(
        raw, low, seen
    )


def _named(raw: list[str], low: list[str], seen: Seen, *, bare: bool) -> _Found | None:
    """Read a date behind a word that asks for one: there a bare month or year is a date too."""
    skip = 1 if low[0] in _ARTICLES else 0
    raw, low = raw[skip:], low[skip:]
    found = _day(raw, low, seen) or _beside(raw, low, seen) or _part(raw, low, seen)
    found = found or _plain(raw, low, seen) or (_bare(raw, low, seen) if bare else None)
    return found and (skip + found[0], found[1])


def _plain(raw: list[str], low: list[str], seen: Seen) -> _Found | None:
    """Read what is a date wherever it stands."""
    rules: tuple[_Rule, ...] = (
        _numeric, _month, _near_month, _ago, _year, _quarter, _season, _of_date, _period, _weekday,
    )  # fmt: skip
    return next((found for rule in rules if (found := rule(raw, low, seen))), None)


def _bare(raw: list[str], low: list[str], seen: Seen) -> _Found | None:
    """Read what is a date only behind `since`, `in`, `between`: `May`, `2023`, `Q3`, `Sun`."""
    number = MONTHS.get(low[0])
    if number and raw[0] not in AMBIGUOUS_MONTHS:
        return 1, month_days(seen.today.year - (number > seen.today.month), number)
    year = as_year(low[0])
    if year and year <= seen.today.year + 1:
        return 1, year_days(year)
    if match := re.fullmatch(_PART_OF_YEAR, raw[0]):
        part, number = quarter_days if match[1] in "Qq" else half_days, int(match[2])
        this_year = part(seen.today.year, number)
        return 1, this_year if this_year[0] <= seen.today else part(seen.today.year - 1, number)
    weekday = as_weekday(raw[0])
    return None if weekday is None else (1, one_day(recent(weekday, seen.today)))


def _at(raw: list[str], low: list[str], seen: Seen) -> _Found | None:
    """Read `in May`, `in 2023`, `im Mai`, `on Sun`; a date that needs no such word stands alone."""
    if low[0] not in AT_WORDS or low[1] in WEEKDAYS or _plain(raw[1:], low[1:], seen):
        return None
    found = _bare(raw[1:], low[1:], seen)
    return found and (1 + found[0], found[1])


def _numeric(raw: list[str], low: list[str], seen: Seen) -> _Found | None:
    if not raw[0][:1].isdigit():
        return None
    if match := re.fullmatch(SLASHED, raw[0]):
        one, two, year = int(match[1]), int(match[2]), int(match[3])
        is_day_first = one > 12 or (seen.day_first and two <= 12)
        day, month = (one, two) if is_day_first else (two, one)
        return 1, one_day(date(year if year > 99 else _CENTURY + year, month, day))
    match = re.fullmatch(NUMERIC, raw[0])
    if not match:
        return None
    if match[14]:
        return 1, month_days(int(match[14]), int(match[15]))
    if match[13]:
        return 1, one_day(date(_CENTURY + int(match[13]), int(match[12]), int(match[11])))
    forms = match.group(1, 3, 4), match.group(5, 6, 7), match.group(10, 9, 8)
    return 1, one_day(date(*(int(part) for form in forms for part in form if part)))


def _month(raw: list[str], low: list[str], seen: Seen) -> _Found | None:
    """Read `7 May 2023`, `7th of May`, `7. Mai`, `May 7th, 2023`, `May 3-7`, `May 2023`."""
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
        at = year_at + 1
        if not day:
            return at, month_days(year, number)
        first, last = (date(year, number, int(part)) for part in (day[1], day[2] or day[1]))
        return (at, (first, last)) if first <= last else None
    # As it is written: it may 7 times.
    if not day or (name in AMBIGUOUS_MONTHS and day[0].isdigit()):
        return None
    last = latest(seen.today, number, int(day[2] or day[1]))
    first = last.replace(day=int(day[1]))
    return (at, (first, last)) if first <= last else None


def _near_month(raw: list[str], low: list[str], seen: Seen) -> _Found | None:
    """Read `last May`, `this March`, `next June`; a lower-case `may` is a verb."""
    number, this_month = MONTHS.get(low[1]), seen.today.month
    if number is None or raw[1] in AMBIGUOUS_MONTHS or _month(raw[1:], low[1:], seen):
        return None
    if low[0] in THIS_WORDS:
        return 2, month_days(seen.today.year, number)
    if low[0] in LAST_WORDS:
        return 2, month_days(seen.today.year - (number >= this_month), number)
    if low[0] in NEXT_WORDS:
        return 2, month_days(seen.today.year + (number <= this_month), number)
    return None


def _year(raw: list[str], low: list[str], seen: Seen) -> _Found | None:
    """Read `year 2023`, `Jahr 2023`; a year alone is a number."""
    year = as_year(low[1])
    is_near = year and year <= seen.today.year + 1
    return (2, year_days(year)) if year and is_near and low[0] in YEAR_WORDS else None


def _quarter(raw: list[str], low: list[str], seen: Seen) -> _Found | None:
    """Read `Q3 2023`, `2023 Q3`, `Q3/2023`, `third quarter of 2023`, `3. Quartal 2023`."""
    at, low0 = 0, low[0]
    if match := re.fullmatch(_PART_OF_YEAR, low0) or re.fullmatch(_PART_OF_YEAR, low[1]):
        letter, number = match[1] or match[5], int(match[2] or match[6])
        year, at = match[3] or match[4], 1
        if not year and match.string == low0 and as_year(low[1]):
            year, at = low[1], 2
        elif match.string != low0:
            year, at = (low0, 2) if as_year(low0) and not year else (None, 0)
        if not year or (letter == "h" and number > 2):
            return None
        return at, (quarter_days if letter == "q" else half_days)(int(year), number)
    ordinal = ORDINALS.get(low0) or (int(low0) if low0 in ("1", "2", "3", "4") else 0)
    if not ordinal or UNITS.get(low[1]) != QUARTER:
        return None
    at = 3 if low[2] in ("of", "von") else 2
    year_number = as_year(low[at])
    return (at + 1, quarter_days(year_number, ordinal)) if year_number else None


def _season(raw: list[str], low: list[str], seen: Seen) -> _Found | None:
    """Read `summer 2024`, `summer of 2024`, `last winter`, `letzten Sommer`."""
    near = (THIS_WORDS, LAST_WORDS, NEXT_WORDS)
    shift = next((by for table, by in zip(near, (0, 1, -1), strict=True) if low[0] in table), None)
    if shift is not None:
        season = SEASONS.get(low[1])
        return None if season is None else (2, near_season(season, shift, seen.today))
    season, at = SEASONS.get(low[0]), 2 if low[1] == "of" else 1
    year = as_year(low[at])
    if season is None or not year:
        return None
    return at + 1, season_days(year, season)


def _day(raw: list[str], low: list[str], seen: Seen) -> _Found | None:
    if low[0] == "day" and low[1:3] in (["before", "yesterday"], ["after", "tomorrow"]):
        return 3, back(DAY, 2 if low[1] == "before" else -2, seen.today)
    if low[0] in DAY_WORDS:
        return 1, back(DAY, -DAY_WORDS[low[0]], seen.today)
    if low[0] in THIS_WORDS and low[1] in ("morning", "afternoon", "evening"):
        return 2, one_day(seen.today)
    return (2, back(DAY, 1, seen.today)) if low[:2] == ["last", "night"] else None


def _beside(raw: list[str], low: list[str], seen: Seen) -> _Found | None:
    """Read `the week before 3 May`, `Friday after 3 May`, `two weeks before 3 May`."""
    at, number = 0, as_number(low[0])
    if low[0] in LAST_WORDS or low[0] in NEXT_WORDS or number is not None:
        at = 1
    unit, weekday = UNITS.get(low[at]), as_weekday(raw[at])
    side = low[at + 1]
    if side not in BEFORE_WORDS and side not in AFTER_WORDS:
        return None
    found = _named(raw[at + 2 :], low[at + 2 :], seen, bare=True)
    if found is None:
        return None
    (first, last), is_before = found[1], side in BEFORE_WORDS
    if unit is None:
        if weekday is None:
            return None
        other = recent(weekday, first - timedelta(1) if is_before else last + timedelta(7))
        return at + 2 + found[0], one_day(other)
    if number is not None and (number > 1 or unit == DAY):
        count = number if is_before else -number
        return at + 2 + found[0], back(unit, count, first if is_before else last)
    return at + 2 + found[0], _next_to(unit, first, last, is_before=is_before)


def _next_to(unit: int, first: date, last: date, *, is_before: bool) -> Days:
    """Give the day, weekend or length of time that lies next to a stretch of days.

    A week, month or year reaches to the day beside the one that it is counted from.
    """
    day = timedelta(1)
    if unit == WEEKEND:
        sunday = recent(6, first - day) if is_before else recent(6, last + 7 * day)
        return sunday - day, sunday
    if unit == DAY:
        return one_day(first - day if is_before else last + day)
    if is_before:
        return before(unit, 1, first), first - day
    return last + day, before(unit, -1, last)


def _part(raw: list[str], low: list[str], seen: Seen) -> _Found | None:
    """Read `early May 2023`, `end of March`, `Mitte Mai`, `first half of 2023`, `mid-May`."""
    if low[0].startswith("mid-"):
        raw, low = ["mid", raw[0][4:], *raw[1:]], ["mid", low[0][4:], *low[1:]]
        found = _part(raw, low, seen)
        return found and (found[0] - 1, found[1])
    number = _THIRDS.get(low[0])
    ordinal = ORDINALS.get(low[0])
    at = 1 if number is not None else 2
    is_half = low[1] in _HALVES and ordinal in (1, 2)
    is_week = low[1] == "week" and (ordinal is not None or low[0] == "last")
    if number is None and not is_half and not (is_week and low[2] == "of"):
        return None
    at += low[at] in ("of", "des", "von")
    found = _named(raw[at:], low[at:], seen, bare=True)
    if found is None or (found[1][1] - found[1][0]).days + 1 < _MONTH_LENGTH:
        return None
    days = found[1]
    if number is not None:
        return at + found[0], third(days, number)
    if is_half:
        return at + found[0], half(days, ordinal or 1)
    last = timedelta(6)
    if ordinal is None:
        return at + found[0], (days[1] - last, days[1])
    first = days[0] + timedelta(7 * (ordinal - 1))
    return at + found[0], (first, first + last)


def _of_date(raw: list[str], low: list[str], seen: Seen) -> _Found | None:
    """Read `the week of 8 May`, `the weekend of 8 May`."""
    unit = UNITS.get(low[0])
    if unit not in (WEEK, WEEKEND) or low[1] != "of":
        return None
    found = _named(raw[2:], low[2:], seen, bare=False)
    return found and (2 + found[0], back(unit, 0, found[1][0]))


def _ago(raw: list[str], low: list[str], seen: Seen) -> _Found | None:
    """Read `3 days ago`, `a week ago`, `vor zwei Wochen`: the day, or the whole week it was."""
    if low[:3] == ["a", "couple", "of"] and low[4] == "ago" and low[3] in UNITS:
        return 5, back(UNITS[low[3]], 2, seen.today)
    skip = low[0] == "vor"
    number, unit = as_number(low[skip]), UNITS.get(low[skip + 1], WEEKEND)
    if number is None or unit == WEEKEND or not (skip or low[2] == "ago"):
        return None
    return 3, back(unit, number, seen.today)


def _period(raw: list[str], low: list[str], seen: Seen) -> _Found | None:
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


def _weekday(raw: list[str], low: list[str], seen: Seen) -> _Found | None:
    """Read `Tuesday`, `Tuesday last week`."""
    weekday = WEEKDAYS.get(low[0])
    if weekday is None:
        return None
    if UNITS.get(low[2]) == WEEK and (low[1] in LAST_WORDS or low[1] in NEXT_WORDS):
        week = back(WEEK, 1 if low[1] in LAST_WORDS else -1, seen.today)
        return 3, one_day(week[0] + timedelta(weekday))
    return 1, one_day(recent(weekday, seen.today))
