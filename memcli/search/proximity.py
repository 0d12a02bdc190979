"""Prefer entries of the dates that a query names, or the newest or oldest of them; pure.

    score' = score + (1 - score) * bonus
    bonus  = DATE_BONUS * 2^(-days / half-life), or with STRETCH_BONUS for more than one named day

`days` is the distance from the date of the record to the nearest named span. It is 0 inside a span,
for a record of a week or month that shares a day with it, and for a text that names the single day.
Nothing is near to the open end of a span or to an excluded day, and other undated records get no
bonus. If the query names a single day, its passages come first if they contain most of the words.
For `latest` and `first`, the dated passages that answer about as well as the best are put in the
order of time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from datetime import date, timedelta

from memcli.checking import TYPE_CHECKING
from memcli.search.ranked import RankedPassage, ordered

if TYPE_CHECKING:
    from memcli.dates.find import DateSpan
    from memcli.types import About

# A month has many notes, so its name says little about each, and people report its events weeks
# later. On 136 questions with a date (LoCoMo, REALTALK), nDCG@10 is .836 with these constants, and
# .814 with a bonus of .5 and 3 days for every span. If the evidence is outside of the stretch, it
# is .846 and .707.
DATE_BONUS, STRETCH_BONUS = 0.5, 0.3
PROXIMITY_HALF_LIFE_DAYS = 3.0  # plus a quarter of the length of a stretch
# People still report a stretch of more than a day and at most this length on the day after it.
TOLD_DAYS = 31
# Share of the query's IDF from which a passage of the one day that is named comes first.
MOST = 0.75
# Beyond this the bonus is 0, and the trace omits it.
FAR_DAYS = 30
# Shares of the best that a passage needs to be preferred for its age: of the score, or of the score
# and of the query's IDF, because words in headings count only for the IDF.
NEARLY_AS_GOOD = 0.7
HALF_AS_GOOD = 0.5
_HAIR = 1e-9
# For an open end.
FIRST_DAY, LAST_DAY = date.min.isoformat(), date.max.isoformat()

Spans = Sequence[tuple[str, str]]


def spans_of(dates: Sequence[DateSpan]) -> list[tuple[str, str]]:
    """Return the spans of days that the query asks for, as ISO dates, both ends included."""
    wished = [_ends(span) for span in dates if not span.order and not span.excluded]
    for first, last in excluded_spans(dates):
        all_days = wished or [(FIRST_DAY, LAST_DAY)]
        wished = [piece for span in all_days for piece in _around(span, first, last)]
    return wished


def excluded_spans(dates: Sequence[DateSpan]) -> list[tuple[str, str]]:
    """Return the spans of days that the query excludes."""
    return [_ends(span) for span in dates if span.excluded]


def _ends(span: DateSpan) -> tuple[str, str]:
    if span.is_loose and span.end:  # two days, so that no note counts as of the one day
        return span.end, (date.fromisoformat(span.end) + timedelta(1)).isoformat()
    return span.start or FIRST_DAY, span.end or LAST_DAY


def _around(span: tuple[str, str], first: str, last: str) -> Iterator[tuple[str, str]]:
    """Return the parts of a span before `first` and after `last`."""
    start, end = span
    day = timedelta(1)
    if start < first:
        yield start, min(end, (date.fromisoformat(first) - day).isoformat())
    if last < end:
        yield max(start, (date.fromisoformat(last) + day).isoformat()), end


def bonus(about: About, spans: Spans) -> float:
    """Return the bonus of a date; 0 if there is none, or if it is far away."""
    days = _days(about)
    return max((_bonus(distance(days, span), span) for span in spans if days), default=0.0)


def _bonus_of(passage: RankedPassage, spans: Spans) -> float:
    return DATE_BONUS if names_day(passage, spans) else bonus(passage.about, spans)


def _bonus(days: int, span: tuple[str, str]) -> float:
    if days > FAR_DAYS:
        return 0.0
    first, last = map(date.fromisoformat, span)
    length = min(TOLD_DAYS, (last - first).days)
    half_life = PROXIMITY_HALF_LIFE_DAYS + length / 4.0
    most: float = STRETCH_BONUS if length else DATE_BONUS
    halved: float = 2.0 ** (-days / half_life)
    return most * halved


def distance(days: tuple[str, str], span: tuple[str, str]) -> int:
    """Count the days between the first and last of `days` and a span; 0 inside.

    A day on which people still report counts as inside. Outside a span with an open end, the
    distance is more than FAR_DAYS.
    """
    if days[0] <= span[1] and span[0] <= days[1]:
        return 0
    if span[0] == FIRST_DAY or span[1] == LAST_DAY:
        return FAR_DAYS + 1
    begins, ends, first, last = map(date.fromisoformat, (*days, *span))
    is_told_later = 0 < (last - first).days < TOLD_DAYS
    return max((first - ends).days, (begins - last).days - is_told_later)


def is_of(passage: RankedPassage, spans: Spans) -> bool:
    """Return whether a passage has a day inside one of the spans."""
    days = _days(passage.about)
    return days is not None and any(start <= days[1] and days[0] <= end for start, end in spans)


def concerns(passage: RankedPassage, spans: Spans) -> bool:
    """Return whether a passage has a day inside one of the spans, or names the single day."""
    return is_of(passage, spans) or names_day(passage, spans)


def of_time(passages: Sequence[RankedPassage], spans: Spans) -> list[RankedPassage]:
    """Return the passages with a day inside one of the spans, or else those that name its day."""
    return [each for each in passages if is_of(each, spans)] or [
        each for each in passages if names_day(each, spans)
    ]


def names_day(passage: RankedPassage, spans: Spans) -> bool:
    """Return whether the text of a passage names one of the spans of a single day."""
    days = single_days(spans)
    if not days:
        return False
    from memcli.dates.find import mentions

    return any(mentions(passage.text, *day, passage.about.date) for day in days)


def _is_inside(passage: RankedPassage, spans: Spans) -> bool:
    """Return whether all days of a passage are inside one of the spans."""
    days = _days(passage.about)
    return days is not None and any(start <= days[0] and days[1] <= end for start, end in spans)


def _days(about: About) -> tuple[str, str] | None:
    """Return the first and the last day of a record."""
    return (about.first_day or about.date, about.date) if about.date else None


def single_days(spans: Spans) -> list[tuple[str, str]]:
    """Return the spans of a single day."""
    return [span for span in spans if span[0] == span[1]]


def nearest_first(
    passages: Sequence[RankedPassage], spans: Spans, limit: int
) -> list[RankedPassage]:
    """Choose `limit` passages; up to half of them are the best passages of a named date."""
    named = [each for each in passages if concerns(each, spans)]
    first = {passage.about.chunk_id for passage in named[: limit // 2]}
    others = [passage for passage in passages if passage.about.chunk_id not in first]
    chunks = first | {passage.about.chunk_id for passage in others[: limit - len(first)]}
    return [passage for passage in passages if passage.about.chunk_id in chunks]


def choose(
    passages: Sequence[RankedPassage],
    spans: Spans,
    *,
    order: str,
    alone: bool,
    limit: int,
    sort: str = "score",
) -> list[RankedPassage]:
    """Choose at most `limit` passages.

    If the query is only a date, `alone` is true: choose the passages of that date, ordered by time.
    """
    if not alone and sort != "score":
        return in_time(matching(passages), newest=sort == "newest")[:limit]
    if not alone:
        return nearest_first(passages, spans, limit)
    return in_time(of_time(passages, spans), newest=order == "newest")[:limit]


def apply_proximity(
    passages: Sequence[RankedPassage], *, spans: Spans, out: Spans = (), order: str = ""
) -> list[RankedPassage]:
    """Raise passages near a date in `spans`, but not passages inside `out`.

    With `order`, then put the newest or the oldest of the good passages first.
    """
    moved = list(passages)
    if spans:
        bonuses = (0.0 if _is_inside(each, out) else _bonus_of(each, spans) for each in moved)
        moved = ordered([_raised(*pair) for pair in zip(moved, bonuses, strict=True)])
        moved = _of_the_day_first(moved, single_days(spans))
    return _by_order(moved, order) if order else moved


def of_dates_alone(
    passages: Sequence[RankedPassage], *, spans: Spans, order: str = ""
) -> list[RankedPassage]:
    """Answer a question that is only a date: the passages of that time, in the order of time."""
    raised = [_raised(passage, 1.0) for passage in of_time(passages, spans)]
    return in_time(raised, newest=order == "newest")


def in_time(passages: Sequence[RankedPassage], *, newest: bool) -> list[RankedPassage]:
    """Sort by date, then by source, path and line; undated passages come last."""
    placed = sorted(passages, key=lambda h: (h.about.source, h.about.path, h.start_line))
    dated = [passage for passage in placed if passage.about.date]
    dated.sort(key=lambda h: h.about.date or "", reverse=newest)
    return [*dated, *(passage for passage in placed if not passage.about.date)]


def matching(passages: Sequence[RankedPassage]) -> list[RankedPassage]:
    """Keep passages with most of the words of the best one, or with nearly its score."""
    best = max((passage.score for passage in passages), default=0.0)
    most = max((passage.term_share for passage in passages), default=0.0)
    return [
        passage
        for passage in passages
        if passage.is_literal
        or 0.0 < NEARLY_AS_GOOD * most <= passage.term_share
        or passage.score >= NEARLY_AS_GOOD * best
    ]


def _of_the_day_first(passages: list[RankedPassage], days: Spans) -> list[RankedPassage]:
    """Put passages of one of the days that contain most words first; ranks keep their scores.

    Notes of the week or the month of that day get only their bonus.
    """

    def is_named(passage: RankedPassage) -> bool:
        return passage.term_share >= MOST and _is_inside(passage, days)

    placed = sorted(passages, key=is_named, reverse=True)
    return [
        passage.moved(was.score, "date", day=passage.about.date)
        if is_named(passage)
        else passage._replace(score=was.score)
        for passage, was in zip(placed, passages, strict=True)
    ]


def _by_order(passages: list[RankedPassage], order: str) -> list[RankedPassage]:
    """Sort the passages that answer well enough by time.

    Ranks keep their scores; equal scores are set slightly apart, so that later sorts keep them.
    """
    best = max((passage.score for passage in passages), default=0.0)
    most = max((passage.coverage for passage in passages), default=0.0)

    def is_good(passage: RankedPassage) -> bool:
        holds_as_much = 0.0 < NEARLY_AS_GOOD * most <= passage.coverage
        enough = HALF_AS_GOOD if holds_as_much else NEARLY_AS_GOOD
        return passage.about.date is not None and passage.score >= enough * best

    good = [passage for passage in passages if is_good(passage)]
    placed = sorted(good, key=lambda passage: passage.about.date or "", reverse=order == "newest")
    scores, above = dict[int, float](), math.inf
    for passage, was in zip(placed, good, strict=True):
        above = scores[id(passage)] = min(was.score, above * (1.0 - _HAIR))
    return ordered(
        [
            passage.moved(scores[id(passage)], "date", order=order)
            if id(passage) in scores
            else passage
            for passage in passages
        ]
    )


def _raised(passage: RankedPassage, gain: float) -> RankedPassage:
    return (
        passage.moved(passage.score + (1.0 - passage.score) * gain, "date", bonus=gain)
        if gain
        else passage
    )


# Undated and future records keep 1, and no score falls below the floor: old memory would be lost.
# Ages are fractional if the document and the question have a time of day.
def factor(age_days: float | None, *, half_life_days: float, floor: float) -> float:
    """Return the decay of an age: 0.5 at the half-life if the floor is 0."""
    if age_days is None or age_days <= 0:
        return 1.0
    halved: float = 2.0 ** (-age_days / half_life_days)
    return floor + (1.0 - floor) * halved


def apply_decay(
    passages: Sequence[RankedPassage],
    *,
    age_days: Callable[[str], float],
    half_life_days: float,
    floor: float,
) -> list[RankedPassage]:
    """Multiply every score by the decay of its document's date."""
    dates = {passage.written for passage in passages}  # many passages are of one day
    ages = {date: age_days(date) if date else None for date in dates}
    decayed = []
    for passage in passages:
        age = ages[passage.written]
        by = factor(age, half_life_days=half_life_days, floor=floor)
        faded = passage._replace(decay=by)
        decayed.append(faded.moved(passage.score * by, "decay", age_days=age, factor=by))
    return ordered(decayed)
