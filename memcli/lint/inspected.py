"""A document as the rules see it: its blocks, lines that say something, days and secrets; pure.

Secrets are found first and put out of sight, so that no rule behind can repeat one.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping

from memcli.checking import TYPE_CHECKING
from memcli.lint.findings import Location
from memcli.markdown.lineage import is_place
from memcli.markdown.parse import parse
from memcli.markdown.turns import turns_of
from memcli.markdown.units import units
from memcli.record import Record
from memcli.secrets.finding import find_secrets, redacted
from memcli.types import MEMORY_SOURCE
from memcli.workspace.dating import document_days, heading_days

if TYPE_CHECKING:
    from typing import Any

    from memcli.markdown.parse import Block, Parsed

_SAYING = ("paragraph", "item", "quote")  # blocks that say something
# A fence, also where it stands in an item or a quote.
_FENCE = re.compile(r"\s*(?:>\s?)*(?:(?:[-*+]|\d{1,9}[.)])\s+)*(?P<sign>`{3,}|~{3,})(?P<info>.*)")
_BOX = re.compile(r"\[([ xX])\][ \t]+")


class SecretPlace(Record):
    """A secret of a text: where it stands and how it is told from others, never what it is."""

    kind: str
    fingerprint: str
    first: int
    last: int


class Saying(Record):
    """A list item or a paragraph."""

    at: Location
    text: str
    speaker: str  # in the record of a conversation; else empty
    date: str | None  # of its section, else of the document
    box: str  # of a task: " " while it is open, "x" when it is done; else empty


class Inspected(Record):
    """A document."""

    source: str
    path: str
    metadata: Mapping[str, Any]
    lines: tuple[str, ...]
    blocks: tuple[Block, ...]
    code: frozenset[int]  # lines of fences that stand within items and quotes, from 0
    sayings: tuple[Saying, ...]
    date: str | None  # the last day that it is of
    is_evergreen: bool  # a setting says so
    is_summary: bool
    is_talk: bool  # the record of a conversation, which nobody writes anew
    size: int  # bytes of the text, as UTF-8
    secrets: tuple[SecretPlace, ...]


def inspect(
    source: str, path: str, text: str, *, date_keys: Collection[str], is_evergreen: bool
) -> Inspected:
    """Look at the text of a document as it stands on disk."""
    secrets = tuple(_secrets(text))
    shown = redacted(text) if secrets else text
    parsed = parse(shown)
    days, _ = document_days(parsed.front_matter, path, date_keys)
    date = days[1] if days and not is_evergreen else None
    code = frozenset(_code(parsed))
    running = parsed._replace(
        lines=tuple("" if at in code else line for at, line in enumerate(parsed.lines))
    )
    return Inspected(
        source=source,
        path=path,
        metadata=parsed.front_matter,
        lines=parsed.lines,
        blocks=parsed.blocks,
        code=code,
        sayings=tuple(_sayings(source, path, running, date)),
        date=date,
        is_evergreen=is_evergreen,
        is_summary=source == MEMORY_SOURCE and is_place(path),
        is_talk=bool(turns_of(parsed)),
        size=len(shown.encode("utf-8", "surrogatepass")),
        secrets=secrets,
    )


def _secrets(text: str) -> Iterator[SecretPlace]:
    """Count lines from one secret to the next, once over the text."""
    line, at = 1, 0
    for found in find_secrets(text):
        line += text.count("\n", at, found.start)
        at = found.start
        last = line + text.count("\n", found.start, found.end)
        yield SecretPlace(found.kind, found.fingerprint, line, last)


def _code(parsed: Parsed) -> Iterator[int]:
    """Give the lines of fences in items and quotes, those that open and close them included."""
    for block in parsed.blocks:
        if block.kind not in ("item", "quote"):
            continue
        opened = ""
        for at in range(block.start, block.end):
            found = _FENCE.match(parsed.lines[at])
            if opened or found:
                yield at
            if found and not opened:
                opened = found["sign"]
            elif found and found["sign"].startswith(opened) and not found["info"].strip():
                opened = ""


def _sayings(source: str, path: str, parsed: Parsed, date: str | None) -> Iterator[Saying]:
    """Give what a document says, each below the date of its heading where that has one."""
    dated: list[tuple[int, str | None]] = []  # level and date of the headings that are open
    for block in parsed.blocks:
        if block.kind == "heading":
            dated = [each for each in dated if each[0] < block.level]
            days = heading_days(block.title)
            dated.append((block.level, days[1] if days else None))
        if block.kind not in _SAYING:
            continue
        own = next((day for _, day in reversed(dated) if day), date)
        for unit in units(block, parsed.lines):
            box = _BOX.match(unit.text) if block.kind == "item" else None
            text = unit.text[box.end() :] if box else unit.text
            at = Location(source, path, unit.numbers[0], unit.numbers[-1])
            yield Saying(at, text, unit.speaker, own, box[1].lower() if box else "")
