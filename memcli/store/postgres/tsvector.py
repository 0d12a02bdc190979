"""The words of a chunk as a tsvector: its tokens, their places, and the query that finds them.

The server only looks tokens up. This module decides what a word is and where a phrase occurs, so
that every store counts the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memcli.digests import blake2b
from memcli.language.words import prepare
from memcli.markdown.comments import visible
from memcli.record import Record
from memcli.store.tokens import cut

# Limits of a tsvector: https://www.postgresql.org/docs/current/textsearch-limitations.html
MOST_PLACES, MOST_OF_ONE, MOST_BYTES = 16_000, 255, 2000
MOST_LITERAL = 500_000  # characters: half of the limit
# A single combining mark is cut to an empty token, which takes a place.
_EMPTY = "\x01"

Cut = tuple[tuple[str, ...], tuple[str, ...]]  # tokens of the headings and of the text


class StoredWords(Record):
    """The words of a chunk as its row stores them."""

    length: int
    is_whole: bool
    words: str  # a tsvector


def cut_of(headings: Sequence[str], text: str) -> Cut:
    """Cut the headings and the text of a chunk, without comments."""
    heading, body = cut([prepare(" ".join(headings)), prepare(visible(text))])
    return heading, body


def stored_words(cut: Cut) -> StoredWords:
    """Write tokens with their places; a phrase cannot extend from the headings into the text."""
    heading, body = cut
    places: dict[str, list[int]] = {}
    for first, tokens in ((1, heading), (len(heading) + 2, body)):
        for place, token in enumerate(tokens, start=first):
            places.setdefault(lexeme(token), []).append(place)
    length = len(heading) + len(body)
    literal = " ".join(f"{_quoted(word)}:{','.join(map(str, at))}" for word, at in places.items())
    most = max(map(len, places.values()), default=0)
    if length > MOST_PLACES or most > MOST_OF_ONE or len(literal) > MOST_LITERAL:
        return StoredWords(length, is_whole=False, words="")
    return StoredWords(length, is_whole=True, words=literal)


def lexeme(token: str) -> str:
    """Return the lexeme of a token; for a long token, its beginning and a hash."""
    if len(token) <= MOST_BYTES // 4 or len(token.encode()) <= MOST_BYTES:
        return token or _EMPTY
    return token[: MOST_BYTES // 8] + _EMPTY + blake2b(token.encode(), digest_size=16).hexdigest()


def _quoted(word: str) -> str:
    return "'" + word.replace("\\", "\\\\").replace("'", "''") + "'"


class TokenRun(Record):
    """The tokens of a spelling; the last one may be open at its end."""

    tokens: tuple[str, ...]
    is_open: bool

    @property
    def is_word(self) -> bool:
        """Return whether it is a single token, whose positions do not matter."""
        return len(self.tokens) == 1 and not self.is_open

    @property
    def query(self) -> str:
        """Write the tsquery that finds it."""
        words = [_quoted(lexeme(token)) for token in self.tokens]
        return f"({' <-> '.join(words)}{':*' if self.is_open else ''})"

    def count(self, cut: Cut) -> int:
        """Count its occurrences in tokens."""
        *whole, last = self.tokens
        windows = (
            column[at : at + len(self.tokens)]
            for column in cut
            for at in range(len(column) - len(self.tokens) + 1)
        )
        return sum(
            list(before) == whole and (end == last or (self.is_open and end.startswith(last)))
            for *before, end in windows
        )

    def count_at(self, places: Mapping[str, Sequence[int]]) -> int:
        """Count its occurrences by the positions of lexemes."""
        *whole, last = map(lexeme, self.tokens)
        if self.is_open:
            ends = {at for word, ats in places.items() if word.startswith(last) for at in ats}
        else:
            ends = set(places.get(last, ()))
        for before, word in enumerate(reversed(whole), start=1):
            ends &= {at + before for at in places.get(word, ())}
        return len(ends)
