"""Find the words by which a text says that something changed; pure. English, German, Chinese."""

from __future__ import annotations

import re

# Beginnings of words; a pattern of as many alternatives would cost milliseconds to compile.
_CHANGES = """
    no longer, not any more, not anymore, instead, as of, from now on, from today, moved from,
    moved to, moved the, moved back, move to, moving to, moved off, switched, switch to,
    switching to, took over, raised the, lowered the, goes from, went from, changed from,
    changed to, changed my mind, changed our mind, changes to, migrat, replace, replacing,
    renamed, supersed, obsolete, deprecated, reverted, cancelled, canceled, postponed,
    rescheduled, extended, dropped, nicht mehr, statt, ersetzt, ab jetzt, ab heute, ab sofort,
    verschoben, geändert, umgestellt, gewechselt, gekündigt, abgeschafft
"""
_CUES = tuple(f" {cue.strip()}" for cue in _CHANGES.split(","))
_CHINESE_CUES = ("不再", "改为", "改成", "改用", "换成", "取代", "代替", "推迟", "取消", "从今天起")
_SWITCH = re.compile(r" switched (?:it |them )?o(?:ff|n)\b")  # a lamp, which replaces nothing
_SPACED = str.maketrans(dict.fromkeys("\n\t*_.,;:!?()[]\"'`-–—", " "))


def speaks_of_change(text: str) -> bool:
    """Tell whether a text says that something is no longer as it was."""
    text = text.lower().translate(_SPACED)
    words = _SWITCH.sub(" ", f" {' '.join(text.split())}")
    return any(cue in words for cue in _CUES) or any(cue in text for cue in _CHINESE_CUES)
