"""List the other forms of a word: spellings, singular and plural, parts of a compound; pure.

`repair` finds out which of them the notes contain. Words are folded and in lower case.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from memcli.language.terms import common_length

# Letters that may be missing or wrong. The first alphabet with a letter of the word counts.
ALPHABETS = (
    "abcdefghijklmnopqrstuvwxyz",
    "абвгдежзийклмнопрстуфхцчшщъыьэюяіїєґ",
    "αβγδεζηθικλμνξοπρστυφχψω",
)
KEYS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")  # rows of a keyboard
VOWELS = "aeiouy"
# The likelihood of a wrong or extra letter, relative to a missing letter, which can be at one place
# only: the letter before it again, one of six keys around it or another vowel, any letter.
TWICE, NEAR, FAR = 1 / 2, 1 / 6, 1 / 26

# Endings of plurals and singulars that the stemmer does not unify.
ENGLISH_NUMBERS = (
    ("ves", "f"), ("ves", "fe"), ("men", "man"), ("ices", "ex"), ("ices", "ix"), ("ses", "sis"),
    ("ria", "rion"), ("ena", "enon"), ("a", "um"), ("i", "us"), ("feet", "foot"),
    ("teeth", "tooth"), ("geese", "goose"), ("mice", "mouse"), ("children", "child"),
    ("people", "person"),
)  # fmt: skip
OTHER_NUMBERS = (("en", ""), ("er", ""), ("ern", ""), ("es", ""), ("ces", "z"), ("aux", "al"))
SHORTEST_NOUN = 4  # letters of either form
# Forms of English verbs that the stemmer does not unify, one verb per comma.
_IRREGULAR = """
    beat beaten, become became, begin began begun, bend bent, bite bit bitten, bleed bled, blow blew
    blown, break broke broken, breed bred, bring brought, build built, burn burnt, buy bought, catch
    caught, choose chose chosen, come came, creep crept, deal dealt, dig dug, draw drew drawn, dream
    dreamt, drink drank drunk, drive drove driven, eat ate eaten, fall fell fallen, feed fed, feel
    felt, fight fought, find found, fly flew flown, forbid forbade forbidden, forget forgot
    forgotten, forgive forgave forgiven, freeze froze frozen, get got gotten, give gave given, go
    went gone, grow grew grown, hang hung, hear heard, hide hid hidden, hold held, keep kept, know
    knew known, lay laid, lead led, learn learnt, leave left, lend lent, lie lay lain, light lit,
    lose lost, make made, mean meant, meet met, pay paid, ride rode ridden, ring rang rung, rise
    rose risen, run ran, say said, see saw seen, seek sought, sell sold, send sent, shake shook
    shaken, shine shone, shoot shot, show shown, shrink shrank shrunk, sing sang sung, sink sank
    sunk, sit sat, sleep slept, slide slid, speak spoke spoken, speed sped, spell spelt, spend
    spent, spin spun, spoil spoilt, stand stood, steal stole stolen, stick stuck, sting stung,
    strike struck, swear swore sworn, sweep swept, swim swam swum, swing swung, take took taken,
    teach taught, tear tore torn, tell told, think thought, throw threw thrown, understand
    understood, wake woke woken, wear wore worn, weave wove woven, weep wept, win won, wind wound,
    withdraw withdrew withdrawn, write wrote written
"""

# Folded endings of one word in English, German, French, Portuguese and Spanish.
_INFLECTIONS = """
    a aba aban abas ada adas ado ados ai am an ando ao ar ara aran arian aria aron as ase asse
    ava avam e ed em en ent er era eran eras eria erian ern ers es est eu ez i ia iam ian ida
    idas ido idos iendo indo ing io ir ira iran iria irian ieron is n o ons oes os ou ra ran ria
    rian rs s te ten
