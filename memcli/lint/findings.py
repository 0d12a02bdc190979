"""The record of a finding, and the codes of all rules; only data."""

from __future__ import annotations

from memcli.record import Record
from memcli.types import cite, shown

SECRET, DUPLICATE, NEAR_DUPLICATE = "secret", "duplicate", "near-duplicate"
CONTRADICTION, BROKEN_LINK, UNMATCHED_GLOB = "contradiction", "broken-link", "unmatched-glob"
STALE_TASK, LONG_MEMORY, UNDATED_LOG = "stale-task", "long-memory", "undated-log"
INVALID_SUMMARY, INVALID_FRONT_MATTER = "invalid-summary", "invalid-front-matter"
# What each code means. Codes never change: people name them in scripts.
CODES = {
    SECRET: "a note contains a key or a token",
    DUPLICATE: "the same words appear elsewhere",
    NEAR_DUPLICATE: "nearly the same words appear elsewhere",
    CONTRADICTION: "a newer note contradicts it",
    BROKEN_LINK: "a link leads nowhere",
    UNMATCHED_GLOB: "a setting names documents that do not exist",
    STALE_TASK: "a task has been open for a long time",
    LONG_MEMORY: "MEMORY.md is longer than agents read",
    UNDATED_LOG: "the date of a log cannot be read",
    INVALID_SUMMARY: "a summary is not valid",
    INVALID_FRONT_MATTER: "front matter is not valid YAML",
}
# What to do about each code.
NEXT = {
    SECRET: "revoke it where it was issued, then take it out of the file",
    DUPLICATE: "keep one place, and link to it from the others",
    NEAR_DUPLICATE: "keep the one that says it better",
    CONTRADICTION: "correct it, or end the newer line with (corrects PATH:LINE)",
    BROKEN_LINK: "put the file back, or take the link out",
    UNMATCHED_GLOB: "correct the glob: memcli config files",
    STALE_TASK: "tick it, drop it, or carry it on",
    LONG_MEMORY: "move a subject to a file of its own, and link to it",
    UNDATED_LOG: "give its name a date: YYYY-MM-DD.md",
    INVALID_SUMMARY: "memcli compact --apply writes it again",
    INVALID_FRONT_MATTER: "close each bracket, and put text with a colon into quotes",
}


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

    def has(self, lines: tuple[str, int, int]) -> bool:
        """Return whether it contains some of the lines of a path."""
        path, first, last = lines
        is_here = path in (self.path, shown(self.source, self.path))
        return is_here and first <= (self.last or 0) and (self.first or 0) <= last


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
