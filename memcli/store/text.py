"""Text as the keyword index holds it, and FTS5 MATCH expressions that cannot break.

It leaves SQL to the store and the meaning of a query to `search.query`.

unicode61 makes one token of a whole run of a script that is written without spaces, so
such runs are indexed as overlapping pairs of characters, and the last character once
more alone: `東京都` becomes `東京 京都 都`. A query for `東京` is then one token, a query for
`東` is a prefix, and no character needs a row of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

# Marks are part of a word: the default categories cut Thai and Hindi at every vowel sign.
TOKENIZER = ("porter", "unicode61", "remove_diacritics", "2", "categories", "L* N* Co Mn Mc")
TOKENIZE = " ".join(f"'{word}'" if " " in word else word for word in TOKENIZER)

# Han, kana, bopomofo, hangul: one character is one unit.
_WIDE = (
    "\u1100-\u11ff\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff"
    "\u3105-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3"
    "\ud7b0-\ud7fb\uf900-\ufaff\U00020000-\U000323af"
)
# Thai, Lao, Myanmar, Khmer without their digits and stops: a letter with its marks is one unit.
_STACKED = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ecf\u0edc-\u0edf\u1000-\u103f\u1050-\u108f\u1780-\u17d3"
)
# Soft hyphens, joiners, variation selectors, Hebrew points, Arabic vowels and tatweel: spelling
# variants that would split a word. Half surrogates cannot be stored as UTF-8.
_IGNORED = (
    "\u00ad\u0591-\u05bd\u05bf\u05c1-\u05c7\u0640\u064b-\u065f\u0670\u200c\u200d\u2060"
    "\ufe00-\ufe0f\ufeff\ud800-\udfff\U000e0100-\U000e01ef"
)
# One class each: the scan for the start of a match is ten times slower over an alternative.
# `re` compiles them at their first use, and a query in ASCII never uses them (3 ms).
_WIDE_RUN = f"[{_WIDE}]+"
_STACKED_RUN = f"[{_STACKED}]+"
_DROP = f"[{_IGNORED}]+"
# A letter, its marks, and letters stacked below it by a Khmer or Myanmar sign.
_CLUSTER = r"\w\W*(?:(?<=[\u17d2\u1039])\w\W*)*"

# Porter has cut these off the indexed words, whole or in turn. A prefix that ends inside one
# (`generat*`) begins no indexed stem (`gener`): the stem has to be asked for itself.
_SUFFIXES = """
    able ably ability al alism ality ally alize alization ance ancy ant ate ated ating ation
    ational ator ed ement ence ency ent er es ful fulness ible ic ical icate ication ied ies ing
    ion ional ism ist ity ive iveness ize ized izing ization izer ly ment ness ous ously
    ousness
