"""What a rule finds, and the codes of all rules; data alone."""

from __future__ import annotations

from memcli.record import Record
from memcli.types import cite, shown

# By code, what it is called in a sentence. A code stays what it is: gates name it.
CODES = {
    "secret": "a note contains a key or a token",
    "duplicate": "the same words appear elsewhere",
    "near-duplicate": "nearly the same words appear elsewhere",
    "contradiction": "a newer note contradicts it",
    "broken-link": "a link leads nowhere",
    "unmatched-glob": "a setting names documents that do not exist",
    "stale-task": "a task has been open for a long time",
    "long-memory": "MEMORY.md is longer than agents read",
    "undated-log": "the date of a log cannot be read",
    "invalid-summary": "a summary is not valid",
}
# By code, what to do about it.
NEXT = {
    "secret": "revoke it where it was issued, then take it out of the file",
    "duplicate": "keep one place, and link to it from the others",
    "near-duplicate": "keep the one that says it better",
    "contradiction": "say in the older place that it has changed",
    "broken-link": "put the file back, or take the link out",
    "unmatched-glob": "correct the glob: memcli config files",
    "stale-task": "tick it, drop it, or carry it on",
    "long-memory": "move a subject to a file of its own, and link to it",
    "undated-log": "give its name a date: YYYY-MM-DD.md",
    "invalid-summary": "memcli compact --apply writes it again",
}
SECRET, DUPLICATE, NEAR_DUPLICATE, CONTRADICTION, BROKEN_LINK = tuple(CODES)[:5]
UNMATCHED_GLOB, STALE_TASK, LONG_MEMORY, UNDATED_LOG, INVALID_SUMMARY = tuple(CODES)[5:]


class Location(Record):
    """Lines of a document, from 1 and both included; a whole document has none."""

    source: str
    path: str
    first: int | None = None
    last: int | None = None

    @property
    def citation(self) -> str:
        """Name them as `get` takes them."""
        if self.first is None or self.last is None:
            return shown(self.source, self.path)
        return cite(self.source, self.path, self.first, self.last)


class Finding(Record):
    """Something that is wrong."""

    code: str  # one of CODES
    at: Location | None  # None of a setting
    message: str  # neither a capital nor a full stop; places stand in `others`
    others: tuple[Location, ...] = ()  # what it is like, is corrected by, or leads to


def order(finding: Finding) -> tuple[str, str, int, str]:
    """Sort by place; what has no place comes last."""
    if finding.at is None:
        return "\uffff", "", 0, finding.message
    return finding.at.source, finding.at.path, finding.at.first or 0, finding.code
