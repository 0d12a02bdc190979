"""Lines that a newer note says are no longer so; pure.

`language.correction` decides whether one line corrects another, as everywhere; `search.newer` finds
the lines to compare.
"""

from __future__ import annotations

from collections.abc import Iterator

from memcli.language.correction import MOST_CHARACTERS
from memcli.lint.findings import CONTRADICTION, Finding
from memcli.lint.inspected import Inspected, Saying
from memcli.search.newer import Claim, Claims, stems_of


class Contradicted:
    """Takes in one document after the other, and compares all at the end."""

    def __init__(self) -> None:
        """Begin with no line."""
        self._sayings: list[Saying] = []

    def take(self, document: Inspected) -> None:
        """Keep the lines of a dated document."""
        if document.is_summary or document.is_talk:
            return
        self._sayings += (
            each
            for each in document.sayings
            if each.date and not each.box and len(each.text) <= MOST_CHARACTERS
        )

    def findings(self) -> Iterator[Finding]:
        """Find for each older line the newest one that corrects it."""
        sayings = self._sayings
        claims = Claims([Claim(0, 0, each.text, stems_of(each.text)) for each in sayings])
        for older in sayings:

            def is_newer(place: int, day: str = older.date or "") -> bool:
                return (sayings[place].date or "") > day

            found = [sayings[place] for place, _ in claims.correcting(older.text, is_newer)]
            if found:
                newest = max(found, key=lambda each: each.date or "")
                what = f"a note of {newest.date} says that this has changed"
                yield Finding(CONTRADICTION, older.at, what, (newest.at,))
