"""Count the columns of text on a terminal, and choose where a line may break."""

from __future__ import annotations

from unicodedata import category, combining, east_asian_width

# Never first on a line of Chinese or Japanese; JIS X 4051, the commonest of its class.
_CLOSING = "，。、！？；：）」』】》〉·…ー"


def columns(text: str) -> int:
    """Count the columns of a terminal that `text` takes (UAX 11: wide and fullwidth take two)."""
    return len(text) if text.isascii() else sum(map(_columns_of, text))


def _columns_of(character: str) -> int:
    if character.isascii():
        return 1
    if combining(character) or category(character) in ("Mn", "Me"):
        return 0
    return 2 if east_asian_width(character) in "WF" else 1


def shortened(text: str, room: int) -> str:
    """Cut `text` to at most `room` columns; if something is cut, the last column is `…`."""
    if columns(text) <= room:
        return text
    width = 0
    for at, character in enumerate(text):
        width += _columns_of(character)
        if width > room - 1:
            return text[:at].rstrip() + "…"
    return text


def wrap(line: str, room: int, hang: int = 0) -> list[tuple[int, int]]:
    """Cut a line into spans (start, end) of at most `room` columns, the later ones `hang` fewer.

    It breaks at spaces, which are left out, or between wide characters; a longer word is cut.
    """
    spans: list[tuple[int, int]] = []
    start = at = width = 0
    may_break = 0  # the last possible break; only one after `start` counts
    while at < len(line):
        size = _columns_of(line[at])
        if width + size > room and at > start:
            end = at if line[at] == " " or may_break <= start else may_break
            spans.append((start, _without_spaces(line, start, end)))
            start = end
            while start < len(line) and line[start] == " ":
                start += 1
            at, width, may_break = start, 0, start
            if len(spans) == 1:
                room = max(2, room - hang)
            continue
        width += size
        at += 1
        if line[at - 1] == " " or (size == 2 and line[at : at + 1] not in _CLOSING):
            may_break = at
    if start < len(line) or not spans:
        spans.append((start, _without_spaces(line, start, len(line))))
    return spans


def _without_spaces(line: str, start: int, end: int) -> int:
    while end > start and line[end - 1] == " ":
        end -= 1
    return end
