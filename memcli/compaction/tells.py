"""Tell by its words whether a sentence says what happened, and whether it can stand alone; pure.

The words are a table, not a grammar. English, German and Chinese.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import cache

from memcli.compaction.sentences import Sentence
from memcli.compaction.similarity import terms
from memcli.markdown.keep import names_in

# Beside news worth 1 at most: set by reading summaries of LoCoMo conversations 26 and 30, where a
# sentence with two of the first three was worth telling and a compliment never was.
NAME, WHEN, EVENT, ABOUT_YOU = 0.4, 0.3, 0.3, 0.4
MOST_BEFORE = 2  # sentences that one may take along
LEAST_BEFORE = 4  # words of one that is worth it
SHORT_ANSWER = 6  # words of an answer that says nothing without its question

_WHEN = (
    r"\b(?:yesterday|today|tonight|tomorrow|ago|recently|(?:last|next|this|past)"
    r" (?:night|weekend|week|month|year|spring|summer|autumn|fall|winter|time|\w+day)|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|gestern|heute|morgen|neulich|letzte[nrs]?"
    r"|nächste[nrs]?)\b|昨天|今天|明天|上周|下周|上个月|下个月|去年|明年|最近|刚刚"
)
_EVENT = (
    r"\b(?:plan\w*|going to|gonna|hop(?:e|ing) to|look(?:ing)? forward|will|i'll|we'll|want to"
    r"|wanna|thinking (?:of|about)|applied|applying|sign(?:ed|ing) up|start(?:ed|ing)?"
    r"|join(?:ed|ing)?|finish\w*|bought|moved|went|got|lost|passed|broke|won|met|visited|made"
    r"|werde\w*|plane?n?|möchte)\b|打算|计划|准备|想要|去了|买了|开始"
)
_YOU = r"^(?:\W*\w+\W+){0,6}?(?:you|your|you're|you've|yours|u|ya)\b"
_I = r"\b(?:i|i'm|i've|i'll|i'd|we|we're|we've|my|our|me|us)\b"
_ANAPHOR = (
    r"^\W*(?:(?:and|but|so|plus|then|also|yeah|yes|yep|no|oh|well|wow)\W+){0,2}"
    r"(?:its?|it's|it'll|they|they're|they've|they'll|their|them|he|he's|she|she's|his|her|him|both"
    r"|either|neither|such|that's|that'll"
    r"|(?:this|that|these|those)\W+(?:(?:really|also|just|all)\W+)?(?:is|was|are|were|has|have|had"
    r"|will|would|could|can|might|must|makes?|made|means?|meant|helps?|helped|sounds?|ones?|way)"
    r"|es|das (?:ist|war|hat)|dies\w*|dadurch|deshalb|dort)\b"
)
_ANAPHOR_HAN = r"^(?:它|这|那|他|她|此|其)"


@cache
def _pattern(words: str) -> re.Pattern[str]:
    return re.compile(words, re.IGNORECASE)


def telling(text: str, speakers: Collection[str]) -> float:
    """Weigh names, times, events and plans; less what is said to somebody about themselves."""
    names = [name for name in names_in(text) if name not in speakers]
    value = NAME * bool(names)
    value += WHEN * bool(_pattern(_WHEN).search(text))
    value += EVENT * bool(_pattern(_EVENT).search(text))
    if _pattern(_YOU).search(text) and not _pattern(_I).search(text):
        value -= ABOUT_YOU
    return value


def antecedents(sentences: Sequence[Sentence]) -> list[int | None]:
    """Give for each sentence the one before that it says nothing without."""
    found: list[int | None] = [None]
    for at in range(1, len(sentences)):
        before, here = sentences[at - 1], sentences[at]
        is_near = before.path == here.path and 0 <= here.first - before.last <= MOST_BEFORE
        chain = _chain(found, at - 1)
        is_said = len(terms(before.text)) >= LEAST_BEFORE and not is_aside(before.text)
        needs = is_near and is_said and chain < MOST_BEFORE and _leans(before, here)
        found.append(at - 1 if needs else None)
    return found[: len(sentences)]


def _chain(found: Sequence[int | None], at: int) -> int:
    length = 0
    while (before := found[at]) is not None:
        length, at = length + 1, before
    return length


def _leans(before: Sentence, here: Sentence) -> bool:
    """Tell whether a sentence begins with what only the one before names, or is a bare answer."""
    if before.text.endswith(("?", "？")) and before.speaker != here.speaker:
        return len(here.text.split()) < SHORT_ANSWER and here.text.isascii()
    return leans_on(here.text)


def is_aside(text: str) -> bool:
    """Tell what stands in brackets, such as what a picture shows, from what is said."""
    return text.startswith("[") and text.endswith("]")


def leans_on(text: str) -> bool:
    """Tell whether a text begins with a word that stands for something said before."""
    return bool(_pattern(_ANAPHOR).match(text) or _pattern(_ANAPHOR_HAN).match(text))