"""
_STEM_MIN = 4  # shorter stems would match unrelated words


def compose(text: str) -> str:
    """Normalise (NFKC) and drop what is not seen; ASCII stays as it is."""
    if text.isascii():
        return text
    from unicodedata import normalize  # an extension module that ASCII needs not load

    # NFKC would glue the letters TM to the word before it.
    return re.sub(_DROP, "", normalize("NFKC", text.replace("™", " ")))


def fold(text: str) -> str:
    """Compose and fold case."""
    return text.lower() if text.isascii() else compose(text).casefold()


def units(run: str) -> list[str]:
    """Cut a run of an unspaced script into characters, marks kept with their letter."""
    return re.findall(_CLUSTER, run) if _stacked(run) else list(run)


def pairs(run: str) -> list[str]:
    """Give the overlapping pairs of a run. Example: 東京都 -> [東京, 京都]; 東 -> [東]."""
    parts = units(run)
    return [a + b for a, b in pairwise(parts)] or parts


def split_runs(text: str) -> list[tuple[str, bool]]:
    """Cut text where an unspaced script begins or ends; the flag marks its runs."""
    found, at = [], 0
    for match in _runs(text):
        found += [(text[at : match.start()], False), (match[0], True)]
        at = match.end()
    found.append((text[at:], False))
    return [piece for piece in found if piece[0]]


def prepare(text: str) -> str:
    """Turn text into what FTS5 is given to index."""
    return text if text.isascii() else _spread(fold(text))


def is_searchable(text: str) -> bool:
    """Tell whether unicode61 would keep a token of this text: a letter or a digit."""
    return any(c.isalnum() or "\ue000" <= c <= "\uf8ff" for c in text)


def sought(term: str, *, prefix: bool = False) -> tuple[str, bool]:
    """Give the text of a term as the index holds it, and whether its end may go on.

    Example: `東京都` -> (`東京 京都`, False); `東` -> (`東`, True). Empty when no token is left.
    """
    folded = fold(term)
    if not is_searchable(folded):
        return "", False
    runs = _runs(folded)
    if runs and not is_searchable(folded[runs[-1].end() :]):
        # The last run may go on in the document, so its last unit alone is not asked for.
        last = pairs(runs[-1][0])
        prefix = prefix or last == units(runs[-1][0])
        folded = " ".join([_spread(folded[: runs[-1].start()]), *last])
    elif runs:
        folded = _spread(folded)
    return folded, prefix


def phrase(term: str, *, prefix: bool = False) -> str | None:
    """Give the quoted FTS5 phrase of a term, or None when no token would be left of it.

    Example: `v0.1` -> `"v0.1"`; `東京都` -> `"東京 京都"`; `東` -> `"東"*`.
    """
    folded, prefix = sought(term, prefix=prefix)
    if not folded:
        return None
    quoted = _quote(folded) + ("*" if prefix else "")
    if prefix and folded.isascii() and folded.isalpha():
        return any_of([quoted, *_stems(folded)])
    return quoted


def any_of(expressions: Iterable[str | None]) -> str | None:
    """Join expressions by OR; None stands for nothing and is left out."""
    return _join(expressions, " OR ")


def all_of(expressions: Iterable[str | None]) -> str | None:
    """Join expressions by AND; None stands for nothing and is left out."""
    return _join(expressions, " AND ")


def without(wanted: str | None, unwanted: str | None) -> str | None:
    """Take the rows of the second expression out of the first."""
    return f"({wanted}) NOT ({unwanted})" if wanted and unwanted else wanted


def _join(expressions: Iterable[str | None], operator: str) -> str | None:
    kept = list(dict.fromkeys(e for e in expressions if e))
    return f"({operator.join(kept)})" if len(kept) > 1 else (kept[0] if kept else None)


def _stems(prefix: str) -> Iterator[str]:
    """Give the phrases that find words beginning with `prefix` whose stem is shorter."""
    if prefix.endswith("y"):  # stemmed to i, but an e is taken off: deploye* is deploy*
        yield f'"{prefix}e"*'
    suffixes = _SUFFIXES.split()
    for n in range(len(prefix) - 1, _STEM_MIN - 2, -1):
        stem, tail = prefix[:n], prefix[n:]
        doubled = tail[0] == stem[-1]  # runn* is the run of running
        if doubled and any(suffix.startswith(tail[1:]) for suffix in suffixes):
            yield f'"{stem}{tail[0]}ing"'
        elif n >= _STEM_MIN and any(suffix.startswith(tail) for suffix in suffixes):
            yield f'"{stem}"'
            yield f'"{stem}e"'  # the query is stemmed again: house is hous, hous would be hou


def _quote(text: str) -> str:
    return '"' + text.replace('"', '""').replace("\0", " ").strip() + '"'


def _stacked(text: str) -> bool:
    return "\u0e00" <= text[0] < "\u1800" and not "\u1100" <= text[0] < "\u1200"


def _runs(text: str) -> list[re.Match[str]]:
    if text.isascii():
        return []
    found = [*re.finditer(_WIDE_RUN, text), *re.finditer(_STACKED_RUN, text)]
    return sorted(found, key=lambda match: match.start())


class _Doubled(dict[str, str]):
    """What a character after the first becomes: the end of a pair, the start of the next."""

    def __missing__(self, char: str) -> str:
        doubled = self[char] = f"{char} {char}"
        return doubled


# Twice as fast as slicing pairs; it grows to one entry a character that is in use.
_double = _Doubled().__getitem__


def _spread(text: str) -> str:
    return re.sub(_STACKED_RUN, _spread_stacked, re.sub(_WIDE_RUN, _spread_wide, text))


def _spread_wide(match: re.Match[str]) -> str:
    run = match[0]
    return f" {run[0]}{''.join(map(_double, run[1:]))} "


def _spread_stacked(match: re.Match[str]) -> str:
    parts = units(match[0])
    return " ".join(["", *map("".join, pairwise(parts)), *parts[-1:], ""])
