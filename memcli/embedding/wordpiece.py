"""The BERT uncased WordPiece tokenizer in plain Python, over the shipped vocabulary.

It returns the same ids as the `tokenizers` package, except that it reads a special token in a text
("[SEP]") as ordinary characters.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import chain, count, islice

from memcli.embedding.models import DATA

VOCABULARY = os.path.join(DATA, "vocab.txt")

UNKNOWN, FIRST, LAST = 100, 101, 102  # [UNK] [CLS] [SEP], lines of vocab.txt from 0
SPECIAL_TOKENS = 2  # FIRST and LAST are around every text

_LONGEST_WORD = 100  # characters; a longer word is unknown to BERT
_LONGEST_PIECE = 18  # characters of the longest line of vocab.txt
_WORDS_KEPT = 50_000  # about 15 MB; a corpus of English notes has fewer
_BLOCK = 1 << 16  # characters folded at a time, which limits the memory of a long text
# A search through the vocabulary's bytes costs 0.1 to 0.2 ms, reading it into a table 6 ms: a short
# query needs no table.
_SEARCHES = 30

# As the reference lists them: it starts extension E at 2B920, not at 2B820.
_IDEOGRAPHS = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)


def _fold_ascii(code: int) -> str:
    character = chr(code)
    if character in "\t\n\r ":
        return " "
    if code < 32 or code == 127:
        return ""
    return character.lower() if character.isalnum() else f" {character} "


class _Fold(dict[int, str]):
    """Maps a code point to its replacement before words are split at spaces.

    Folding is per character (no final sigma, no reordering of marks), so one
    `str.translate` cleans, decomposes, strips accents, lowers and spaces a whole text.
    """

    def __init__(self) -> None:
        super().__init__((code, _fold_ascii(code)) for code in range(128))

    def __missing__(self, code: int) -> str:
        folded = self[code] = _fold(code)
        return folded


def _fold(code: int) -> str:
    import unicodedata

    then = reading(code)
    if then is not None:
        return then
    character = chr(code)
    category = unicodedata.category(character)
    if code == 0xFFFD or category in ("Cc", "Cf", "Co", "Cs"):
        return ""
    if character.isspace():
        return " "
    folded = ""
    for part in unicodedata.normalize("NFD", character):
        if unicodedata.category(part) != "Mn":
            for lower in part.lower():
                is_sign = lower.isascii() and lower.isprintable() and not lower.isalnum()
                is_mark = is_sign or unicodedata.category(lower).startswith("P")
                folded += f" {lower} " if is_mark else lower
    if any(first <= code <= last for first, last in _IDEOGRAPHS):
        return f" {folded} "
    return folded


_FOLDED = _Fold()


def _words(text: str) -> Iterator[list[str]]:
    start = 0
    while len(text) - start > _BLOCK:
        end = text.find("\n", start + _BLOCK) + 1
        if not end:
            break
        yield text[start:end].translate(_FOLDED).split()
        start = end
    yield text[start:].translate(_FOLDED).split()


def _split(word: str, find: Callable[[str], int | None]) -> tuple[int, ...]:
    """Cut a word into the longest known pieces, from the left."""
    if len(word) > _LONGEST_WORD:
        return (UNKNOWN,)
    pieces: list[int] = []
    start, prefix = 0, ""
    while start < len(word):
        for end in range(min(len(word), start + _LONGEST_PIECE), start, -1):
            piece = find(prefix + word[start:end])
            if piece is not None:
                break
        else:
            return (UNKNOWN,)
        pieces.append(piece)
        start, prefix = end, "##"
    return tuple(pieces)


class WordPiece(dict[str, tuple[int, ...]]):
    """The tokenizer, which remembers the ids of each folded word. It opens at once."""

    def __init__(self) -> None:
        super().__init__()
        self._lines = b"\n" + _read_vocabulary()
        self._searches = 0

    def __missing__(self, word: str) -> tuple[int, ...]:
        pieces = _split(word, self._find)
        if len(word) <= _LONGEST_WORD:
            if len(self) >= _WORDS_KEPT:
                self.clear()
            self[word] = pieces
        return pieces

    def _find(self, piece: str) -> int | None:
        """Search the vocabulary's bytes for the first pieces, and a table for the others."""
        self._searches += 1
        if self._searches > _SEARCHES:
            return _read_ids().get(piece)
        at = self._lines.find(b"\n" + piece.encode() + b"\n")
        return None if at < 0 else self._lines.count(b"\n", 0, at)

    def count(self, text: str) -> int:
        """Count the tokens of `text`, special tokens included."""
        known = self.__getitem__
        return SPECIAL_TOKENS + sum(sum(map(len, map(known, words))) for words in _words(text))

    def ids(self, text: str, limit: int | None = None) -> list[int]:
        """Return the ids of `text`, special tokens included, cut to `limit` ids."""
        room = None if limit is None else limit - SPECIAL_TOKENS
        pieces = chain.from_iterable(map(self.__getitem__, chain.from_iterable(_words(text))))
        return [FIRST, *islice(pieces, room), LAST]


