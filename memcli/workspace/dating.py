"""Find the days of a document or a heading.

They are one day, an ISO week or a month, given as its first and last day. The formats are listed in
`memcli help front-matter`. The modification time of a file is never a date.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from datetime import date, datetime, timedelta

from memcli.checking import Any
from memcli.types import Stretch, named_days

# Front matter with the time of writing, which may differ from the day that the file is about.
STAMPS = frozenset({"modified", "updated", "created"})

# Each digit run has a fixed length, so a search is linear and the matches of a form never overlap.
# Compiled at first use: a search dates nothing.
_DAY = (
    r"(?<![0-9])(?P<year>[0-9]{4})"
    r"(?:-(?P<dash>[0-9]{2})-|/(?P<slash>[0-9]{2})/|_(?P<low>[0-9]{2})_|(?P<none>[0-9]{2}))"
    r"(?P<day>[0-9]{2})(?![0-9])"
)
# With more numbers and dots around it, or after a v, it is a version.
_DOTTED_DAY = (
    r"(?<![0-9])(?<![0-9]\.)(?<![vV])(?P<year>[0-9]{4})\.(?P<dot>[0-9]{2})\.(?P<day>[0-9]{2})"
    r"(?![0-9]|\.[0-9])"
)
# Less of a date can be much else: part of a version, of a number of a phone, ticket or invoice, of
# a day that is not in the calendar. So letters and other numbers may not touch it.
_SPAN_YEAR = r"(?P<year>(?:19|20)[0-9]{2})"
_BEFORE, _AFTER = r"(?<![^\W_])(?<![0-9][-._])", r"(?![^\W_]|[-._][0-9])"
_MONTH = rf"{_BEFORE}{_SPAN_YEAR}-(?P<month>[0-9]{{2}}){_AFTER}"
_WEEK = rf"{_BEFORE}{_SPAN_YEAR}-[Ww](?P<week>[0-9]{{2}}){_AFTER}"
# The id of a note: 202503131542, to the minute or the second.
_ID = (
    r"(?<![0-9])(?P<year>(?:19|20)[0-9]{2})(?P<none>[0-9]{2})(?P<day>[0-9]{2})"
    r"(?:[01][0-9]|2[0-3])[0-5][0-9](?:[0-5][0-9])?(?![0-9])"
)
_FORMS = (_DAY, _DOTTED_DAY, _MONTH, _WEEK, _ID)
# Parts of the grammar of questions: a year next to a word, a day with dots, or 2025-3-5.
_MAY_BE_WRITTEN = (
    r"(?<![0-9])(?:19|20)[0-9]{2}(?![0-9]).*[^\W\d_]|[^\W\d_].*(?<![0-9])(?:19|20)[0-9]{2}(?![0-9])"
    r"|^[0-9]{1,2}\.[0-9]{1,2}\.[0-9]{4}|^(?:19|20)[0-9]{2}-(?:[1-9]|1[0-2])-[0-9]{1,2}(?![\w.-])"
)
# A day in the name of a file that may be another one elsewhere: 02-10-2026.
AMBIGUOUS = r"(?<![0-9.])[0-3]?[0-9](?P<sign>[-_.])[0-3]?[0-9](?P=sign)(?:19|20)[0-9]{2}(?![0-9])"
_NAME = r"([^/]{1,100})\.(?:md|markdown|mdc)$"
_WRITTEN_CHARS = 100
_START_CHARS = 40  # of a heading that begins with a date
_QUARTER = "-Q"  # in the name of one
_FAR = date(2200, 1, 1)  # today, for dates that do not depend on it
_APART = r"(?:$|(?!\.[0-9])[^\w/-])"
_HEADING = (
    r"(?P<year>[0-9]{4})-(?P<dash>[0-9]{2})-(?P<day>[0-9]{2})(?:$|T[0-9]|[^\w/-])",
    rf"{_SPAN_YEAR}-(?P<month>[0-9]{{2}}){_APART}",
    rf"{_SPAN_YEAR}-[Ww](?P<week>[0-9]{{2}}){_APART}",
)
_ZONE = r"(?:Z|[+-](?:[01][0-9]|2[0-3]):?[0-5][0-9])"
_TIME = rf"(?<![0-9:])(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9])?{_ZONE}?(?![0-9:])"
# Brackets and emphasis that may come before a date in a heading.
_OPENERS = "[(*_`~ \t"


def document_days(
    metadata: Mapping[str, Any], path: str, keys: Collection[str]
) -> tuple[Stretch | None, bool]:
    """Return the days of a document, and whether they are only the time of writing.

    The first of `keys` with a date comes before the path, and the path before the STAMPS among the
    keys. None means evergreen.
    """
    days = _first_of(metadata, (key for key in keys if key not in STAMPS)) or path_days(path)
    if days:
        return days, False
    stamp = _first_of(metadata, (key for key in keys if key in STAMPS))
    return stamp, stamp is not None


def _first_of(metadata: Mapping[str, Any], keys: Iterable[str]) -> Stretch | None:
    return next(filter(None, (_value_days(metadata.get(key)) for key in keys)), None)


def _value_days(value: object) -> Stretch | None:
    days = value_days(value)
    return (
        _written_days(value.strip(), at_start=True) if not days and isinstance(value, str) else days
    )


def value_days(value: object) -> Stretch | None:
    """Read the date at the start of a front matter value: a date, a string or 20260210."""
    if isinstance(value, date):  # a datetime is one
        day = (value.date() if isinstance(value, datetime) else value).isoformat()
        return day, day
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        value = str(value) if value <= 9999_12_31 else ""
    if not isinstance(value, str):
        return None
    # Longer text is not a date; a time and a zone may follow one.
    return _read_start(_FORMS, value.strip()[:64])


def path_days(path: str) -> Stretch | None:
    """Return the rightmost days in a path, so the file name comes before its folders."""
    dated = [
        (match.start(), days)
        for form in _FORMS
        for match in re.finditer(form, path)
        if (days := _days(match))
    ]
    if dated:
        return max(dated)[1]
    name = re.search(_NAME, path, re.IGNORECASE)
    return _written_days(name[1]) if name else None


def heading_days(text: str) -> Stretch | None:
    """Return the days of a heading that begins with them: `2026-02-10 Tuesday`, `2026-W07`."""
    text = text.lstrip(_OPENERS)
    return _read_start(_HEADING, text) or _written_days(text, at_start=True)


def _written_days(text: str, *, at_start: bool = False) -> Stretch | None:
    """Read a date as a question may write it, with its year: `18. März 2025`, `2025-Q1`."""
    text = text[: _START_CHARS if at_start else _WRITTEN_CHARS]
    if not re.search(_MAY_BE_WRITTEN, text):
        return None
    from memcli.dates.find import find_dates  # most names are dated in ISO form, or not at all

    for span in find_dates(text, _FAR):
        has_year = re.search(_SPAN_YEAR, span.text)
        if has_year and span.start and span.end and not (span.excluded or (at_start and span.at)):
            days = span.start, span.end
            name = named_days(days)
            if days == _read_start(_FORMS, name) or _QUARTER in name:
                return days
    return None


def age_days(day: str, today: str) -> int:
    """Count whole calendar days from `day` to `today`; negative in the future."""
    return (date.fromisoformat(today) - date.fromisoformat(day)).days


def day_of(moment: date) -> date:
    """Return the day of a moment, which may be one already."""
    return moment.date() if isinstance(moment, datetime) else moment


def moment_of(front_matter: str, day: str) -> str:
    """Return `written_at` for stored front matter, which is JSON."""
    import json

    return written_at(json.loads(front_matter), day) if front_matter != "{}" else ""


def written_at(metadata: Mapping[str, Any], day: str) -> str:
    """Return the ISO moment at which a document was written; "" if it has no time.

    The time follows the day, in the value of `date` or else of another key.
    """
    for key in sorted(metadata, key=lambda key: key != "date"):
        value = metadata[key]
        if isinstance(value, str) and value_days(value) == (day, day):
            match = re.search(_TIME, value.strip()[:64])
            if match:
                return f"{day}T{match[0]}"
    return ""


def age_at(written: str, question_date: date) -> float:
    """Count the days from an ISO date, or moment, to another.

    They are whole calendar days unless both have a time of day. A moment without a zone is in that
    of the other.
    """
    day, _, time = written.partition("T")
    if not time or not isinstance(question_date, datetime):
        return age_days(day, day_of(question_date).isoformat())
    # A trace has no fractions of a second.
    then, now = datetime.fromisoformat(written), question_date.replace(microsecond=0)
    if then.tzinfo is None or now.tzinfo is None:
        then, now = then.replace(tzinfo=None), now.replace(tzinfo=None)
    return (now - then).total_seconds() / 86_400


def _read_start(forms: Iterable[str], text: str) -> Stretch | None:
    matches = filter(None, (re.match(form, text) for form in forms))
    return next(filter(None, map(_days, matches)), None)


def _days(match: re.Match[str]) -> Stretch | None:
    """Return the match of a form as days, if they are in the calendar."""
    numbers = {name: number for name, number in match.groupdict().items() if number is not None}
    year = int(numbers.pop("year"))
    try:
        if "week" in numbers:
            first, last = (date.fromisocalendar(year, int(numbers["week"]), day) for day in (1, 7))
        elif "month" in numbers:
            month = int(numbers["month"])
            first = date(year, month, 1)
            last = date(year + month // 12, month % 12 + 1, 1) - timedelta(1)
        else:
            day = int(numbers.pop("day"))
            (number,) = numbers.values()  # of the month, by the words around it
            first = last = date(year, int(number), day)
    except ValueError:
        return None
    return first.isoformat(), last.isoformat()
