"""Parse a document for the rules: its blocks, statements, dates and secrets; pure.

Secrets are redacted first, so that no rule can print one.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping

from memcli.checking import Any
from memcli.lint.findings import SECRET, Finding, Location
from memcli.markdown.lineage import is_place
from memcli.markdown.parse import Block, ParsedMarkdown, parse
from memcli.markdown.turns import turns_of
from memcli.markdown.units import units
from memcli.record import Record
from memcli.secrets.finding import find_secrets, redacted
from memcli.types import MEMORY_SOURCE
from memcli.workspace.dating import document_days, heading_days

_STATEMENTS = ("paragraph", "item", "quote")  # kinds of blocks that contain statements
# A code fence, which may be inside an item or a quote.
_FENCE = re.compile(r"\s*(?:>\s?)*(?:(?:[-*+]|\d{1,9}[.)])\s+)*(?P<sign>`{3,}|~{3,})(?P<info>.*)")
_BOX = re.compile(r"\[([ xX])\][ \t]+")


class NoteStatement(Record):
    """A list item or a paragraph."""

    at: Location
    text: str
    date: str | None  # the date of its section, or of the document
    box: str  # " " for an open task, "x" for a finished one, "" for no task


class LintDocument(Record):
    """A parsed document."""

    source: str
    path: str
    metadata: Mapping[str, Any]
    lines: tuple[str, ...]
    blocks: tuple[Block, ...]
    code: frozenset[int]  # lines of code fences inside items and quotes, from 0
    statements: tuple[NoteStatement, ...]
    date: str | None  # its last day
    is_evergreen: bool  # set by files.evergreen
    is_summary: bool
    is_talk: bool  # a recorded conversation, which nobody will edit
    size: int  # bytes as UTF-8
    secrets: tuple[Finding, ...]


def inspect(
    source: str, path: str, text: str, *, date_keys: Collection[str], is_evergreen: bool
) -> LintDocument:
    """Parse the text of a document."""
    secrets = tuple(_secrets(source, path, text))
    shown = redacted(text) if secrets else text
    parsed = parse(shown)
    days, _ = document_days(parsed.front_matter, path, date_keys)
    date = days[1] if days and not is_evergreen else None
    code = frozenset(_code(parsed))
    running = parsed._replace(
        lines=tuple("" if at in code else line for at, line in enumerate(parsed.lines))
    )
    return LintDocument(
        source=source,
        path=path,
        metadata=parsed.front_matter,
        lines=parsed.lines,
        blocks=parsed.blocks,
        code=code,
        statements=tuple(_statements(source, path, running, date)),
        date=date,
        is_evergreen=is_evergreen,
        is_summary=source == MEMORY_SOURCE and is_place(path),
        is_talk=bool(turns_of(parsed)),
        size=len(shown.encode("utf-8", "surrogatepass")),
        secrets=secrets,
    )


def _secrets(source: str, path: str, text: str) -> Iterator[Finding]:
    """Yield the kind and fingerprint of each secret with its lines, in one pass over the text."""
    line, at = 1, 0
    for secret in find_secrets(text):
        line += text.count("\n", at, secret.start)
        at = secret.start
        last = line + text.count("\n", secret.start, secret.end)
        spot = Location(source, path, line, last)
        yield Finding(SECRET, spot, f"{secret.kind} ({secret.fingerprint})")


def _code(parsed: ParsedMarkdown) -> Iterator[int]:
    """Yield the lines of code fences inside items and quotes, with their marks."""
    for block in parsed.blocks:
        if block.kind not in ("item", "quote"):
            continue
        opened = ""
        for at in range(block.start, block.end):
            match = _FENCE.match(parsed.lines[at])
            if opened or match:
                yield at
            if match and not opened:
                opened = match["sign"]
            elif match and match["sign"].startswith(opened) and not match["info"].strip():
                opened = ""


def _statements(
    source: str, path: str, parsed: ParsedMarkdown, date: str | None
) -> Iterator[NoteStatement]:
    """Yield the statements of a document, each with the date of its section."""
    dated: list[tuple[int, str | None]] = []  # (level, date) of the headings above
    for block in parsed.blocks:
        if block.kind == "heading":
            dated = [each for each in dated if each[0] < block.level]
            days = heading_days(block.title)
            dated.append((block.level, days[1] if days else None))
        if block.kind not in _STATEMENTS:
            continue
        own = next((day for _, day in reversed(dated) if day), date)
        for unit in units(block, parsed.lines):
            box = _BOX.match(unit.text) if block.kind == "item" else None
            text = unit.text[box.end() :] if box else unit.text
            at = Location(source, path, unit.numbers[0], unit.numbers[-1])
            yield NoteStatement(at, text, own, box[1].lower() if box else "")