"""
INFLECTIONS = frozenset(("", *_INFLECTIONS.split()))
PLAIN_INFLECTIONS = frozenset(("", "s", "es", "ed", "ing"))  # a typing mistake does not drop these
# Endings of related words: entrepreneurial is searched as entrepreneur without a message.
DERIVATIONS = frozenset(("al", "ial", "ful", "ic", "less", "ly", "ment", "ness", "ship"))
SHORTEST_ROOT = 4  # letters that two forms of a word share

SHORTEST_COMPOUND, SHORTEST_FIRST, SHORTEST_SECOND = 8, 3, 4  # letters
LINKS = ("s", "es", "n", "en", "er", "e")  # what German puts between the words of a compound


def spellings(word: str) -> dict[str, float]:
    """Return the words that are one edit away, each with the likelihood of that mistake.

    The first letter stays, unless it is swapped with the next. Example: `wrod` gives `word`
    (1, two letters swapped) and `wrood` (1, a missing letter), but `wood` at 1/26 (a wrong one).
    """
    words: dict[str, float] = {}
    letters = next((each for each in ALPHABETS if not {*word}.isdisjoint(each)), "")

    def put(spelling: str, weight: float) -> None:
        if spelling != word and weight > words.get(spelling, 0.0):
            words[spelling] = weight

    for at, letter in enumerate(word):
        before, after = word[:at], word[at + 1 :]
        put(before + after[:1] + letter + after[1:], 1.0)
        for other in letters:
            put(before + letter + other + after, 1.0)
            if at:
                put(before + other + after, _mistaken(letter, other))
        if at:
            put(before + after, max(_mistaken(letter, near) for near in before[-1] + after[:1]))
    return words


@cache
def _mistaken(typed: str, meant: str) -> float:
    """Return the likelihood of one letter being typed for another, or next to it."""
    if typed == meant:
        return TWICE
    return NEAR if {typed, meant} <= {*VOWELS} or _are_neighbours(typed, meant) else FAR


def _are_neighbours(one: str, other: str) -> bool:
    (a, b), (c, d) = _place(one), _place(other)
    return min(a, c) >= 0 and abs(a - c) <= 1 and abs(b - d) <= 1


def _place(key: str) -> tuple[int, int]:
    """Return row and column of a key; the row is -1 for a key on no row."""
    return next(((at, row.index(key)) for at, row in enumerate(KEYS) if key in row), (-1, -1))


def numbers(word: str, endings: tuple[tuple[str, str], ...]) -> Iterator[str]:
    """Yield the singulars and plurals of a word. Example: wolves -> wolf, wolfe."""
    for plural, singular in endings:
        for old, new in ((plural, singular), (singular, plural)):
            other = word.removesuffix(old) + new
            if word.endswith(old) and min(len(word), len(other)) >= SHORTEST_NOUN:
                yield other


def irregular(word: str) -> Iterator[str]:
    """Yield the other forms of an irregular English verb. Example: run -> ran.

    They are not searched: participles mean other things, as in `a hidden cereal`. That lost 1.2 of
    nDCG@10 over the 29 questions of `fixtures/eval/conversations` with such a word.
    """
    for forms in map(str.split, _IRREGULAR.split(",")):
        if word in forms:
            yield from (form for form in forms if form != word)


def endings(one: str, other: str) -> tuple[str, str]:
    """Return what follows the common beginning of two words."""
    at = common_length(one, other)
    return one[at:], other[at:]


def are_forms(one: str, other: str) -> bool:
    """Return whether two words differ only in their endings. Example: describen and describes.

    They share SHORTEST_ROOT letters. A word without its last letters is a mistake, unless these are
    a common English ending. The first may also be derived from the other: entrepreneurial.
    """
    ends = endings(one, other)
    if len(one) - len(ends[0]) < SHORTEST_ROOT:
        return False
    if not ends[1] and ends[0] in DERIVATIONS:
        return True
    return (INFLECTIONS if all(ends) else PLAIN_INFLECTIONS).issuperset(ends)


def compounds(word: str) -> Iterator[tuple[str, str]]:
    """Yield the pairs of words that may form a compound, without the link between them.

    Example: arbeitszimmer -> …, (arbeit, szimmer), (arbeit, zimmer), (arbeits, zimmer), …
    """
    if len(word) < SHORTEST_COMPOUND:
        return
    for at in range(SHORTEST_FIRST, len(word) - SHORTEST_SECOND + 1):
        first, second = word[:at], word[at:]
        for link in (*LINKS, ""):
            if first.endswith(link) and len(first) - len(link) >= SHORTEST_FIRST:
                yield first.removesuffix(link), second


def grouped(number: str) -> str | None:
    """Write a number with or without separators of thousands; None for any other text.

    Example: 1290 -> 1,290; 1.290 and 1,290 -> 1290.
    """
    if re.fullmatch(r"\d{1,3}(?:[.,]\d{3})+", number):
        return re.sub(r"\D", "", number)
    return f"{int(number):,}" if re.fullmatch(r"[1-9]\d{3,17}", number) else None
