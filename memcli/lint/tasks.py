"""Tasks that have been open for long; pure.

A task is stale where its newest copy is older than OPEN_DAYS, no later line says the same with its
box ticked, and it names no day that is still to come.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from memcli.language.facts import facets_of
from memcli.lint.findings import STALE_TASK, Finding
from memcli.lint.inspected import Inspected, Saying

OPEN_DAYS = 30
_DAY = re.compile(r"(?<!\d)\d{4}-\d\d-\d\d(?!\d)")


class Tasks:
    """Takes in one document after the other; of a task that is carried on, the newest counts."""

    def __init__(self, today: str) -> None:
        """Take the day on which the tasks are looked at."""
        self._today = today
        self._newest: dict[tuple[str, ...], Saying] = {}

    def take(self, document: Inspected) -> None:
        """Keep the tasks of a document that have a date."""
        if document.is_talk:
            return
        for saying in document.sayings:
            if not saying.box or saying.date is None:
                continue
            words = facets_of(saying.text).sequence
            known = self._newest.get(words)
            if known is None or (known.date or "") <= saying.date:
                self._newest[words] = saying

    def findings(self) -> Iterator[Finding]:
        """Tell which are open for longer than OPEN_DAYS."""
        for saying in self._newest.values():
            since = saying.date or self._today
            age = (date.fromisoformat(self._today) - date.fromisoformat(since)).days
            due = max(_DAY.findall(saying.text), default="")
            if saying.box == " " and age > OPEN_DAYS and due < self._today:
                yield Finding(STALE_TASK, saying.at, f"open since {since}, {age} days")
