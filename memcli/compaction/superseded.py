"""Find sentences that a later one reverses; pure.

A later sentence reverses one if it must survive itself and if it, or a heading above it, corrects
it as `language.correction` defines it. Rules stay.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import count

from memcli.compaction.compose import EntrySummary
from memcli.compaction.sentences import Sentence
from memcli.language.change import names_new_value, speaks_of_change
from memcli.language.correction import corrects
from memcli.language.salience import BECAUSE, FACT, HARD, RULE
from memcli.language.terms import content
from memcli.record import Record


class Reversal(Record):
    """A sentence that reports a change."""

    at: int  # its place among the sentences of all entries
    texts: tuple[str, ...]  # that report a change: its own, with a new value, of headings above it
    terms: frozenset[str]


def reversal(at: int, sentence: Sentence, others: Sequence[str]) -> Reversal | None:
    """Return a sentence that may reverse an earlier one; its headings are in `others`."""
    if sentence.reason in ("", FACT):
        return None
    texts = tuple(filter(speaks_of_change, (sentence.text, *others)))
    terms = frozenset[str]().union(*map(content, texts))
    return Reversal(at, texts, terms) if texts else None


def _adds(sentence: Sentence, behind: Sentence) -> bool:
    """Return whether the next sentence of the line gives a new value and is in the summary, too."""
    is_same = sentence.path == behind.path and sentence.last == behind.first
    return is_same and behind.reason in HARD and names_new_value(behind.text)


def superseding(decision: Sentence, later: Iterable[Reversal]) -> Reversal | None:
    """Return the first of some later reversals that reverses a sentence."""
    if decision.reason in (RULE, BECAUSE):
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
    """Mark sentences that reverse an earlier one, and what they reverse.

    `clusters` are the clusters of the entries to summarise, by their places. What is reversed in
    its own cluster is marked together with its reasons. A sentence can reverse one decision, of any
    cluster. Only a sentence of the same cluster can reverse other lines; it cites a line of another
    entry.
    `replaced` are the paths and first lines of decisions that summaries already cite as replaced.
    """
    flat = [(n, sentence) for n, entry in enumerate(entries) for sentence in entry.sentences]
    later: list[Reversal] = []
    for at, (n, sentence) in enumerate(flat):
        texts = [
            *(f"{sentence.text} {s.text}" for _, s in flat[at + 1 : at + 2] if _adds(sentence, s)),
            *entries[n].headings,
        ]
        if n in clusters and (newer := reversal(at, sentence, texts)):
            later.append(newer)
    near: dict[int, list[Reversal]] = {}
    for each in later:
        near.setdefault(clusters[flat[each.at][0]], []).append(each)
    corrected: set[int] = set()
    replaces: dict[int, str] = {}
    for at, (n, sentence) in sorted(enumerate(flat), key=lambda e: e[1][1].reason not in HARD):
        newer, is_hard = None, sentence.reason in HARD
        if (sentence.path, sentence.first) not in replaced:
            some = later if is_hard else near.get(clusters.get(n, -1), ())
            free = (r for r in some if r.at > at and not (is_hard and r.at in replaces))
            newer = superseding(sentence, free)
        if newer:
            if clusters.get(n) == clusters[flat[newer.at][0]]:
                corrected.add(at)
            if is_hard or flat[newer.at][0] != n:
                replaces.setdefault(newer.at, sentence.citation)
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
