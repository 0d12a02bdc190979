"""Words as an index contains them: composed, folded and stemmed; pure.

The stores know the syntax of an index, and `search.query` the meaning of a query.

A tokenizer makes one token of a whole run of a script without spaces. So such runs are indexed as
overlapping pairs of characters, and the last character once more as a single one: `東京都` becomes
`東京 京都 都`. Then a query for `東京` is one token, a query for `東` is a prefix, and a character
needs no row of its own.
"""

from __future__ import annotations

import re
from itertools import pairwise

from memcli.types import Term

# The names of months in English and German and their short forms, for patterns.
MONTHS = (
    "jan(?:uary|uar)?|feb(?:ruary|ruar)?|mar(?:ch)?|märz|apr(?:il)?|may|mai|june?|juni|july?|juli"
    "|aug(?:ust)?|sept?(?:ember)?|o[ck]t(?:ober)?|nov(?:ember)?|de[cz](?:ember)?"
)

HAN = "\u3400-\u9fff"  # a range of characters, for patterns
# Han, kana, bopomofo, hangul: one character is one unit.
_WIDE = (
    "\u1100-\u11ff\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff"
    "\u3105-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3"
    "\ud7b0-\ud7fb\uf900-\ufaff\U00020000-\U000323af"
)
# Thai, Lao, Myanmar, Khmer without digits and stops: a letter with its marks is one unit.
_STACKED = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ecf\u0edc-\u0edf\u1000-\u103f\u1050-\u108f\u1780-\u17d3"
)
# Soft hyphens, joiners, variation selectors, Hebrew points, Arabic vowels and tatweel: spelling
# variants that would split a word. Half surrogates cannot be stored as UTF-8.
_IGNORED = (
    "\u00ad\u0591-\u05bd\u05bf\u05c1-\u05c7\u0640\u064b-\u065f\u0670\u200c\u200d\u2060"
    "\ufe00-\ufe0f\ufeff\ud800-\udfff\U000e0100-\U000e01ef"
)
# Letters and digits that have other spellings, and scripts whose words have our stems.
_VARIED = "[\u0131\u0301\u0370-\u03ff\u0400-\u052f\u0600-\u1819\u3041-\u30ff]"
_STEMMED = "[\u0400-\u052f\u0620-\u06d3]"
# One class each: with alternatives, the scan for the start of a match is ten times slower.
# `re` compiles them at first use, and a query in ASCII never uses them (3 ms).
_WIDE_RUN = f"[{_WIDE}]+"
_STACKED_RUN = f"[{_STACKED}]+"
_DROP = f"[{_IGNORED}]+"
# A letter, its marks, and letters stacked below it by a Khmer or Myanmar sign.
_CLUSTER = r"\w\W*(?:(?<=[\u17d2\u1039])\w\W*)*"


def compose(text: str) -> str:
    """Normalise (NFKC) and remove invisible characters; ASCII stays as it is."""
    if text.isascii():
        return text
    from unicodedata import normalize  # ASCII does not need this extension module

    # NFKC would join the letters TM to the word before it.
    return re.sub(_DROP, "", normalize("NFKC", text.replace("™", " ")))


def fold(text: str) -> str:
    """Compose, fold case, and unify letters and digits that are read alike."""
    if text.isascii():
        return text.lower()
    text = compose(text).casefold()
    if not re.search(_VARIED, text):
        return text
    from memcli.language.stems import letters  # Latin texts do not need these tables

    return letters(text)


def stem(folded: str) -> str:
    """Replace words that the tokenizer does not stem by their stems.

    A stem is not a word: do not stem it again.
    """
    if folded.isascii() or not re.search(_STEMMED, folded):
        return folded
    from memcli.language.stems import stems

    return stems(folded)


def units(run: str) -> list[str]:
    """Cut a run of a script without spaces into characters; marks stay with their letter."""
    is_stacked = "\u0e00" <= run[0] < "\u1800" and not "\u1100" <= run[0] < "\u1200"
    return re.findall(_CLUSTER, run) if is_stacked else list(run)


def pairs(run: str) -> list[str]:
    """Return the overlapping pairs of a run. Example: 東京都 -> [東京, 京都], 東 -> [東]."""
    parts = units(run)
    return [a + b for a, b in pairwise(parts)] or parts


def split_runs(text: str) -> list[tuple[str, bool]]:
    """Cut text where a script without spaces begins or ends; the flag marks its runs."""
    runs, at = [], 0
    for match in _runs(text):
        runs += [(text[at : match.start()], False), (match[0], True)]
        at = match.end()
    runs.append((text[at:], False))
    return [piece for piece in runs if piece[0]]


def prepare(text: str) -> str:
    """Prepare a text for a tokenizer that indexes it."""
    return text if text.isascii() else _spread(stem(fold(text)))


def is_searchable(text: str) -> bool:
    """Return whether a text contains a letter or a digit, which a tokenizer keeps."""
    return any(c.isalnum() or "\ue000" <= c <= "\uf8ff" for c in text)


def index_term(text: str, *, prefix: bool = False) -> Term | None:
    """Return a term as the index contains it; None if no token would remain.

    The beginning of a word has no stem.
    Example: `v0.1` -> (`v0.1`, False), `東京都` -> (`東京 京都`, False), `東` -> (`東`, True).
    """
    folded = fold(text) if prefix else stem(fold(text))
    if not is_searchable(folded):
        return None
    runs = _runs(folded)
    if runs and not is_searchable(folded[runs[-1].end() :]):
        # The last run may go on in the document, so do not ask for its last unit.
        last = pairs(runs[-1][0])
        prefix = prefix or last == units(runs[-1][0])
        folded = " ".join([_spread(folded[: runs[-1].start()]), *last])
    elif runs:
        folded = _spread(folded)
    return Term(folded, prefix)


def _runs(text: str) -> list[re.Match[str]]:
    if text.isascii():
        return []
    runs = [*re.finditer(_WIDE_RUN, text), *re.finditer(_STACKED_RUN, text)]
    return sorted(runs, key=lambda match: match.start())


class _Doubled(dict[str, str]):
    """Replaces a character after the first: the end of a pair, a space, the start of the next."""

    def __missing__(self, char: str) -> str:
        doubled = self[char] = f"{char} {char}"
        return doubled


# Twice as fast as slicing pairs; it grows to one entry for each character in use.
_double = _Doubled().__getitem__


def _spread(text: str) -> str:
    return re.sub(_STACKED_RUN, _spread_stacked, re.sub(_WIDE_RUN, _spread_wide, text))


def _spread_wide(match: re.Match[str]) -> str:
    run = match[0]
    return f" {run[0]}{''.join(map(_double, run[1:]))} "


def _spread_stacked(match: re.Match[str]) -> str:
    parts = units(match[0])
    return " ".join(["", *map("".join, pairwise(parts)), *parts[-1:], ""])
