"""Find tasks that have been open for a long time; pure.

A task is stale if its newest copy is older than OPEN_DAYS, no later copy is ticked, and it does not
name a day in the future.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from memcli.language.facts import facets_of
from memcli.lint.document import LintDocument, NoteStatement
from memcli.lint.findings import STALE_TASK, Finding

OPEN_DAYS = 30
_DAY = re.compile(r"(?<!\d)\d{4}-\d\d-\d\d(?!\d)")


class Tasks:
    """Collects the tasks of all documents; the newest copy of a task counts."""

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
            age = (date.fromisoformat(self._today) - date.fromisoformat(since)).days
            due = max(_DAY.findall(statement.text), default="")
            if statement.box == " " and age > OPEN_DAYS and due < self._today:
                yield Finding(STALE_TASK, statement.at, f"open since {since}, {age} days")
