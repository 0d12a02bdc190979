"""Find decisions and promises that a later sentence reverses; pure.

A later sentence reverses one if it must survive itself and if it, or a heading above it, corrects
it as `language.correction` defines it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import count

from memcli.checking import TYPE_CHECKING
from memcli.language.change import speaks_of_change
from memcli.language.correction import corrects
from memcli.language.salience import DECISION, FACT, PROMISE
from memcli.language.terms import content
from memcli.record import Record

if TYPE_CHECKING:
    from memcli.compaction.compose import EntrySummary
    from memcli.compaction.sentences import Sentence


REVERSIBLE = (DECISION, PROMISE)  # a later sentence may reverse these; facts and rules stay


class Reversal(Record):
    """A sentence that reports a change."""

    at: int  # its place among the sentences of all entries
    citation: str
    texts: tuple[str, ...]  # of it, and of the headings above it that report a change
    terms: frozenset[str]


def reversals(entries: Sequence[EntrySummary]) -> list[Reversal]:
    """Find the sentences that, below their headings, may reverse a decision or promise."""
    pairs, at = [], -1
    for entry in entries:
        for sentence in entry.sentences:
            at += 1
            if sentence.reason in ("", FACT):
                continue
            texts = tuple(filter(speaks_of_change, (sentence.text, *entry.headings)))
            if texts:
                terms = frozenset[str]().union(*map(content, texts))
                pairs.append(Reversal(at, sentence.citation, texts, terms))
    return pairs


def superseding(decision: Sentence, later: Sequence[Reversal]) -> Reversal | None:
    """Return the first of some later reversals that reverses a decision or promise."""
    if decision.reason not in REVERSIBLE or not later:
        return None
    about = content(decision.text)
    for reversal in later:
        is_near = not about.isdisjoint(reversal.terms)
        if is_near and any(corrects(text, decision.text) for text in reversal.texts):
            return reversal
    return None


def marked(entries: Sequence[EntrySummary]) -> list[EntrySummary]:
    """Mark what a later sentence of the same entries reverses, and that sentence.

    A later sentence can reverse one decision or promise. Others stay as they are.
    """
    flat = [sentence for entry in entries for sentence in entry.sentences]
    later = reversals(entries)
    corrected: set[int] = set()
    replaces: dict[int, str] = {}
    for at, sentence in enumerate(flat):
        newer = superseding(sentence, [r for r in later if r.at > at and r.at not in replaces])
        if newer:
            corrected.add(at)
            replaces[newer.at] = sentence.citation
    return with_citations(entries, replaces, corrected)


def with_citations(
    entries: Sequence[EntrySummary], replaces: Mapping[int, str], corrected: Collection[int] = ()
) -> list[EntrySummary]:
    """Add to some sentences the citations of what they correct, by their places."""
    at = count()

    def changed(sentence: Sentence) -> Sentence:
        here = next(at)
        old = sentence.replaces or replaces.get(here, "")
        is_corrected = sentence.is_corrected or here in corrected
        return sentence._replace(replaces=old, is_corrected=is_corrected)

    return [
        entry._replace(sentences=tuple(changed(each) for each in entry.sentences))
        for entry in entries
    ]
