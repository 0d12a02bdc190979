"""Order what has changed by a question."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum

from memcli.checking import TYPE_CHECKING
from memcli.compaction.similarity import idf
from memcli.language.terms import content
from memcli.record import Record

if TYPE_CHECKING:
    from memcli.history.differences import MemoryChange

LEAST_STEM = 4  # letters that words have in common, one being the beginning of the other


class RankedChange(Record):
    """A change, and the share of the question's words in it."""

    day: str
    change: MemoryChange
    score: float  # 0 to 1


def ranked_by(text: str, each: Sequence[tuple[str, MemoryChange]]) -> tuple[RankedChange, ...]:
    """Order the changes by their share of the question's words, weighted by IDF."""
    asked = content(text)
    weights = idf(change.text for _, change in each)
    most = max(weights.values(), default=1.0)
    by_word = {word: weights.get(word, most) for word in asked}
    whole = fsum(by_word.values()) or 1.0
    ranked = []
    for day, change in each:
        told = content(f"{' '.join(change.place.headings)} {change.text}")
        held = fsum(weight for word, weight in by_word.items() if _holds(told, word))
        if held:
            ranked.append(RankedChange(day, change, held / whole))
    ranked.sort(key=lambda r: (r.change.place.name, r.change.place.start_line))
    ranked.sort(key=lambda r: (r.score, r.day), reverse=True)
    return tuple(ranked)


def _holds(told: set[str], word: str) -> bool:
    if word in told:
        return True
    return any(
        min(len(word), len(each)) >= LEAST_STEM and (each.startswith(word) or word.startswith(each))
        for each in told
    )
