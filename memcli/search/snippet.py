"""Choose the few sentences of a passage that are shown, and where the matched words are; pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from memcli.markdown.parse import visible
from memcli.store.text import split_runs

SNIPPET_CHARS = 700

_BOUNDARY = re.compile(r"(?<=[.!?。！？])\s+|(?<=[。！？])|\n")


class Snippet(NamedTuple):
    """A piece of text and the character spans in it that match the query."""

    text: str
    marks: tuple[tuple[int, int], ...]


def make_snippet(
    text: str, *, start: int, end: int, words: Sequence[str], limit: int | None = None
) -> Snippet:
    """Cut around the characters start..end (the best part) at sentence ends, then mark words."""
    limit = SNIPPET_CHARS if limit is None else limit
    if len(text) <= limit:
        return _marked(text, words)
    pieces = [0, *(m.end() for m in _BOUNDARY.finditer(text)), len(text)]
    first = max(p for p in pieces if p <= start)
    last = min(p for p in pieces if p >= end)
    if last - first > limit:
        return _marked(text[first : first + limit].rstrip() + "…", words)
    for piece in pieces:  # grow forwards, then backwards, by whole sentences
        if piece > last and piece - first <= limit:
            last = piece
    for piece in reversed(pieces):
        if piece < first and last - piece <= limit:
            first = piece
    body = text[first:last].strip("\n")
    return _marked(("…" if first else "") + body + ("…" if last < len(text) else ""), words)


def _marked(text: str, words: Sequence[str]) -> Snippet:
    text = visible(text).strip("\n")
    if not words:
        return Snippet(text, ())
    found = []
    for match in _pattern(tuple(words)).finditer(text):
        found.append(match.span())
    return Snippet(text, tuple(found))


def _pattern(words: tuple[str, ...]) -> re.Pattern[str]:
    """Match words at their beginning and allow endings, as the stemmer does; runs anywhere."""
    alternatives = []
    for word in sorted(words, key=len, reverse=True):
        unspaced = any(is_run for _, is_run in split_runs(word))
        escaped = re.escape(word)
        alternatives.append(escaped if unspaced else rf"\b{escaped}\w{{0,4}}")
    return re.compile("|".join(alternatives), re.IGNORECASE)
