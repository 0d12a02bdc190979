"""Choose the few sentences of a passage that are shown, and where the matched words are; pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from memcli.markdown.parse import visible
from memcli.markdown.words import split_runs
from memcli.record import Record

SNIPPET_CHARS = 700

_BEGIN = r"(?<![^\W_])"
_ENDING = r"(?:[^\W\d_]{0,4}(?![^\W_]))?"
_BOUNDARY = re.compile(r"(?<=[.!?。！？])\s+|(?<=[。！？])|\n")


class Snippet(Record):
    """A piece of text and the character spans in it that match the query."""

    text: str
    marks: tuple[tuple[int, int], ...]


def make_snippet(text: str, *, words: Sequence[str], limit: int | None = None) -> Snippet:
    """Cut a passage at the end of a sentence within `limit` characters, then mark the words."""
    limit = SNIPPET_CHARS if limit is None else limit
    if len(text) > limit:
        ends = [match.start() for match in _BOUNDARY.finditer(text, 0, limit)]
        text = text[: ends[-1] if ends and ends[-1] > limit // 2 else limit].rstrip() + "…"
    return _marked(text, words)


def _marked(text: str, words: Sequence[str]) -> Snippet:
    text = visible(text).strip("\n")
    if not words:
        return Snippet(text, ())
    found = []
    for match in _pattern(tuple(words)).finditer(text):
        found.append(match.span())
    return Snippet(text, tuple(found))


def _pattern(words: tuple[str, ...]) -> re.Pattern[str]:
    """Match words at their beginning and allow endings, as the stemmer does; runs anywhere.

    An underscore ends a word, as in the index: of `pool_wait_ms` the query `pool` marks the first.
    """
    alternatives = []
    for word in sorted(words, key=len, reverse=True):
        unspaced = any(is_run for _, is_run in split_runs(word))
        escaped = re.escape(word)
        alternatives.append(escaped if unspaced else _BEGIN + escaped + _ENDING)
    return re.compile("|".join(alternatives), re.IGNORECASE)
