"""Decide which dates of a question the answer should have, and which are small talk; pure.

A question about last week wants notes of last week. But a date in a remark about today's weather,
or in a story before the question, is small talk. A birthday is not the day of a note either.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, timedelta
from itertools import pairwise

from memcli.dates.find import DateSpan
from memcli.dates.words import MONTHS
from memcli.language.tense import asks_about_past, tells_of_past

# A text without any of these is one clause, and costs no pattern.
_BREAKS = frozenset(".!?\n。！？，,;；、")
# The patterns are matched against small letters.
# Ends of sentences, but not the dot of an abbreviation or of a German day.
_SENTENCE_END = r"[。！？!?\n]+|(?<=[^\W\d]{3})\.+(?=\s)"
_CLAUSE_END = r"[，,；;、]|(?<=[^\x00-\xff])\s+(?=[^\x00-\xff])"
_ASKS = (
    r"\b(?:who|whom|whose|what|when|where|why|which|how|wer|wen|wem|was|wann|wo|warum|welche\w?"
    r"|wie)\b|什么|什麼|[谁誰哪吗嗎几幾]|怎[么麼样樣]|多少|多[大高久长]|何|いつ|どこ|どの|どう|ですか"
)
# A question that refers to the sentences before it.
_LOOKS_BACK = (
    r"\b(?:he|she|they|him|them|it|there|then|that|this|er|sie|ihn|ihm|dort|da|damals|dabei)\b"
    r"|[他她它]|当时|當時|那时|那時|那天|そこ|その"
)
_SMALL_TALK = (
    r"\b(?:weather|sunny|rain(?:s|ed|ing|y)?|snow(?:s|ed|ing)?|(?:lovely|nice|beautiful|long)"
    r" day|what a day|mood|tired|wetter|sonnig|regnet|schneit|müde|laune)\b"
    r"|天[气氣気]|心情|[真太][^正实實的]|好[累忙热熱冷困开開高]|疲れ|暑い|寒い"
)
_BIRTH = ("born", "birth", "gebor", "geburt", "生日", "出生", "诞生", "誕生")
# Wednesday evening recurs every week, unless the question is about what has happened.
_PART_OF_WEEKDAY = (
    r"\s+(?:morning|afternoon|evening|night|morgen|vormittag|nachmittag|abend|nacht)s?\b"
)
# Before a weekday that recurs: is it still collected on, who comes on; was Brunner day.
_RECURS = (
    r"(?:\b(?:still|always|usually|normally|immer|noch|meistens|normalerweise)"
    r"|^who (?!is|was|does|has|happens)\w+s)\b.* ?\b(?:on|am) $"
)
_DAY_OF_A_THING = (
    r"^(?:is|was|ist|war) (?!(?:all|the|a|one|that|this|it|last|next|der|ein)\b)"
    r"\w+[ -](?:day|tag) (?:(?:on|am|ein) )?$"
)
# A question about a rule; "who is on call" has the answer of that day.
_RULE = (
    r"\b(?:may|can|must|should|allowed|rules?|darf|dürfen|kann|können|muss|müssen|soll|sollen"
    r"|erlaubt|verboten|regeln?|gilt|gelten|ok|okay|fine (?:to|if))\b"
)
# `What should I bring` asks for a plan of that day.
_PLAN = (
    r"\b(?:what|who|which|was|wer|wen|welche\w?)(?: \w+){0,2}? "
    r"(?:can|must|should|kann|können|muss|müssen|soll|sollen) (?:i|we|ich|wir)\b"
)
_YEAR = r"\d{4}|\d[/.]\d|年"


def wishes(text: str, dates: Sequence[DateSpan]) -> tuple[DateSpan, ...]:
    """Return the dates that the answer should have."""
    text = text.lower() if len(text.lower()) == len(text) else text
    dates = [span for span in dates if not _is_habit(text, span)]
    is_spaced = text.isascii() or " " not in text
    if is_spaced and _BREAKS.isdisjoint(text.rstrip(" .!?。！？")):
        return tuple(span for span in dates if not _is_birthday(text, span))
    sentences = _pieces(text, _SENTENCE_END, dates)
    asking = [piece for piece in sentences if text[: piece[1]].endswith(("?", "？", "?!"))]
    asking = asking or [piece for piece in sentences if re.search(_ASKS, text[slice(*piece)])]
    return tuple(span for span in dates if _is_wish(text, span, dates, sentences, asking))


def loosened(text: str, dates: Sequence[DateSpan]) -> tuple[DateSpan, ...]:
    """Mark weekdays as loose if the question is about a rule.

    Example: a rule for Mondays answers "may we deploy on Monday", whatever its date.
    """
    if asks_about_past(text) or not re.search(_RULE, re.sub(_PLAN, "", text.lower())):
        return tuple(dates)
    return tuple(span._replace(is_loose=span.is_weekday) for span in dates)


def before_today(text: str, dates: Sequence[DateSpan], today: date) -> tuple[DateSpan, ...]:
    """Read the weekday of today as a week ago if the question is about what has happened."""
    last = (today - timedelta(7)).isoformat()
    return tuple(
        span._replace(start=last, end=last)
        if span.start == today.isoformat() and span.is_weekday and asks_about_past(text)
        else span
        for span in dates
    )


def asks(text: str) -> bool:
    """Return whether a text is a question, by its mark or by a word such as "who"."""
    return text.rstrip().endswith(("?", "？")) or bool(re.search(_ASKS, text.lower()))


def _is_wish(
    text: str,
    span: DateSpan,
    dates: Sequence[DateSpan],
    sentences: Sequence[tuple[int, int]],
    asking: Sequence[tuple[int, int]],
) -> bool:
    sentence = next(piece for piece in sentences if piece[0] <= span.at < piece[1])
    if span.order:
        return sentence in asking or not asking
    clauses = _pieces(text, _CLAUSE_END, dates, sentence)
    clause = next(text[a:b] for a, b in clauses if a <= span.at < b)
    if _names_month(span):
        return not _is_birthday(clause, span)
    if re.search(_YEAR, span.text) or not asking:
        return True
    if sentence not in asking:
        return any(re.search(_LOOKS_BACK, text[slice(*piece)]) for piece in asking)
    is_talk = re.search(_SMALL_TALK, clause) and not re.search(_ASKS, clause)
    return not (is_talk and len(clauses) > 1)


def _is_habit(text: str, span: DateSpan) -> bool:
    """Return whether it is a weekday that recurs, and the text tells of no event."""
    if not span.is_weekday:
        return False
    before, after = text[: span.at].lower(), text[span.stops_at :]
    if re.search(_DAY_OF_A_THING, before):
        return True
    recurs = re.match(_PART_OF_WEEKDAY, after) or re.search(_RECURS, before)
    return recurs is not None and not tells_of_past(text)


def _is_birthday(clause: str, span: DateSpan) -> bool:
    is_told = any(word in clause for word in _BIRTH)
    return is_told and _names_month(span) and not re.search(_YEAR, span.text)


def _names_month(span: DateSpan) -> bool:
    """Return whether the date is written out; relative dates are more often small talk."""
    names = re.findall(r"[^\W\d_]+", span.text.lower())
    return not MONTHS.keys().isdisjoint(names) or bool(
        re.search("[\\d一二三四五六七八九十]月", span.text)
    )


def _pieces(
    text: str, ends: str, dates: Sequence[DateSpan], within: tuple[int, int] | None = None
) -> list[tuple[int, int]]:
    """Cut a text, never inside a date; each piece includes its closing punctuation."""
    first, last = within or (0, len(text))
    cuts = [
        match.end()
        for match in re.compile(ends).finditer(text, first, last)
        if not any(span.at < match.end() < span.stops_at for span in dates)
    ]
    return list(pairwise(sorted({first, *cuts, last})))
