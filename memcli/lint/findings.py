"""The record of a finding, and the codes of all rules; only data."""

from __future__ import annotations

from memcli.record import Record
from memcli.types import cite, shown

# What each code means. Codes never change: people name them in scripts.
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
# What to do about each code.
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
    """Lines `first` to `last` of a document, counted from 1; None for a whole document."""

    source: str
    path: str
    first: int | None = None
    last: int | None = None

    @property
    def citation(self) -> str:
        """Return the citation that `memcli get` accepts."""
        if self.first is None or self.last is None:
            return shown(self.source, self.path)
        return cite(self.source, self.path, self.first, self.last)


class Finding(Record):
    """One thing that is wrong."""

    code: str  # one of CODES
    at: Location | None  # None: in a setting
    message: str  # without capital and full stop
    others: tuple[Location, ...] = ()  # copies, corrections, or more links like this


def order(finding: Finding) -> tuple[str, str, int, str]:
    """Return the sort key: by place; findings without a place come last."""
    if finding.at is None:
        return "\uffff", "", 0, finding.message
    return finding.at.source, finding.at.path, finding.at.first or 0, finding.code
