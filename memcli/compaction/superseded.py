"""Find decisions that a later sentence takes back; pure.

A later sentence takes a decision back if it must survive itself and if it, or a heading above it,
corrects the decision as `language.correction` defines it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

from memcli.checking import TYPE_CHECKING
from memcli.language.change import speaks_of_change
from memcli.language.correction import corrects
from memcli.language.salience import DECISION, FACT
from memcli.language.terms import content
from memcli.record import Record

if TYPE_CHECKING:
    from memcli.compaction.compose import Entry
    from memcli.compaction.sentences import Sentence


class Reversal(Record):
    """A sentence that says that something is no longer as it was."""

    at: int  # its place among the sentences of all entries
    citation: str
    texts: tuple[str, ...]  # of it and of the headings above it, as far as they speak of a change
    terms: frozenset[str]


def reversals(entries: Sequence[Entry]) -> list[Reversal]:
    """Find the sentences that, below their headings, may take a decision back."""
    found, at = [], -1
    for entry in entries:
        for sentence in entry.sentences:
            at += 1
            if sentence.reason in ("", FACT):
                continue
            texts = tuple(filter(speaks_of_change, (sentence.text, *entry.headings)))
            if texts:
                terms = frozenset[str]().union(*map(content, texts))
                found.append(Reversal(at, sentence.citation, texts, terms))
    return found


def superseding(decision: Sentence, later: Sequence[Reversal]) -> Reversal | None:
    """Give the first of some later reversals that takes a decision back."""
    if decision.reason != DECISION or not later:
        return None
    about = content(decision.text)
    for reversal in later:
        is_near = not about.isdisjoint(reversal.terms)
        if is_near and any(corrects(text, decision.text) for text in reversal.texts):
            return reversal
    return None


def marked(entries: Sequence[Entry]) -> list[Entry]:
    """Note of each decision what comes in its place later in the same entries."""
    later, at = reversals(entries), count()
    return [
        entry._replace(sentences=tuple(_marked(each, next(at), later) for each in entry.sentences))
        for entry in entries
    ]


def _marked(sentence: Sentence, at: int, later: Sequence[Reversal]) -> Sentence:
    newer = superseding(sentence, [each for each in later if each.at > at])
    return sentence._replace(newer=newer.citation) if newer else sentence
