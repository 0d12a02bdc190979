"""The BERT uncased WordPiece tokenizer in plain Python, over the shipped vocabulary.

It agrees with the `tokenizers` package id for id, save that a special token spelt out in a
text ("[SEP]") is read as the characters it is. Vectors are left to the encoders.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from io import BytesIO
from itertools import chain, count, islice

from memcli.embedding.models import DATA

VOCABULARY = os.path.join(DATA, "vocab.txt")
VOCABULARY_SHA256 = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"

UNKNOWN, FIRST, LAST = 100, 101, 102  # [UNK] [CLS] [SEP], lines of vocab.txt from 0
SPECIAL_TOKENS = 2  # FIRST and LAST are around every text

_LONGEST_WORD = 100  # characters; BERT takes a longer word as unknown
_LONGEST_PIECE = 18  # characters of the longest line of vocab.txt
_LONGEST_LINE = 4 * (len("##") + _LONGEST_PIECE) + 1  # bytes that may be asked for
_WORDS_KEPT = 50_000  # about 15 MB; a corpus of English notes has fewer
_BLOCK = 1 << 16  # characters folded at a time; bounds the memory of a long text
# A search through the vocabulary's bytes costs 0.1 to 0.2 ms; sorting it 10 ms, then 10 us.
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

_Find = Callable[[str], int | None]


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

    from memcli.embedding.unicode_age import reading

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
                mark = unicodedata.category(lower).startswith("P") or _is_ascii_mark(lower)
                folded += f" {lower} " if mark else lower
    if any(first <= code <= last for first, last in _IDEOGRAPHS):
        return f" {folded} "
    return folded


def _is_ascii_mark(character: str) -> bool:
    return character.isascii() and character.isprintable() and not character.isalnum()


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


def _split(word: str, find: _Find) -> tuple[int, ...]:
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
    """The tokenizer for many texts: a memo from folded word to its ids."""

    def __init__(self) -> None:
        super().__init__()
        self._find: _Find = _read_ids().get

    def __missing__(self, word: str) -> tuple[int, ...]:
        pieces = _split(word, self._find)
        if len(word) <= _LONGEST_WORD:
            if len(self) >= _WORDS_KEPT:
                self.clear()
            self[word] = pieces
        return pieces

    def count(self, text: str) -> int:
        """Count the tokens of `text`, special tokens included."""
        known = self.__getitem__
        return SPECIAL_TOKENS + sum(sum(map(len, map(known, words))) for words in _words(text))

    def ids(self, text: str, limit: int | None = None) -> list[int]:
        """Give the ids of `text`, special tokens included, cut to `limit` ids."""
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
    """Tell which words are whole entries of the vocabulary: words of English, and some names."""
    lines = b"\n" + _read_vocabulary()
    return frozenset(w for w in words if b"\n%b\n" % w.translate(_FOLDED).encode() in lines)


class _Finder:
    """Looks pieces up in the vocabulary's bytes, and sorts them only for many lookups."""

    def __init__(self) -> None:
        self._lines = b"\n" + _read_vocabulary()
        self._left = _SEARCHES
        self._sorted: _ByLength | None = None

    def __call__(self, piece: str) -> int | None:
        sought = piece.encode()
        if self._sorted is not None:
            return self._sorted.find(sought)
        if not self._left:
            self._sorted = _ByLength(self._lines[1:])
            self._lines = b""
            return self._sorted.find(sought)
        self._left -= 1
        at = self._lines.find(b"\n" + sought + b"\n")
        return None if at < 0 else self._lines.count(b"\n", 0, at)


class _ByLength:
    """The vocabulary as a block of lines for each length of line: 0.3 MB, where a dict takes 4.

    All lines of a block are equally long, so that one can only be found where it begins.
    """

    def __init__(self, vocabulary: bytes) -> None:
        self._blocks = [bytearray() for _ in range(_LONGEST_LINE + 1)]
        self._numbers = [array("H") for _ in self._blocks]
        # Bound once: this runs for every one of 30,000 lines.
        extend = [block.extend for block in self._blocks]
        append = [numbers.append for numbers in self._numbers]
        for number, line in enumerate(BytesIO(vocabulary)):
            length = len(line)
            extend[length](line)
            append[length](number)

    def find(self, piece: bytes) -> int | None:
        line = piece + b"\n"
        at = self._blocks[len(line)].find(line)
        return None if at < 0 else self._numbers[len(line)][at // len(line)]


class QueryWords:
    """The tokenizer for queries: opened in no time, since it does not read the vocabulary in.

    A word longer than any piece, a text of many words and the later of many texts read it in
    after all, so the time stays bounded.
    """

    def __init__(self) -> None:
        self._find = _Finder()

    def ids(self, text: str, limit: int) -> list[int]:
        """Give the ids of one short text, special tokens included, cut to `limit` ids."""
        pieces: list[int] = []
        for word in chain.from_iterable(_words(text)):
            pieces += _split(word, self._find)
            if len(pieces) >= limit - SPECIAL_TOKENS:
                break
        return [FIRST, *pieces[: limit - SPECIAL_TOKENS], LAST]
