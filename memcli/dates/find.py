"""Find the dates in a text in English, German, Chinese or Japanese; it does not read the clock.

In Russian, Arabic and Korean it knows months, days and relative dates.

It is a small grammar over tables, because importing a date library takes 70 to 340 ms, longer than
a whole search. `search.question` loads it only for a text that may contain a date.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from functools import lru_cache

from memcli.dates import absolute, english_german, holidays, words
from memcli.dates.words import Reading
from memcli.errors import UsageError
from memcli.language.stopwords import MONTH_NAMES
from memcli.record import Record

# Times that have a name; the seasons of Chinese and Japanese are single characters.
_NAMED = re.compile(rf"\b(?:q[1-4]|quart\w+|{'|'.join((*words.SEASONS, *holidays.NAMES))})\b")
# A month without a day: in January 2023.
_MONTH = re.compile(rf"^(?:[^\W\d]+ )?({'|'.join(sorted(MONTH_NAMES))})(?:,? (?:of )?\d{{4}})?$")
# A day or a month, and not of which year: 7/12, 7.12., Q3, 8月.
_IN_NUMBERS = r"(?<![\d/.])\d\d?[/.]\d\d?(?![\d/]|\.\d)|\bq[1-4]\b|[\d一二三四五六七八九十] ?月"
_CHINESE_WEEKDAY = "(?:周|週|星期|礼拜|禮拜)[一二三四五六日天]"
_HALF_A_YEAR = 6  # months
MAX_CHARS = 10_000  # dates occur in questions, not in pasted documents


class DateSpan(Record):
    """A range of days (both ends included) or an order of days, and the words that name it."""

    start: str | None  # YYYY-MM-DD; None: open
    end: str | None
    text: str
    at: int  # index of the first character
    order: str = ""  # newest | oldest: not a range, but the preferred order
    read: str = ""  # month first | day first: how an ambiguous date was read
    excluded: bool = False  # the question asks for all other days
    is_loose: bool = False  # a weekday of any week: notes of other days may name it

    @property
    def stops_at(self) -> int:
        """Return the index after the last character."""
        return self.at + len(self.text)

    @property
    def is_day(self) -> bool:
        """Return whether it is a single day with a number, such as 3 May."""
        return self.start == self.end is not None and any(map(str.isdigit, self.text))

    @property
    def is_weekday(self) -> bool:
        """Return whether it is only the name of a weekday."""
        names = self.text.lower() in words.WEEKDAYS or re.fullmatch(_CHINESE_WEEKDAY, self.text)
        return bool(names)

    @property
    def literal_length(self) -> int:
        """Return how many of its first characters a note may itself contain.

        A note may say `last summer`, `Q3` or `January`, and a note of that week may say `the week
        before 3 May`. The rest of the words only places the date, and so does an open range.
        """
        low = self.text.lower()
        if self.is_loose:
            return len(low)
        is_closed = self.start is not None and self.end is not None
        if is_closed and (_NAMED.search(low) or not words.SEASONS.keys().isdisjoint(low)):
            return len(low)
        if is_closed and self.start != self.end and (month := _MONTH.search(low)):
            return month.end(1)
        beside = re.match(r".+?\s(?:before|after|vor|nach)\s", low)
        return beside.end() if beside else 0


def names_year(span: DateSpan) -> bool:
    """Return whether a date is of a year that it names: May 2024, 2024-05-01, 2024年."""
    tokens = re.findall(r"\w+", span.text)
    return "年" in span.text or any(words.as_year(word[:4]) for word in tokens)


def names_no_year(span: DateSpan) -> bool:
    """Return whether a date is a day or a month of any year: Aug 15th, in March, Q3."""
    low = span.text.lower()
    tokens = re.findall(r"\w+", low)
    is_relative = any(
        word in (*words.LAST_WORDS, *words.THIS_WORDS, *words.NEXT_WORDS) for word in tokens
    )
    if span.order or is_relative or names_year(span):
        return False
    is_named = any(word in words.MONTHS or word in holidays.NAMES for word in tokens)
    return is_named or re.search(_IN_NUMBERS, low) is not None


def mentions(text: str, first: str, last: str, written: str | None) -> bool:
    """Return whether a text names the month, or the single day, from `first` to `last`.

    `written` is the day of the text. A day is read in the year that is nearest to it, and a month
    is not long after it. A name that another year follows is another time.
    """
    months = _months_between(first, written or first)
    if first[:7] != last[:7] or months < -_HALF_A_YEAR or (first == last and months > _HALF_A_YEAR):
        return False
    signs, pattern = _mention(first, is_day=first == last)
    return any(sign in text for sign in signs) and pattern.search(text) is not None


def _months_between(one: str, two: str) -> int:
    return 12 * (int(two[:4]) - int(one[:4])) + int(two[5:7]) - int(one[5:7])


@lru_cache(maxsize=16)  # for each passage of one question
def _mention(first: str, *, is_day: bool) -> tuple[tuple[str, ...], re.Pattern[str]]:
    """Return texts and a pattern for the names of a day, or else of its month.

    Each name contains one of the texts and matches the pattern. Neither a person called Jan nor
    `May I` names a month, and `Python 3.10.` names no day.
    """
    year, month, day = map(int, first.split("-"))
    names = [name.title() for name, number in words.MONTHS.items() if number == month]
    signs = (*names, f"{month}.", f"{month}月", f"{month} 月", first)
    if is_day:
        named, number = rf"(?:{'|'.join(names)})\b", rf"0?{day}(?:st|nd|rd|th)?"
        forms = [
            rf"(?<![\d.,:/-]){number}\.? (?:of )?{named}",
            rf"\b{named}\.? {number}\b(?![.:,/-]?\d)",
            rf"\b(?i:am|vom|zum|de[mnr]) 0?{day}\.0?{month}\.(?!\d)",
            rf"(?<![\d.])0?{day}\.0?{month}\.{year}(?!\d)",
            rf"(?<!\d){month} ?月 ?{day} ?日",
            rf"{first}(?!\d)",
        ]
    elif month == words.MONTHS["may"]:
        forms = [
            r"(?:\b(?:in|im|of|by|since|seit)|\d\.?) Ma[iy]\b",
            r"\| *Ma[iy](?= *\|)",
            r"(?<![\d年])5 ?月",
        ]
    else:
        forms = [
            rf"\b(?:{'|'.join(name for name in names if len(name) > 3)})\b",
            rf"(?<![\d年]){month} ?月",
        ]
    return signs, re.compile(rf"(?:{'|'.join(forms)})(?!,? (?!{year}\b)\d{{4}}\b)")


def read_again(span: DateSpan, today: date) -> DateSpan | None:
    """Read a date as on another day; None if its words are not a date then."""
    for other in find_dates(span.text, today, day_first=span.read == "day first"):
        if other.at == 0 and other.text == span.text:
            return other._replace(at=span.at, excluded=span.excluded)
    return None


def find_dates(text: str, today: date, *, day_first: bool = False) -> tuple[DateSpan, ...]:
    """Find the dates in the text, in order and without overlap.

    `day_first` reads 7/12/2023 as 7 December if both readings are in the calendar.
    """
    typed = text[:MAX_CHARS]
    text = typed
    if not text.isascii():  # ١٢ becomes 12, with the same number of characters
        text = re.sub(r"[^\D0-9]", lambda digit: str(int(digit[0])), text)
    spans = list(_unspaced(text, today))
    positions = {at for span in spans for at in range(span.at, span.stops_at)}
    for start, end, reading in english_german.read(text, today, day_first=day_first):
        phrase = text[start:end]
        read = ""
        if "/" in phrase and absolute.is_ambiguous(phrase):
            read = "day first" if day_first else "month first"
        # The year of `in 2023年5月` belongs to the Chinese date.
        if positions.isdisjoint(range(start, end)):
            spans.append(_span(phrase, start, reading, read))
    spans = [span._replace(text=typed[span.at : span.stops_at]) for span in spans]
    return tuple(sorted(spans, key=lambda span: span.at))


def parse_date(text: str, today: date, *, day_first: bool = False) -> DateSpan:
    """Read a text that is one date; ValueError otherwise."""
    text = text.strip()
    phrase = re.sub(r"(?i)^(?:(?:in|im|on|am) )?(?:(?:the|de[mnr]|das|die) )?", "", text)
    if re.fullmatch(r"(?:19|20)\d\d", phrase):
        return DateSpan(f"{phrase}-01-01", f"{phrase}-12-31", text, 0)
    # Here an ambiguous word needs no word next to it.
    forms = (("", phrase), ("in ", phrase), ("in ", phrase.title()), ("on ", phrase.title()))
    for lead, body in (*forms, ("am ", phrase)):
        for span in find_dates(lead + body, today, day_first=day_first):
            whole = span.at <= len(lead) and span.stops_at == len(lead + body)
            if whole and not span.order and not span.excluded:
                return span._replace(text=text, at=0)
    in_numbers = (absolute.NUMERIC, absolute.SLASHED, absolute.WEEK_OF_YEAR)
    if any(re.fullmatch(form, text) for form in in_numbers):
        raise ValueError(f"{text} is not in the calendar")
    raise ValueError(
        f"{text!r} is not a date: write 2026-02-10, 2026-02, 2026, yesterday, 'last week', "
        "'3 days ago', 'May 2023' or 'Q3 2023'"
    )


def _unspaced(text: str, today: date) -> Iterator[DateSpan]:
    if text.isascii():
        return
    from memcli.dates import chinese_japanese

    if chinese_japanese.SIGNS.isdisjoint(text):
        return
    end = 0
    for start, stop, reading in sorted(chinese_japanese.read(text, today)):
        if start >= end:
            yield _span(text[start:stop], start, reading)
            end = stop


def _span(phrase: str, at: int, reading: Reading, read: str = "") -> DateSpan:
    first, last = reading.first, reading.last
    return DateSpan(
        first.isoformat() if first else None,
        last.isoformat() if last else None,
        phrase,
        at,
        reading.order,
        read,
        reading.excluded,
    )


_HINT = "memcli help query-syntax"


def bounds_of(
    texts: Mapping[str, str], today: date, *, day_first: bool, hint: str = _HINT
) -> tuple[DateSpan, ...]:
    """Read the dates of since, until and on, by the names that the caller uses.

    UsageError if one is not a date, or, with `hint`, if two of them exclude each other.
    """
    names = {name.lstrip("-"): name for name in texts}
    if "on" in names and len(names) > 1:
        dashes = names["on"].removesuffix("on")
        raise UsageError(
            f"{dashes}on cannot be combined with {dashes}since or {dashes}until", hint=hint
        )
    bounds = []
    for name, text in texts.items():
        try:
            span = parse_date(text, today, day_first=day_first)
        except ValueError as error:
            raise UsageError(str(error), hint=_HINT) from None
        is_since, is_until = name.endswith("since"), name.endswith("until")
        if (is_since and not span.start) or (is_until and not span.end):
            missing = "first day" if is_since else "last day"
            raise UsageError(f"{name} wants a day, and {text!r} has no {missing}", hint=_HINT)
        if is_since or is_until:
            span = span._replace(end=None) if is_since else span._replace(start=None)
        bounds.append(span._replace(text=f"{name} {span.text}"))
    return tuple(bounds)


def span_of(bounds: Sequence[DateSpan]) -> tuple[str | None, str | None]:
    """Return the first and the last day that the filters allow; None for no bound."""
    first = next((span.start for span in bounds if span.start), None)
    last = next((span.end for span in bounds if span.end), None)
    if first and last and first > last:
        from shlex import join  # a hint is pasted

        since, until = (span.text.split(" ", 1)[1] for span in bounds)
        raise UsageError(
            f"the span from {first} to {last} ends before it begins",
            hint=join(["--since", until, "--until", since]),
        )
    return first, last
