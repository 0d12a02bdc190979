"""Finds the dates that a text names in English, German, Chinese or Japanese; it reads no clock.

Of Russian, Arabic and Korean it knows months, days and what is told from today.

A small grammar over tables, because a date library costs more than the search: importing one takes
70 to 340 ms, which a search would pay. It is loaded only for a text that may name a date;
`question` tells. What a date is good for is left to the caller.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from memcli.dates import absolute, english_german, holidays
from memcli.dates.words import SEASONS, Reading
from memcli.record import Record

# What is called by a name; the seasons of Chinese and Japanese are single signs.
_NAMED = re.compile(rf"\b(?:q[1-4]|quart\w+|{'|'.join((*SEASONS, *holidays.NAMES))})\b")
# A month of which no day is named: in January 2023.
_MONTH = re.compile(
    r"^(?:[^\W\d]+ )?(january|february|march|april|may|june|july|august|september|october|november"
    r"|december|januar|februar|märz|mai|juni|juli|oktober|dezember)(?:,? (?:of )?\d{4})?$"
)
MAX_CHARS = 10_000  # dates stand in questions, not in pasted documents


class DateSpan(Record):
    """A stretch of days, both ends inclusive, or an order of days, and the words that name it."""

    start: str | None  # YYYY-MM-DD; None: open
    end: str | None
    text: str
    at: int  # where the words begin
    order: str = ""  # newest | oldest: no stretch, but which of the days come first
    read: str = ""  # month first | day first: how a date was read that could be either
    excluded: bool = False  # every day but these is wished for

    @property
    def stops_at(self) -> int:
        """Give the place behind the words."""
        return self.at + len(self.text)

    @property
    def literal_length(self) -> int:
        """Count the characters of its beginning that a note may say itself.

        It tells of `last summer`, `Q3`, Christmas and January, or on 3 May of the week that the
        question calls the week before 3 May; in what follows, a note has no words in common with
        the question, nor where a stretch of time is open.
        """
        low = self.text.lower()
        is_closed = self.start is not None and self.end is not None
        if is_closed and (_NAMED.search(low) or not SEASONS.keys().isdisjoint(low)):
            return len(low)
        if is_closed and self.start != self.end and (month := _MONTH.search(low)):
            return month.end(1)
        beside = re.match(r".+?\s(?:before|after|vor|nach)\s", low)
        return beside.end() if beside else 0


def find_dates(text: str, today: date, *, day_first: bool = False) -> tuple[DateSpan, ...]:
    """Find the dates named in the text, in order and without overlap.

    `day_first` reads 7/12/2023 as 7 December, where both readings are in the calendar.
    """
    typed = text[:MAX_CHARS]
    text = _with_ascii_digits(typed)
    found = list(_unspaced(text, today))
    taken = {at for span in found for at in range(span.at, span.stops_at)}
    for start, end, reading in english_german.read(text, today, day_first=day_first):
        words = text[start:end]
        read = ""
        if "/" in words and absolute.is_ambiguous(words):
            read = "day first" if day_first else "month first"
        # In `in 2023年5月` the year is taken.
        if taken.isdisjoint(range(start, end)):
            found.append(_span(words, start, reading, read))
    found = [span._replace(text=typed[span.at : span.stops_at]) for span in found]
    return tuple(sorted(found, key=lambda span: span.at))


def _with_ascii_digits(text: str) -> str:
    """Write ١٢ as 12, in as many signs."""
    if text.isascii():
        return text
    return re.sub(r"[^\D0-9]", lambda digit: str(int(digit[0])), text)


def parse_date(text: str, today: date, *, day_first: bool = False) -> DateSpan:
    """Read a text that is a date as a whole; anything else is a ValueError."""
    text = text.strip()
    asked = re.sub(r"(?i)^(?:(?:in|im|on|am) )?(?:(?:the|de[mnr]|das|die) )?", "", text)
    # What a lone word needs beside it in a sentence, it does not need here.
    forms = (("", asked), ("in ", asked), ("in ", asked.title()), ("on ", asked.title()))
    for lead, body in (*forms, ("am ", asked)):
        for span in find_dates(lead + body, today, day_first=day_first):
            whole = span.at <= len(lead) and span.stops_at == len(lead + body)
            if whole and not span.order and not span.excluded:
                return span._replace(text=text, at=0)
    in_numbers = (absolute.NUMERIC, absolute.SLASHED, absolute.WEEK_OF_YEAR)
    if any(re.fullmatch(form, text) for form in in_numbers):
        raise ValueError(f"{text} is not in the calendar")
    raise ValueError(
        f"{text!r} is not a date: write 2026-02-10, 2026-02, yesterday, 'last week', "
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


def _span(words: str, at: int, reading: Reading, read: str = "") -> DateSpan:
    first, last = reading.first, reading.last
    return DateSpan(
        first.isoformat() if first else None,
        last.isoformat() if last else None,
        words,
        at,
        reading.order,
        read,
        reading.excluded,
    )
