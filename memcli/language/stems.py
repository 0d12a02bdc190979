"""Unify spellings and inflections in scripts that Porter's stemmer does not handle; pure.

`letters` gives letters that are read alike one spelling. `stems` gives the cases, numbers and
tenses of a word one stem. The tables are our own. The next version of a library could look for
other words than an index contains.

Sources: the Russian rules are Porter's (https://snowballstem.org/algorithms/russian), the Arabic
ones are light10 (Larkey, Ballesteros and Connell, Arabic Computational Morphology, 2007). They
apply to all words in these scripts, except words with letters that Russian does not have.
"""

from __future__ import annotations

import re
from functools import lru_cache

from memcli.language.stopwords import table
from memcli.record import Record

MOST_KEPT = 1 << 16  # stems in memory: the words of a large workspace, some 10 MB

_ZEROS = "٠۰߀०০੦૦୦௦౦೦൦๐໐༠၀០᠐"
_DIGITS = {ord(zero) + n: str(n) for zero in _ZEROS for n in range(10)}
_KATAKANA = {code: code - 0x60 for code in (*range(0x30A1, 0x30F7), 0x30FD, 0x30FE)}
_ALIKE = str.maketrans(
    "ёıάέήίόύώϊϋΐΰأإآٱىیةکہ",
    "еiαεηιουωιυιυااااييهكه",
    "\u0301",  # a stress mark that does not compose with a letter, as in за́мок
)
_LETTERS = {**_ALIKE, **_DIGITS, **_KATAKANA}

_CYRILLIC = "[\u0400-\u052f]+"
_ARABIC = "[\u0620-\u06d3]+"
_VOWELS = "аеиоуыэюя"

_LONGEST_END = 6  # letters


class _Endings(Record):
    """Endings of a class of words; the first ones follow а or я."""

    behind_a: frozenset[str]
    others: frozenset[str]


def _endings(behind_a: str, others: str) -> _Endings:
    return _Endings(table(behind_a), table(others))


# By Porter's names. These are sets, because patterns of this size take 20 ms to compile.
_GERUND = _endings("в вши вшись", "ив ивши ившись ыв ывши ывшись")
_REFLEXIVE = _endings("", "ся сь")
_ADJECTIVE = _endings(
    "", "ее ие ые ое ими ыми ей ий ый ой ем им ым ом его ого ему ому их ых ую юю ая яя ою ею"
)
_PARTICIPLE = _endings("ем нн вш ющ щ", "ивш ывш ующ")
_VERB = _endings(
    "ла на ете йте ли й л ем н ло но ет ют ны ть ешь нно",
    "ила ыла ена ейте уйте ите или ыли ей уй ил ыл им ым ен ило ыло ено ят ует уют ит ыт ены ить"
    " ыть ишь ую ю",
)
_NOUN = _endings(
    "",
    "а ев ов ие ье е иями ями ами еи ии и ией ей ой ий й иям ям ием ем ам ом о у ах иях ях ы ь"
    " ию ью ю ия ья я",
)
_ABSTRACT = ("ость", "ост")
_SUPERLATIVE = ("ейше", "ейш")
# An abstract noun has two syllables before its ending.
_IS_LONG = f"[{_VOWELS}][^{_VOWELS}]+[{_VOWELS}]+[^{_VOWELS}].*ость?$"
_ARTICLE = "وال|بال|كال|فال|ال|لل"
_ARTICLE_OR_AND = f"(?:{_ARTICLE})(?=..)|و(?=...)"
_ARABIC_ENDS = ("ها", "ان", "ات", "ون", "ين", "يه", "ه", "ي")
_SHORTEST_ARABIC = 2  # remaining letters


def letters(text: str) -> str:
    """Write letters and digits that are read alike in one way; the text is in lower case.

    Example: `مدرسة` -> `مدرسه`; `ёлка` -> `елка`; `カナ` -> `かな`; `٣٠٥` -> `305`.
    """
    return text.translate(_LETTERS)


def stems(text: str) -> str:
    """Replace Russian and Arabic words by their stems; the text comes from `letters`.

    A stem is not a word: do not stem it again.
    Example: `настройки сервера` -> `настройк сервер`; `بالمدرسه` -> `مدرس`.
    """
    text = re.sub(_CYRILLIC, lambda word: _russian(word[0]), text)
    return re.sub(_ARABIC, lambda word: _arabic(word[0]), text)


@lru_cache(MOST_KEPT)
def _russian(word: str) -> str:
    at = 1 + next((n for n, letter in enumerate(word) if letter in _VOWELS), len(word))
    if at > len(word) or max(word) > "я":
        return word
    start, rest = word[:at], word[at:]
    if (cut := _without(_GERUND, rest)) == rest:
        rest = _without(_REFLEXIVE, rest)
        if (cut := _without(_ADJECTIVE, rest)) != rest:
            cut = _without(_PARTICIPLE, cut)
        elif (cut := _without(_VERB, rest)) == rest:
            cut = _without(_NOUN, rest)
    rest = cut.removesuffix("и")
    if rest.endswith(_ABSTRACT) and re.search(_IS_LONG, start + rest):
        rest = _first_off(_ABSTRACT, rest)
    rest = _first_off(_SUPERLATIVE, rest)
    return start + (rest[:-1] if rest.endswith(("нн", "ь")) else rest)


def _without(endings: _Endings, rest: str) -> str:
    """Remove the longest of some endings from what follows the first vowel of a word."""
    for length in range(min(_LONGEST_END, len(rest)), 0, -1):
        stem, end = rest[:-length], rest[-length:]
        if end in endings.others or (end in endings.behind_a and stem.endswith(("а", "я"))):
            return stem
    return rest


def _first_off(ends: tuple[str, ...], rest: str) -> str:
    return next((rest.removesuffix(end) for end in ends if rest.endswith(end)), rest)


@lru_cache(MOST_KEPT)
def _arabic(word: str) -> str:
    word = re.sub(f"^(?:{_ARTICLE_OR_AND})", "", word, count=1)
    for end in _ARABIC_ENDS:
        if len(word) >= len(end) + _SHORTEST_ARABIC:
            word = word.removesuffix(end)
    return word
