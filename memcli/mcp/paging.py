"""Pages of one answer: a cursor that the client returns lists the passages it has seen; pure.

A page leaves out passages that do not fit its budget, so it is not a run of ranks: the cursor has
one bit for each.
"""

from __future__ import annotations

import hashlib
import re

from memcli.checking import TYPE_CHECKING
from memcli.errors import UsageError
from memcli.record import Record

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memcli.search.ranked import RankedPassage

_CURSOR = re.compile(
    r"(?P<revision>[0-9]{1,20})\.(?P<question>[0-9a-f]{8})\.(?P<seen>[0-9a-f]{1,32})"
)
_AGAIN = "memory_search with the same arguments and no cursor"


class Cursor(Record):
    """How far a client has read the answer to a question."""

    revision: str  # of the index that the ranks are of
    question: str  # 8 hexadecimal digits of the question's digest
    seen: int  # bit n: the passage of rank n, from 0, has been shown

    @classmethod
    def of(cls, revision: str, question: Sequence[object]) -> Cursor:
        """Start before the first passage of a question and its filters."""
        text = "\0".join("" if each is None else f"={each}" for each in question)
        return cls(revision, hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:8], 0)

    @property
    def text(self) -> str:
        """Write it as a client hands it back."""
        return f"{self.revision}.{self.question}.{self.seen:x}"

    def moved_to(self, text: str) -> Cursor:
        """Continue after the passages that a cursor lists.

        UsageError if the text is not a cursor, belongs to another question, or if the index has
        changed since, because its ranks no longer apply.
        """
        match = _CURSOR.fullmatch(text)
        if match is None:
            raise UsageError(f"{text!r:.80} is not a cursor of an answer", hint=_AGAIN)
        if match["question"] != self.question:
            raise UsageError("the cursor is of another question", hint=_AGAIN)
        if match["revision"] != self.revision:
            raise UsageError("the memory has changed since that answer", hint=_AGAIN)
        return self._replace(seen=int(match["seen"], 16))

    def rest(self, passages: Sequence[RankedPassage]) -> list[RankedPassage]:
        """Leave out the passages that were shown."""
        return [passage for rank, passage in enumerate(passages) if not self.seen >> rank & 1]

    def behind(self, passages: Sequence[RankedPassage], shown: Sequence[RankedPassage]) -> Cursor:
        """Return the cursor after a page; `shown` may be cut down to the best lines."""
        seen = self.seen
        for rank, passage in enumerate(passages):
            if any(map(passage.contains, shown)):
                seen |= 1 << rank
        return self._replace(seen=seen)
