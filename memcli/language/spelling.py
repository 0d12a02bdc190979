"""What a word may be meant as: other spellings, numbers of a noun, the parts of a compound; pure.

Which of it the notes hold is for `repair` to find out. Words come folded, in small letters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import takewhile
from operator import eq

# What may have been left out of a word or typed wrongly; the first that has one of its letters.
ALPHABETS = (
    "abcdefghijklmnopqrstuvwxyz",
    "абвгдежзийклмнопрстуфхцчшщъыьэюяіїєґ",
    "αβγδεζηθικλμνξοπρστυφχψω",
)
KEYS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")  # rows of a keyboard
VOWELS = "aeiouy"
# How likely a wrong letter is beside a letter left out, of which there is one in each place: the
# letter before it once more, one of the six keys around or another vowel, any of the alphabet.
TWICE, NEAR, FAR = 1 / 2, 1 / 6, 1 / 26

# Endings of plurals and of their singulars that the stemmer leaves apart.
ENGLISH_NUMBERS = (
    ("ves", "f"), ("ves", "fe"), ("men", "man"), ("ices", "ex"), ("ices", "ix"), ("ses", "sis"),
    ("ria", "rion"), ("ena", "enon"), ("a", "um"), ("i", "us"), ("feet", "foot"),
    ("teeth", "tooth"), ("geese", "goose"), ("mice", "mouse"), ("children", "child"),
    ("people", "person"),
)  # fmt: skip
OTHER_NUMBERS = (("en", ""), ("er", ""), ("ern", ""), ("es", ""), ("ces", "z"), ("aux", "al"))
SHORTEST_NOUN = 4  # letters of either number

# Endings, folded, of one word in English, German, French, Portuguese and Spanish.
_INFLECTIONS = """
    a aba aban abas ada adas ado ados ai am an ando ao ar ara aran arian aria aron as ase asse
    ava avam e ed em en ent er era eran eras eria erian ern ers es est eu ez i ia iam ian ida
    idas ido idos iendo indo ing io ir ira iran iria irian ieron is n o ons oes os ou ra ran ria
    rian rs s te ten
"""
INFLECTIONS = frozenset(("", *_INFLECTIONS.split()))
PLAIN_INFLECTIONS = frozenset(("", "s", "es", "ed", "ing"))  # that a slip does not leave out
SHORTEST_ROOT = 4  # letters that two forms of a word share

SHORTEST_COMPOUND, SHORTEST_FIRST, SHORTEST_SECOND = 8, 3, 4  # letters
LINKS = ("s", "es", "n", "en", "er", "e")  # what German puts between the words of a compound


def spellings(word: str) -> dict[str, float]:
    """Give what one edit makes of a word, and how likely the mistake is that the edit undoes.

    The first letter is kept unless it was swapped with the next. Example: of `wrod` both `word`
    (1, two letters swapped) and `wrood` (1, a letter left out), but `wood` at 1/26 (a wrong one).
    """
    found: dict[str, float] = {}
    letters = next((each for each in ALPHABETS if not {*word}.isdisjoint(each)), "")

    def put(spelling: str, weight: float) -> None:
        if spelling != word and weight > found.get(spelling, 0.0):
            found[spelling] = weight

    for at, letter in enumerate(word):
        before, after = word[:at], word[at + 1 :]
        put(before + after[:1] + letter + after[1:], 1.0)
        for other in letters:
            put(before + letter + other + after, 1.0)
            if at:
                put(before + other + after, _mistaken(letter, other))
        if at:
            put(before + after, max(_mistaken(letter, near) for near in before[-1] + after[:1]))
    return found


@cache
def _mistaken(typed: str, meant: str) -> float:
    """Tell how likely one letter is typed for another, or beside it."""
    if typed == meant:
        return TWICE
    return NEAR if {typed, meant} <= {*VOWELS} or _are_neighbours(typed, meant) else FAR


def _are_neighbours(one: str, other: str) -> bool:
    """Tell whether two keys touch."""
    (a, b), (c, d) = _place(one), _place(other)
    return min(a, c) >= 0 and abs(a - c) <= 1 and abs(b - d) <= 1


def _place(key: str) -> tuple[int, int]:
    """Give row and column of a key, -1 for one that is on no row."""
    return next(((at, row.index(key)) for at, row in enumerate(KEYS) if key in row), (-1, -1))


def numbers(word: str, endings: tuple[tuple[str, str], ...]) -> Iterator[str]:
    """Give the singulars of a word, and its plurals. Example: wolves -> wolf, wolfe."""
    for plural, singular in endings:
        for old, new in ((plural, singular), (singular, plural)):
            other = word.removesuffix(old) + new
            if word.endswith(old) and min(len(word), len(other)) >= SHORTEST_NOUN:
                yield other


def endings(one: str, other: str) -> tuple[str, str]:
    """Give what two words have after the letters that they begin with alike."""
    shared = sum(takewhile(bool, map(eq, one, other)))
    return one[shared:], other[shared:]


def are_forms(one: str, other: str) -> bool:
    """Tell whether two words differ only in their endings. Example: describen and describes.

    A word that lacks its last letters is a slip unless they are a common ending of English.
    """
    ends = endings(one, other)
    known = INFLECTIONS if all(ends) else PLAIN_INFLECTIONS
    return len(one) - len(ends[0]) >= SHORTEST_ROOT and known.issuperset(ends)


def compounds(word: str) -> Iterator[tuple[str, str]]:
    """Give the words a compound may be made of, the link between them left out.

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
    """Write a number with its thousands set apart, or without; None for what is none of both.

    Example: 1290 -> 1,290; 1.290 and 1,290 -> 1290.
    """
    if re.fullmatch(r"\d{1,3}(?:[.,]\d{3})+", number):
        return re.sub(r"\D", "", number)
    return f"{int(number):,}" if re.fullmatch(r"[1-9]\d{3,17}", number) else None
