"""Split a text into terms to compare: folded words, pairs of Chinese characters; pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import takewhile
from operator import eq

from memcli.language.stopwords import ENGLISH, GERMAN, table
from memcli.language.words import HAN, prepare

_WORD = re.compile(r"\w+")
INFLECTED = 3  # letters that two forms of a word share at least
_LONG = 4  # letters of a word after which any ending may follow
_ENDING = 4  # letters in which two forms may differ
_OF_SHORT = frozenset(["s", "es", "ed", "ing"])  # after three letters
# For two forms that both have an ending: `replaces` and `replacing`, but not `grandma`, `grandpa`.
_ENDINGS = table("""
    d e ed en er ers es est et ing ings n r rs s st t y ies ied ion ions ation ations ate ated
    al ment ments le les em ern te ten tet ter tes ung ungen ionen sion ded ding ce se ced
    sed
""")
# Words that mean about the same in notes.
SYNONYMS = tuple(
    table(group)
    for group in (
        "keep keeps kept store stores stored retain retained hold held",
        "live lives lived base based reside resides wohnt lebt",
        "prefer prefers like likes want wants mag möchte bevorzugt",
        "birthday born geburtstag geboren",
        "work works working do does job employed arbeitet",
        "run runs running use uses used läuft",
        "take takes get gets bekommt",
        "free off frei",
        "own owns owned do does responsible handle handles lead leads",
        "allergy allergic allergie allergisch",
    )
)
# A Chinese character, a word of another script, or the end of a clause.
_TOKENS = (r"\d[\d.,:/-]*\d|\w+|[，；。,;]",
           rf"[{HAN}]|\d[\d.,:/-]*\d|[^\W{HAN}]+|[，；。,;]")  # fmt: skip
_CLAUSES = "，；。,;"


def terms(text: str) -> list[str]:
    """Return the folded words of a text; pairs of characters if a script has no spaces."""
    return _WORD.findall(prepare(text).lower())


def content(text: str) -> set[str]:
    """Return the terms of a text that are not function words."""
    return {term for term in terms(text) if term not in ENGLISH and term not in GERMAN}


def has_form(word: str, others: Collection[str]) -> bool:
    """Return whether some words contain another form of a word, by its beginning."""
    near = [other for other in others if other.startswith(word[:INFLECTED])]
    return any(_is_form(word, other) for other in near) and not has_han(word)


def common_length(one: Sequence[str], other: Sequence[str]) -> int:
    """Count the equal items at the beginning of two texts or lists."""
    return sum(takewhile(bool, map(eq, one, other)))


def _is_form(word: str, other: str) -> bool:
    common = common_length(word, other)
    if common < INFLECTED:
        return False
    shorter, longer = sorted((word[common:], other[common:]), key=len)
    if common < _LONG:
        return not shorter and longer.removeprefix(word[common - 1]) in _OF_SHORT
    return len(longer) <= _ENDING and (not shorter or {shorter, longer} <= _ENDINGS)


def has_synonym(word: str, others: Collection[str]) -> bool:
    """Return whether some words contain one that means about the same."""
    return any(word in group and not group.isdisjoint(others) for group in SYNONYMS)


def has_han(text: str) -> bool:
    """Return whether a text contains Chinese; a pattern for it is slow to compile."""
    return not text.isascii() and any(HAN[0] <= sign <= HAN[-1] for sign in text)


def tokens_of(text: str) -> list[str]:
    """Split a text into words, Chinese characters and ends of clauses."""
    tokens = re.findall(_TOKENS[has_han(text)], text.casefold())
    return ["," if each in _CLAUSES else each for each in tokens]
