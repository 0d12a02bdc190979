"""How well a model can read a text: its scripts, and how often its words had to be cut.

What follows for a query or a chunk (less weight, or keywords alone) is left to the caller.
"""

from __future__ import annotations

from memcli.record import Record

# First words of character names in the Unicode database.
_LATIN = ("LATIN", "FULLWIDTH LATIN")
_CJK = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO", "IDEOGRAPHIC", "HALFWIDTH")


class Shares(Record):
    """Shares of a text's letters; what is neither Latin nor CJK makes up the rest."""

    latin: float
    cjk: float


ALL_LATIN = Shares(1.0, 0.0)  # also for a text without letters: nothing speaks against it


def script_shares(text: str) -> Shares:
    """Measure how much of `text` is Latin and how much Chinese, Japanese or Korean."""
    if text.isascii():
        return ALL_LATIN
    from collections import Counter
    from unicodedata import name

    latin = cjk = letters = 0
    for character, times in Counter(text).items():
        if not character.isalpha():
            continue
        letters += times
        called = "LATIN" if character.isascii() else name(character, "")
        if called.startswith(_LATIN):
            latin += times
        elif called.startswith(_CJK):
            cjk += times
    return Shares(latin / letters, cjk / letters) if letters else ALL_LATIN


def latin_share(text: str) -> float:
    """Give the share of letters that are Latin; 1.0 for a text without letters."""
    return script_shares(text).latin


def fertility(tokens: int, text: str) -> float:
    """Give the tokens a word of `text` was cut into, 1.0 at best (Rust et al., ACL 2021).

    English questions come to 1.1 to 1.6 with an English vocabulary, Spanish ones to 1.5 to 2.7.
    """
    return max(1.0, tokens / max(1, len(text.split())))
