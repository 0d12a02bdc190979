"""Find decisions and promises that a later sentence reverses; pure.

A later sentence reverses one if it must survive itself and if it, or a heading above it, corrects
it as `language.correction` defines it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import count

from memcli.checking import TYPE_CHECKING
from memcli.language.change import speaks_of_change
from memcli.language.correction import corrects
from memcli.language.salience import BECAUSE, DECISION, FACT, PROMISE
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


def reversal(at: int, sentence: Sentence, headings: Sequence[str]) -> Reversal | None:
    """Return a sentence that, below its headings, may reverse a decision or promise."""
    if sentence.reason in ("", FACT):
        return None
    texts = tuple(filter(speaks_of_change, (sentence.text, *headings)))
    terms = frozenset[str]().union(*map(content, texts))
    return Reversal(at, sentence.citation, texts, terms) if texts else None


def superseding(decision: Sentence, later: Iterable[Reversal]) -> Reversal | None:
    """Return the first of some later reversals that reverses a decision or promise."""
    if decision.reason not in REVERSIBLE:
        return None
    about = content(decision.text)
    for reversal in later:
        is_near = not about.isdisjoint(reversal.terms)
        if is_near and any(corrects(text, decision.text) for text in reversal.texts):
            return reversal
    return None


def marked(
    entries: Sequence[EntrySummary],
    clusters: Mapping[int, int],
    replaced: Collection[tuple[str, int]],
) -> list[EntrySummary]:
    """Mark sentences that reverse an earlier decision or promise, and what they reverse.

    `clusters` are the clusters of the entries to summarise, by their places. What is reversed in
    its own cluster is marked together with its reasons. A sentence can reverse one decision.
    `replaced` are the paths and first lines of decisions that summaries already cite as replaced.
    """
    flat = [(n, sentence) for n, entry in enumerate(entries) for sentence in entry.sentences]
    new = [
        (at, sentence, entries[n].headings)
        for at, (n, sentence) in enumerate(flat)
        if n in clusters
    ]
    later = [newer for each in new if (newer := reversal(*each))]
    corrected: set[int] = set()
    replaces: dict[int, str] = {}
    for at, (n, sentence) in enumerate(flat):
        newer = None
        if (sentence.path, sentence.first) not in replaced:
            newer = superseding(sentence, (r for r in later if r.at > at and r.at not in replaces))
        if newer:
            if clusters.get(n) == clusters[flat[newer.at][0]]:
                corrected.add(at)
            replaces[newer.at] = sentence.citation
        elif at - 1 in corrected and sentence.reason == BECAUSE and flat[at - 1][0] == n:
            corrected.add(at)
    numbers = count()

    def changed(sentence: Sentence) -> Sentence:
        at = next(numbers)
        return sentence._replace(replaces=replaces.get(at, ""), is_corrected=at in corrected)

    return [
        entry._replace(sentences=tuple(changed(each) for each in entry.sentences))
        for entry in entries
    ]
