"""Reads wishes for the newest or the oldest, in English and German: `the latest`; pure."""

from __future__ import annotations

from memcli.search.date_words import LAST_WORDS, Reading

NEWEST = (
    "latest", "newest", "most recent", "most recently", "last time", "neueste", "neuesten",
    "neuester", "neuestes", "jüngste", "jüngsten", "zuletzt", "letztes mal", "letzten mal",
)  # fmt: skip
OLDEST = ("earliest", "oldest", "first time", "früheste", "frühesten", "erstes mal", "ersten mal")
# Records of which there is one after the other.
_SEQUENCES = (
    "session", "sessions", "meeting", "meetings", "entry", "entries", "note", "notes",
    "conversation", "conversations", "chat", "message", "mention", "sitzung", "treffen",
    "besprechung", "eintrag", "notiz", "gespräch",
)  # fmt: skip
# What someone owns or counts is no matter of time: his first car.
OWNERS = (
    "my", "your", "his", "her", "its", "our", "their", "mein", "meine", "meinen", "sein", "seine",
    "seinen", "ihr", "ihre", "ihren", "unser", "unsere", "unseren",
)  # fmt: skip
# Behind `first` and `last` they are no matter of time.
_NOT_IN_TIME = (
    "place", "prize", "aid", "class", "floor", "name", "names", "half", "row", "line", "resort",
    "one", "stand", "platz", "hilfe",
)  # fmt: skip


def read(low: list[str], *, asks_when: bool) -> tuple[int, Reading] | None:
    """Read `latest`, `most recent`, `the first session`; `when did we first ...`."""
    for words, order in ((NEWEST, "newest"), (OLDEST, "oldest")):
        count = 1 if low[0] in words else 2 if f"{low[0]} {low[1]}" in words else 0
        if count and low[:2] != ["latest", "by"]:
            return count, Reading(order=order)
    is_last, is_first = low[0] in LAST_WORDS, low[0] in ("first", "erste", "ersten", "erstes")
    if (is_last or is_first) and (
        low[1] in _SEQUENCES or (asks_when and low[1] not in _NOT_IN_TIME)
    ):
        return 1, Reading(order="newest" if is_last else "oldest")
    return None
