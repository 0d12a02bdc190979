"""Find the words by which a text says that something changed; pure. English, German, Chinese."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter

# Beginnings of words; a pattern of as many alternatives would cost milliseconds to compile.
_CHANGES = """
    no longer, not any more, not anymore, instead, as of, from now on, from today, moved from,
    moved to, moved the, moved back, move to, moving to, moved off, switched, switch to,
    switching to, took over, takes over, moved away, goes from, went from, changed from,
    changed to, changed my mind, changed our mind, changes to, migrat, replace, replacing,
    renamed, supersed, obsolete, deprecated, reverted, cancelled, canceled, postponed,
    rescheduled, extended, dropped, nicht mehr, statt, ersetzt, ab jetzt, ab heute, ab sofort,
    verschoben, geändert, umgestellt, gewechselt, gekündigt, abgeschafft, umgezogen, fällt aus,
    fallen aus, anymore, given up, gave up, is gone, are gone, discontinued, phased out,
    has retired, is history, upgraded, downgraded, shortened, has changed,
    have changed, changed it is, stopped, we left, i left, verlegt, verkürzt, verlängert,
    übernimmt, übernommen, erhöht, gesenkt
"""
_WHOLE = (" to", " from", " of", " the", " off")  # words that end where these do
_CUES = tuple(
    f" {cue} " if cue.endswith(_WHOLE) else f" {cue}" for cue in map(str.strip, _CHANGES.split(","))
)
_BEGINNING = itemgetter(slice(0, 4))  # of a word
_CHINESE_CUES = (
    "不再", "换成", "换到", "搬到", "迁移到", "取代", "代替", "推迟", "取消", "停用", "升级到",
    "调整为", "从今天起",
    *(f"改{sign}" for sign in "为成用由到在交给放去坐喝吃走发存住"),
)  # fmt: skip
# Words of change if they begin a text, or if `to` or a colon follows.
_VERBS = frozenset(
    ["changed", "moved", "moves", "switched", "handed", "shifted", "migrated", "lowered", "raised"]
)
_FAR = 6  # words
_TO = frozenset(["to", "by", "from"])
_BEGINNINGS = frozenset(map(_BEGINNING, (*_VERBS, *(cue.split()[0] for cue in _CUES))))
_NEGATIONS = (" not ", " t ", " nobody ", " no one ", " never ")  # `t` of `don't`
# A lamp and a guest, which replace nothing.
_SWITCHES = tuple(f" switched {it}{way} " for it in ("", "it ", "them ") for way in ("on", "off"))
_OTHERS = (*_SWITCHES, " dropped off ")
_SPACED = str.maketrans(dict.fromkeys("\n\t*_.,;:!?()[]\"'`-–—", " "))


def speaks_of_change(text: str) -> bool:
    """Tell whether a text says that something is no longer as it was."""
    words = spaced(text)
    if " any more " in words and any(map(words.__contains__, _NEGATIONS)):
        return True
    if " switched " in words or " dropped off " in words:
        for other in _OTHERS:
            words = words.replace(other, " ")
    may_have_one = not _BEGINNINGS.isdisjoint(map(_BEGINNING, words.split()))
    if may_have_one and (any(map(words.__contains__, _CUES)) or _begins_a_change(words.split())):
        return True
    if may_have_one and ":" in text and any(f"{verb}:" in text for verb in _VERBS):
        return True
    return not words.isascii() and any(cue in words for cue in _CHINESE_CUES)


def _begins_a_change(words: Sequence[str]) -> bool:
    return any(
        word in _VERBS and (not at or not _TO.isdisjoint(words[at + 1 : at + 1 + _FAR]))
        for at, word in enumerate(words)
    )


def spaced(text: str) -> str:
    """Write the words of a text in lower case, with a space before and behind each."""
    return f" {' '.join(text.lower().translate(_SPACED).split())} "
