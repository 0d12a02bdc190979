"""Rules of one document, corrected lines and stale tasks; pure.

`lint.duplicates` and `lint.links` compare documents with each other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile

from memcli.language.correction import MOST_CHARACTERS
from memcli.language.facts import facets_of
from memcli.language.words import MONTHS
from memcli.lint.document import LintDocument, NoteStatement
from memcli.lint.findings import (
    CONTRADICTION,
    INVALID_FRONT_MATTER,
    LONG_MEMORY,
    STALE_TASK,
    UNDATED_LOG,
    Finding,
    Location,
)
from memcli.markdown.frontmatter import is_broken
from memcli.markdown.links import corrected_lines
from memcli.search.claims import Claim, Claims
from memcli.workspace.dating import AMBIGUOUS, age_days, heading_days
from memcli.workspace.locate import MEMORY_FILE

# Claude Code reads this much of a MEMORY.md at the start of a session.
MOST_LINES, MOST_BYTES = 200, 25_000
_TIMES = 3  # a document with so many lines that begin with a time of day is a log
_TIME = re.compile(r"(?:#{1,6}[ \t]+|[-*+][ \t]+)(?:\*\*)?[0-2]?\d:[0-5]\d(?!\d)")
# Ambiguous or impossible dates in file names: 02-16-2026, 16.2.2026, feb-16, 2026-02-31.
_WRITTEN = re.compile(
    rf"{AMBIGUOUS}"
    r"|(?<![0-9])(?:00|19|20)[0-9]{2}(?P<other>[-_])[0-9]{2}(?P=other)[0-9]{2}(?![0-9])"
    rf"|(?<![a-z])(?:{MONTHS})[-_ ][0-3]?[0-9](?![0-9])"
    rf"|(?<![0-9])[0-3]?[0-9][-_ ](?:{MONTHS})(?![a-z])",
    re.IGNORECASE,
)

OPEN_DAYS = 30
_DAY = re.compile(r"(?<!\d)\d{4}-\d\d-\d\d(?!\d)")


def document_findings(document: LintDocument) -> Iterator[Finding]:
    """Yield the findings of the rules that need no other document."""
    yield from document.secrets
    yield from _long(document)
    if document.blocks and is_broken(document.lines, document.blocks[0].start):
        spot = Location(document.source, document.path, 1, 1)
        yield Finding(INVALID_FRONT_MATTER, spot, "its front matter counts as text")
    elif why := _undated(document):
        yield Finding(UNDATED_LOG, Location(document.source, document.path), why)


def _long(document: LintDocument) -> Iterator[Finding]:
    if document.path.rpartition("/")[2] != MEMORY_FILE:
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
    if match := _WRITTEN.search(document.path.rpartition("/")[2]):
        return f"{match[0]} in its name is not a date"
    if stated := _stated_date(document.lines):
        return f"{stated!r} in its front matter is not a date that memcli can read"
    if any(heading_days(b.title) for b in document.blocks if b.kind == "heading"):
        return ""  # its sections have dates
    heads = (document.lines[b.start] for b in document.blocks if b.kind in ("item", "heading"))
    times = sum(bool(_TIME.match(line)) for line in heads)
    return f"{times} lines begin with a time, but it has no date" if times >= _TIMES else ""


def _stated_date(lines: Sequence[str]) -> str:
    """Return the date that front matter states; "" if there is none."""
    if lines[0].rstrip() != "---":
        return ""
    head = takewhile(lambda line: line.rstrip() not in ("---", "..."), lines[1:])
    fields = filter(None, (re.match(r"date:\s*(\S.{0,40})", line) for line in head))
    return next((each[1].strip() for each in fields), "")


class Contradictions:
    """Finds lines that a newer note corrects, as `language.correction` decides.

    It collects the lines of all documents, and compares them at the end. `(corrects PATH:LINE)`
    records a correction: the line with it and the lines that it cites need no more work.
    """

    def __init__(self) -> None:
        self._sayings: list[NoteStatement] = []

    def take(self, document: LintDocument) -> None:
        """Collect the lines of a dated document."""
        if document.is_summary or document.is_talk:
            return
        self._sayings += (
            each
            for each in document.statements
            if each.date and not each.box and len(each.text) <= MOST_CHARACTERS
        )

    def findings(self) -> Iterator[Finding]:
        """Yield each corrected line, with the newest line that corrects it."""
        statements = self._sayings
        claims = Claims([Claim(0, 0, each.text) for each in statements])
        recorded = [corrected_lines(each.text) for each in statements]
        cited = {each for each in recorded if each}
        for older in statements:

            def is_newer(place: int, day: str = older.date or "") -> bool:
                return not recorded[place] and (statements[place].date or "") > day

            if any(map(older.at.has, cited)):
                continue
            newer = [statements[place] for place in claims.correcting(older.text, is_newer)]
            if newer:
                newest = max(newer, key=lambda each: each.date or "")
                what = f"a note of {newest.date} says that this has changed"
                yield Finding(CONTRADICTION, older.at, what, (newest.at,))


class Tasks:
    """Finds tasks that have been open for a long time.

    A task is stale if its newest copy is older than OPEN_DAYS, no later copy is ticked, and it does
    not name a day in the future.
    """

    def __init__(self, today: str) -> None:
        """Take the current day (YYYY-MM-DD)."""
        self._today = today
        self._newest: dict[tuple[str, ...], NoteStatement] = {}

    def take(self, document: LintDocument) -> None:
        """Collect the dated tasks of a document."""
        if document.is_talk:
            return
        for statement in document.statements:
            if not statement.box or statement.date is None:
                continue
            words = facets_of(statement.text).sequence
            known = self._newest.get(words)
            if known is None or (known.date or "") <= statement.date:
                self._newest[words] = statement

    def findings(self) -> Iterator[Finding]:
        """Yield the tasks that have been open for more than OPEN_DAYS."""
        for statement in self._newest.values():
            since = statement.date or self._today
            age = age_days(since, self._today)
            due = max(_DAY.findall(statement.text), default="")
            if statement.box == " " and age > OPEN_DAYS and due < self._today:
                yield Finding(STALE_TASK, statement.at, f"open since {since}, {age} days")