def _read_vocabulary() -> bytes:
    with open(VOCABULARY, "rb") as file:
        return file.read()


@cache
def _read_ids() -> dict[str, int]:
    return dict(zip(_read_vocabulary().decode().split("\n"), count(), strict=False))


def whole_words(words: Iterable[str]) -> frozenset[str]:
    """Return the words that are whole entries of the vocabulary: English words and some names."""
    lines = b"\n" + _read_vocabulary()
    return frozenset(w for w in words if b"\n%b\n" % w.translate(_FOLDED).encode() in lines)


# `tokenizers` uses an early Unicode version, and Python a newer one with each release.
# Token counts decide where segments end, so they may not change: memcli reads the characters below
# as the reference does, on every Python.
# Pairs of first code point and the one after the last. Inside, the reference leaves every
# character as it is, where Unicode 18 sees a mark, a control or punctuation. Found by
# putting each code point between two letters and comparing the ids.
# fmt: off
_KEPT = (
    0x5C8, 0x5CA, 0x61D, 0x61E, 0x7FD, 0x7FE, 0x890, 0x8E3, 0x9FD, 0x9FF, 0xA76, 0xA77,
    0xAFA, 0xB00, 0xB53, 0xB56, 0xC04, 0xC3D, 0xC77, 0xC78, 0xC84, 0xC85, 0xD00, 0xD01,
    0xD3B, 0xD3D, 0xD81, 0xD82, 0xEBA, 0xEBB, 0xECE, 0xECF, 0x180F, 0x1887, 0x1ABF, 0x1AF1,
    0x1B4E, 0x1B50, 0x1B7D, 0x1B80, 0x1DF6, 0x1DFC, 0x2E43, 0x2E64, 0xA82C, 0xA82D,
    0xA8C5, 0xA8C6, 0xA8FF, 0xA900, 0xA9BD, 0xA9BE, 0x10D24, 0x10F8A, 0x11070, 0x11075,
    0x110C2, 0x110CE, 0x111CF, 0x111D0, 0x1123E, 0x11242, 0x1133B, 0x1133C, 0x113BB, 0x1145F,
    0x11660, 0x1166D, 0x116B9, 0x116BA, 0x1182F, 0x12000, 0x12FF1, 0x16130, 0x16D6D, 0x16F50,
    0x16FE2, 0x16FE5, 0x1CF00, 0x1D129, 0x1D25B, 0x1D25D, 0x1E000, 0x1E6F6, 0x1E944, 0x1E960,
)
# fmt: on

# Characters whose category has changed since then.
_DROPPED_THEN = frozenset((0x1734, 0x1171E))
_PUNCTUATION_THEN = frozenset((0x166D, 0x111C9))


def reading(code: int) -> str | None:
    """Return how the reference folds `code`, or None if Python's tables agree with it."""
    from bisect import bisect_right

    if code in _DROPPED_THEN:
        return ""
    if code in _PUNCTUATION_THEN:
        return f" {chr(code)} "
    return chr(code) if bisect_right(_KEPT, code) % 2 else None
