"""Rules about one document: secrets, a long MEMORY.md, logs without a date; pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memcli.lint.findings import LONG_MEMORY, SECRET, UNDATED_LOG, Finding, Location
from memcli.lint.inspected import Inspected
from memcli.workspace.dating import heading_days

MEMORY_NAME = "MEMORY.md"
# What Claude Code reads of a MEMORY.md at the start of a session.
MOST_LINES, MOST_BYTES = 200, 25_000
_TIMES = 3  # lines that begin with a time of day make a log
_TIME = re.compile(r"(?:#{1,6}[ \t]+|[-*+][ \t]+)(?:\*\*)?[0-2]?\d:[0-5]\d(?!\d)")
_MONTHS = (
    r"(?:jan(?:uary|uar)?|feb(?:ruary|ruar)?|mar(?:ch)?|märz|apr(?:il)?|may|mai|june?|juni"
    r"|july?|juli|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|oktober|nov(?:ember)?"
    r"|dec(?:ember)?|dezember)"
)
# Dates in the names of files that nobody can be sure of: 02-16-2026, 16.2.2026, feb-16, 2026-02-31.
_WRITTEN = re.compile(
    r"(?<![0-9.])[0-3]?[0-9](?P<sign>[-_.])[0-3]?[0-9](?P=sign)(?:19|20)[0-9]{2}(?![0-9])"
    r"|(?<![0-9])(?:00|19|20)[0-9]{2}(?P<other>[-_])[0-9]{2}(?P=other)[0-9]{2}(?![0-9])"
    rf"|(?<![a-z]){_MONTHS}[-_ ][0-3]?[0-9](?![0-9])|(?<![0-9])[0-3]?[0-9][-_ ]{_MONTHS}(?![a-z])",
    re.IGNORECASE,
)


def alone(document: Inspected) -> Iterator[Finding]:
    """Ask the rules that need no other document."""
    for held in document.secrets:
        spot = Location(document.source, document.path, held.first, held.last)
        yield Finding(SECRET, spot, f"{held.kind} ({held.fingerprint})")
    yield from _long(document)
    if why := _undated(document):
        yield Finding(UNDATED_LOG, Location(document.source, document.path), why)


def _long(document: Inspected) -> Iterator[Finding]:
    if document.path.rpartition("/")[2] != MEMORY_NAME:
        return
    count = len(document.lines) - (not document.lines[-1])
    if count > MOST_LINES:
        spot = Location(document.source, document.path, MOST_LINES + 1, count)
        yield Finding(LONG_MEMORY, spot, f"{count} lines; agents read the first {MOST_LINES}")
    elif document.size > MOST_BYTES:
        spot = Location(document.source, document.path)
        told = f"{document.size} bytes; agents read the first {MOST_BYTES}"
        yield Finding(LONG_MEMORY, spot, told)


def _undated(document: Inspected) -> str:
    """Say what makes a document without a date a log; empty where it is none."""
    if document.date is not None or document.is_evergreen or document.is_summary:
        return ""
    if found := _WRITTEN.search(document.path.rpartition("/")[2]):
        return f"{found[0]} in its name is not a date"
    if any(heading_days(b.title) for b in document.blocks if b.kind == "heading"):
        return ""  # its sections are dated
    heads = (document.lines[b.start] for b in document.blocks if b.kind in ("item", "heading"))
    times = sum(bool(_TIME.match(line)) for line in heads)
    return f"{times} lines begin with a time, and no day is named" if times >= _TIMES else ""
