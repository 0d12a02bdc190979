"""Find decisions that a later sentence takes back; pure.

A later sentence takes a decision back where it must survive itself and, with its headings, speaks
of a change as `search.newer` knows one and holds COVERED of the IDF of what the decision is about.
Where it names what it replaces ("instead of MySQL"), the decision has to be about that. The words
are a table, not a grammar: a mark too few is found by search, one too many misleads.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import count
from math import fsum

from memcli.checking import TYPE_CHECKING
from memcli.language.change import speaks_of_change
from memcli.language.salience import DECISION, FACT
from memcli.language.terms import content, terms
from memcli.record import Record

if TYPE_CHECKING:
    from memcli.compaction.compose import Entry
    from memcli.compaction.sentences import Sentence

COVERED = 0.6

# How a decision is worded tells nothing of what it is about, nor do the parts of a version: what
# comes in its place has others.
_WORDING = re.compile(
    r"\b(?:\d{1,2}|decided|decision|decide|agreed|approved|chosen|chose|settled|use|used|keep|take"
    r"|beschlossen|entschieden|vereinbart)\b|我们|我們|决定|決定|同意|使用|用",
    re.IGNORECASE,
)
_REPLACED = re.compile(
    r"\b(?:instead of|rather than|in place of|moved from|switched from|replac(?:es|ed|ing)?)\s+"
    r"(\S+(?:\s+\S+)?)",
    re.IGNORECASE,
)


class Reversal(Record):
    """A sentence that says that something is no longer as it was."""

    at: int  # its place among the sentences of all entries
    citation: str
    terms: frozenset[str]
    replaced: frozenset[str]  # terms of what it names as replaced, none where it names nothing


def reversals(entries: Sequence[Entry]) -> list[Reversal]:
    """Find the sentences that, below their headings, may take a decision back."""
    found, at = [], -1
    for entry in entries:
        for sentence in entry.sentences:
            at += 1
            text = "\n".join((*entry.headings, sentence.text))
            if sentence.kept in ("", FACT) or not speaks_of_change(text):
                continue
            named = frozenset[str]().union(*map(content, _REPLACED.findall(text)))
            found.append(Reversal(at, sentence.citation, frozenset(terms(text)), named))
    return found


def superseding(
    decision: Sentence, later: Sequence[Reversal], weights: Mapping[str, float]
) -> Reversal | None:
    """Give the first of some later reversals that takes a decision back."""
    if decision.kept != DECISION or not later:
        return None
    about = content(_WORDING.sub(" ", decision.text))
    whole = fsum(weights.get(term, 0.0) for term in about)
    for reversal in later:
        held = fsum(weights.get(term, 0.0) for term in about & reversal.terms)
        is_meant = not reversal.replaced or not about.isdisjoint(reversal.replaced)
        if whole and is_meant and held >= COVERED * whole:
            return reversal
    return None


def marked(entries: Sequence[Entry], weights: Mapping[str, float]) -> list[Entry]:
    """Note of each decision what comes in its place later in the same entries."""
    later, at = reversals(entries), count()
    return [
        entry._replace(
            sentences=tuple(_marked(each, next(at), later, weights) for each in entry.sentences)
        )
        for entry in entries
    ]


def _marked(
    sentence: Sentence, at: int, told: Sequence[Reversal], weights: Mapping[str, float]
) -> Sentence:
    newer = superseding(sentence, [each for each in told if each.at > at], weights)
    return sentence._replace(newer=newer.citation) if newer else sentence
