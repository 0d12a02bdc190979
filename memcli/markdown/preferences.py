"""Find instructions and preferences of the user; pure.

In a conversation with an assistant, these are sentences of the user in the first person ("I
prefer") and orders ("Always ...", "please never ..."). Elsewhere an order may be from anybody to
anybody, so only sentences about oneself or about the user count. The words are a table, not a
grammar: a wrong line costs tokens in a context, a missing one must be found by its subject.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from memcli.language.preferences import may_be_preference, preference_pattern
from memcli.markdown.parse import ParsedMarkdown
from memcli.markdown.turns import USER, role_of, speaker_at
from memcli.markdown.units import Unit, units
from memcli.types import Lines, Turn

_ENDS = re.compile(r"[.!?…](?=\s|$)|[。！？]")
_PROSE = ("paragraph", "item", "quote")


def preferences_of(parsed: ParsedMarkdown, turns: Sequence[Turn]) -> tuple[Lines, ...]:
    """Return the first and last line of every run of such sentences, in order.

    `turns` are the turns of a conversation, () for any other document.
    """
    preferences: list[Lines] = []
    for first, last in sorted(_preference_lines(parsed, turns)):
        if preferences and first <= preferences[-1][1] + 1:
            preferences[-1] = preferences[-1][0], max(last, preferences[-1][1])
        else:
            preferences.append((first, last))
    return tuple(preferences)


def begun_within(preferences: Sequence[Lines], start: int, end: int) -> tuple[Lines, ...]:
    """Return those that begin within a range of lines, cut to that range."""
    begun = preferences[
        bisect_left(preferences, (start, 0)) : bisect_left(preferences, (end + 1, 0))
    ]
    return tuple((first, min(last, end)) for first, last in begun)


def _preference_lines(parsed: ParsedMarkdown, turns: Sequence[Turn]) -> Iterator[Lines]:
    pattern = preference_pattern(orders=bool(turns))
    for block in parsed.blocks:
        if block.kind not in _PROSE:
            continue
        text = " ".join(parsed.lines[block.start : block.end])
        if not (turns or may_be_preference(text)) or not pattern.search(text):
            continue
        for unit in units(block, parsed.lines):
            for first, last in _runs(unit, pattern):
                if not turns or role_of(speaker_at(turns, first)) == USER:
                    yield first, last


def _runs(unit: Unit, pattern: re.Pattern[str]) -> Iterator[Lines]:
    last = 0
    for match in pattern.finditer(unit.text):
        if match.end() >= last:  # else it belongs to the same, perhaps long, sentence
            end = _ENDS.search(unit.text, match.end())
            last = end.end() if end else len(unit.text)
        yield unit.line_at(match.start()), unit.line_at(last - 1)
