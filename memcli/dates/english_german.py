"""The grammar of dates in English and German, and of some in Russian and Arabic; pure.

The reader cuts a text into words and tries the rules at each word in order: first rules for two
joined dates and for bounds (`since May`), then rules for single dates. Ambiguous words (`may`,
`march`, `sun`, a year, `Q3`) are dates only next to a number or after a word such as `in`. Days
that are not in the calendar are not dates.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from itertools import pairwise

from memcli.dates import holidays, parts, ranges, recency, relative
from memcli.dates.ranges import JOINTS
from memcli.dates.words import (
    AFTER_WORDS,
    BEFORE_WORDS,
    EXCEPT_WORDS,
    WEEKDAYS,
    Reading,
    Seen,
    as_year,
)

# A word with the characters attached to it, so that a path, a version or an id is one word; or a
# dash that joins two dates.
_WORD = re.compile(
    r"\d\d?\.\d\d?\.(?![\w.])|[0-9A-Za-z_À-ɏЀ-ӿء-ي]+(?:[./:'’–-][0-9A-Za-z_À-ɏЀ-ӿء-ي]+)*|(?<=\s)[-–—](?=\s)|(?<=\d\.)[-–](?=\d)|(?<=\w)\.\.(?=\w)"
)
_JOINED = ("..", ".-", ".–")  # what may end right before a date, for all of _BAD_BEFORE
_GAP = 3  # characters between the words of one date: a space, a comma, an ordinal's dot
_LONGEST = 14  # words: between the 11th of August 2023 and the 15th of August 2023
_BAD_BEFORE = tuple("#$€£¥@/\\~-.")
_BAD_AFTER = tuple("%°€£¥/\\")
# Before 21.09.; a weekday does as well.
_DAY_LEADS = (
    "am", "vom", "zum", "dem", "den", "seit", "bis", "vor", "nach", "ab", "von", "zwischen",
    *WEEKDAYS, "mo", "di", "mi", "do", "fr", "sa", "so",
)  # fmt: skip
_AND = ("und", "-", "–")
_FULL_DAY = len("21.09.")
# Before a number that names a thing.
_NUMBERED = (
    "port", "room", "flat", "page", "chapter", "section", "version", "release", "build", "issue",
    "ticket", "invoice", "order", "question", "number", "no", "scale", "zimmer", "raum", "seite",
    "kapitel", "abschnitt", "rechnung", "auftrag", "frage", "nummer", "nr", "audi",
)  # fmt: skip
_SENTENCE_ENDS = tuple(".;:?!\n")
_NEARLY = ("shortly", "just", "right", "kurz")
# Names of other things, and recurring days: on a Friday, an einem Freitag.
_NAMES_BEFORE_A_WEEKDAY = (
    "every", "each", "a", "any", "some", "jeden", "jede", "einem", "einen", "black", "good",
    "cyber", "ash", "palm", "easter", "casual", "shrove", "maundy",
)  # fmt: skip
# Was it not in June? Haben wir nicht gestern gesagt ...? Why not today? They ask about that day.
_SUBJECTS = (
    "i", "you", "he", "she", "it", "we", "they", "this", "that", "there",
    "ich", "du", "er", "sie", "es", "wir", "ihr", "man", "das",
)  # fmt: skip
_WHY = ("why", "warum", "wieso", "weshalb", "or", "oder")


def read(text: str, today: date, *, day_first: bool) -> Iterator[tuple[int, int, Reading]]:
    """Yield the dates of a text: start, end and meaning."""
    words = [
        match
        for match in _WORD.finditer(text)
        if not text.startswith(_BAD_AFTER, match.end())
        and (
            not text.endswith(_BAD_BEFORE, 0, match.start())
            or text.endswith(_JOINED, 0, match.start())
            or match[0] in JOINTS
        )
    ]
    texts = _without_ends(words)
    seen, at = Seen(today, day_first), 0
    asks_when = text.lstrip().lower().startswith(("when ", "wann "))
    sentence: list[str] = []  # its words so far
    while at < len(words):
        near = _together(text, words[at : at + _LONGEST])
        raw = texts[at : at + len(near)] + [""] * 5
        low = [word.lower() for word in raw]
        skipped = 1 if _asks_of_the_day(low, sentence) else _other(low)
        date_match = None
        if not skipped:
            date_match = _read(raw, low, seen, alone=len(words) == 1)
            is_cut = text.startswith((",", *_SENTENCE_ENDS), near[0].end())
            beside = [low[0], *[""] * 3] if is_cut else low
            date_match = date_match or recency.read(beside, sentence, asks_when=asks_when)
        if date_match:
            count, reading = date_match
            yield near[0].start(), near[count - 1].start() + len(raw[count - 1]), reading
        count = date_match[0] if date_match else skipped or 1
        sentence += low[:count]
        at += count
        if text.startswith(_SENTENCE_ENDS, words[at - 1].end()):
            sentence = []


def _asks_of_the_day(low: list[str], before: list[str]) -> bool:
    """Return whether `not` does not exclude the date: was it not in June, why not today."""
    is_asked = len(before) == 2 and before[-1] in _SUBJECTS
    return low[0] in EXCEPT_WORDS and (is_asked or (before[-1:] or [""])[0] in _WHY)


def _together(text: str, words: list[re.Match[str]]) -> list[re.Match[str]]:
    """Return the first words, up to a gap that is too wide for a date."""
    for n, (one, two) in enumerate(pairwise(words), 1):
        gap = text[one.end() : two.start()]
        if len(gap) > _GAP or gap.strip() not in ("", ",", "."):
            return words[:n]
    return words


def _without_ends(words: list[re.Match[str]]) -> list[str]:
    """Remove the ending of a possessive, or the full stop after `3.2.` unless it is a day.

    It is a day after a word such as `on`, after another day, or at the start of the text if the
    year is given.
    """
    texts: list[str] = []
    for match in words:
        word, before = match[0].removesuffix("'s").removesuffix("’s"), texts[-1:] or [""]
        if word.endswith(".") and word not in JOINTS:
            lead = before[0].lower()
            is_day = (not lead and len(word) == _FULL_DAY) or lead in _DAY_LEADS
            if not (is_day or (lead in _AND and texts[-2:][0].endswith("."))):
                word = word[:-1]
        texts.append(word)
    return texts


def _other(low: list[str]) -> int:
    """Count the words of a phrase that only looks like a date: every Monday, Black Friday."""
    if low[0] in _NUMBERED and re.fullmatch(r"q[1-4]|\d\d?/\d+", low[1]):
        return 2
    if low[0] in _NAMES_BEFORE_A_WEEKDAY and low[1] in WEEKDAYS:
        feast = holidays.named(low)  # Easter Monday 2024 is a date
        return 0 if feast and as_year(low[len(feast.split())]) else 2
    if low[0] == "new" and low[1] == "year" and as_year(low[2]):
        return 3
    # "Shortly before" a day means near that day, as the day itself does.
    if low[0] in _NEARLY and (low[1] in BEFORE_WORDS or low[1] in AFTER_WORDS):
        return 2
    return 2 if low[:2] == ["usa", "today"] else 0


def _read(raw: list[str], low: list[str], seen: Seen, *, alone: bool) -> tuple[int, Reading] | None:
    """Read the date that begins with the first word; `alone` if the text is nothing else."""
    try:
        if low[0] in EXCEPT_WORDS or low[0] == "no":
            return ranges.excepted(raw, low, seen)
        joined = ranges.joined(raw, low, seen)
        if joined:
            return joined[0], Reading(*joined[1])
        if match := relative.ago(raw, low, seen):  # vor drei Tagen; but vor 2023 is a bound
            return match[0], Reading(*match[1])
        if bounded := ranges.bounded(raw, low, seen):
            return bounded
        match = parts.one(raw, low, seen)
        if alone and not match:
            match = parts.alone(raw, low, seen)
    except (ValueError, OverflowError):  # not in the calendar
        return None
    return match and (match[0], Reading(*match[1]))
