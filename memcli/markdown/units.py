"""Return the running text of a block: paragraphs and list items, nested ones apart; pure.

Marks of lists, quotes and headings are left out, and so are comments; binary data becomes a note of
its length. A summary quotes units, and is checked against them.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from memcli.language.discourse import SPEAKER_MARK, speaker_of
from memcli.markdown.comments import visible
from memcli.markdown.parse import Block
from memcli.record import Record

_MARK = re.compile(r"^\s*(?:>\s?)*(?:[-*+]|\d{1,9}[.)])\s+")
_QUOTE = re.compile(r"^\s*(?:>\s?)+")
_DATA = re.compile(r"data:[\w/+.-]{1,64};base64,[\w+/=-]*|[A-Za-z0-9+/]{80,}={0,2}")


class Unit(Record):
    """A list item or a paragraph on one line, without its mark and its speaker."""

    text: str
    speaker: str
    starts: tuple[int, ...]  # offsets in `text` at which the lines begin
    numbers: tuple[int, ...]  # of these lines, from 1

    def line_at(self, offset: int) -> int:
        """Return the number of the line that contains a character."""
        return self.numbers[max(0, bisect_right(self.starts, offset) - 1)]


def with_speaker(unit: Unit) -> str:
    """Return the text of a unit after the name of its speaker."""
    return f"{unit.speaker}: {unit.text}" if unit.speaker else unit.text


def units(block: Block, lines: Sequence[str]) -> Iterator[Unit]:
    """Cut a block of a document, given as its lines."""
    shown = visible("\n".join(lines[block.start : block.end])).split("\n")
    if len(shown) != block.end - block.start:  # a comment has removed lines
        shown = [visible(line) for line in lines[block.start : block.end]]
    numbered: list[tuple[int, str]] = []
    for number, line in enumerate(shown, start=block.start + 1):
        mark = _MARK.match(line) if block.kind in ("item", "quote") else None
        if numbered and (mark or not line.strip()):
            yield _joined(numbered)
            numbered = []
        body = line[mark.end() :] if mark else _QUOTE.sub("", line)
        if block.kind == "heading":
            body = body.strip().lstrip("#")
        if body.strip():
            numbered.append((number, without_data(body.strip())))
    if numbered:
        yield _joined(numbered)


def _joined(lines: Sequence[tuple[int, str]]) -> Unit:
    speaker = ""
    if mark := SPEAKER_MARK.match(lines[0][1]):
        speaker = speaker_of(mark)
        lines = [(lines[0][0], lines[0][1][mark.end() :]), *lines[1:]]
    text, starts = "", []
    for _, line in lines:
        if text:
            text += " " if text[-1].isascii() or line[:1].isascii() else ""
        starts.append(len(text))
        text += line
    return Unit(text, speaker, tuple(starts), tuple(number for number, _ in lines))


def without_data(text: str) -> str:
    """Replace data URIs and base64 by a note of their length."""
    return _DATA.sub(lambda match: f"[data, {len(match[0])} characters]", text)
