"""Find lines that a newer note corrects; pure.

`language.correction` decides whether one line corrects another; `search.newer` finds the lines to
compare.
"""

from __future__ import annotations

from collections.abc import Iterator

from memcli.language.correction import MOST_CHARACTERS
from memcli.lint.document import LintDocument, NoteStatement
from memcli.lint.findings import CONTRADICTION, Finding
from memcli.search.newer import Claim, Claims, stems_of


class Contradictions:
    """Collects the lines of all documents, and compares them at the end."""

    def __init__(self) -> None:
        """Start without lines."""
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
        claims = Claims([Claim(0, 0, each.text, stems_of(each.text)) for each in statements])
        for older in statements:

            def is_newer(place: int, day: str = older.date or "") -> bool:
                return (statements[place].date or "") > day

            found = [statements[place] for place, _ in claims.correcting(older.text, is_newer)]
            if found:
                newest = max(found, key=lambda each: each.date or "")
                what = f"a note of {newest.date} says that this has changed"
                yield Finding(CONTRADICTION, older.at, what, (newest.at,))
