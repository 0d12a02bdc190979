"""Find the sentence before that a sentence says nothing without; pure."""

from __future__ import annotations

from collections.abc import Sequence

from memcli.compaction.sentences import Sentence
from memcli.language.discourse import is_aside, leans_on
from memcli.language.terms import terms

MOST_BEFORE = 2  # sentences that one may take along
LEAST_BEFORE = 4  # words of one that is worth it
SHORT_ANSWER = 6  # words of an answer that says nothing without its question


def antecedents(sentences: Sequence[Sentence]) -> list[int | None]:
    """Give for each sentence the one before that it says nothing without."""
    found: list[int | None] = [None]
    for at in range(1, len(sentences)):
        before, here = sentences[at - 1], sentences[at]
        is_near = before.path == here.path and 0 <= here.first - before.last <= MOST_BEFORE
        chain = _chain(found, at - 1)
        is_said = len(terms(before.text)) >= LEAST_BEFORE and not is_aside(before.text)
        needs = is_near and is_said and chain < MOST_BEFORE and _leans(before, here)
        found.append(at - 1 if needs else None)
    return found[: len(sentences)]


def _chain(found: Sequence[int | None], at: int) -> int:
    length = 0
    while (before := found[at]) is not None:
        length, at = length + 1, before
    return length


def _leans(before: Sentence, here: Sentence) -> bool:
    """Tell whether a sentence begins with what only the one before names, or is a bare answer."""
    if before.text.endswith(("?", "？")) and before.speaker != here.speaker:
        return len(here.text.split()) < SHORT_ANSWER and here.text.isascii()
    return leans_on(here.text)
