"""Rules that look at one document: secrets, a long MEMORY.md, logs without a date; pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memcli.lint.document import LintDocument
from memcli.lint.findings import LONG_MEMORY, SECRET, UNDATED_LOG, Finding, Location
from memcli.workspace.dating import heading_days

MEMORY_NAME = "MEMORY.md"
# Claude Code reads this much of a MEMORY.md at the start of a session.
MOST_LINES, MOST_BYTES = 200, 25_000
_TIMES = 3  # a document with so many lines that begin with a time of day is a log
_TIME = re.compile(r"(?:#{1,6}[ \t]+|[-*+][ \t]+)(?:\*\*)?[0-2]?\d:[0-5]\d(?!\d)")
_MONTHS = (
    r"(?:jan(?:uary|uar)?|feb(?:ruary|ruar)?|mar(?:ch)?|märz|apr(?:il)?|may|mai|june?|juni"
    r"|july?|juli|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|oktober|nov(?:ember)?"
    r"|dec(?:ember)?|dezember)"
)
# Ambiguous or impossible dates in file names: 02-16-2026, 16.2.2026, feb-16, 2026-02-31.
_WRITTEN = re.compile(
    r"(?<![0-9.])[0-3]?[0-9](?P<sign>[-_.])[0-3]?[0-9](?P=sign)(?:19|20)[0-9]{2}(?![0-9])"
    r"|(?<![0-9])(?:00|19|20)[0-9]{2}(?P<other>[-_])[0-9]{2}(?P=other)[0-9]{2}(?![0-9])"
    rf"|(?<![a-z]){_MONTHS}[-_ ][0-3]?[0-9](?![0-9])|(?<![0-9])[0-3]?[0-9][-_ ]{_MONTHS}(?![a-z])",
    re.IGNORECASE,
)


def document_findings(document: LintDocument) -> Iterator[Finding]:
    """Yield the findings of the rules that need no other document."""
    for secret in document.secrets:
        spot = Location(document.source, document.path, secret.first, secret.last)
        yield Finding(SECRET, spot, f"{secret.kind} ({secret.fingerprint})")
    yield from _long(document)
    if why := _undated(document):
        yield Finding(UNDATED_LOG, Location(document.source, document.path), why)


def _long(document: LintDocument) -> Iterator[Finding]:
    if document.path.rpartition("/")[2] != MEMORY_NAME:
        return
    count = len(document.lines) - (not document.lines[-1])
    if count > MOST_LINES:
        spot = Location(document.source, document.path, MOST_LINES + 1, count)
        yield Finding(LONG_MEMORY, spot, f"{count} lines; agents read the first {MOST_LINES}")
    elif document.size > MOST_BYTES:
        spot = Location(document.source, document.path)
        message = f"{document.size} bytes; agents read the first {MOST_BYTES}"
        yield Finding(LONG_MEMORY, spot, message)


def _undated(document: LintDocument) -> str:
    """Return why a document without a date is a log; "" if it is not a log."""
    if document.date is not None or document.is_evergreen or document.is_summary:
        return ""
    if found := _WRITTEN.search(document.path.rpartition("/")[2]):
        return f"{found[0]} in its name is not a date"
    if any(heading_days(b.title) for b in document.blocks if b.kind == "heading"):
        return ""  # its sections have dates
    heads = (document.lines[b.start] for b in document.blocks if b.kind in ("item", "heading"))
    times = sum(bool(_TIME.match(line)) for line in heads)
    return f"{times} lines begin with a time, but it has no date" if times >= _TIMES else ""
