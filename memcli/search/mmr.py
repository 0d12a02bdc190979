"""Order passages by relevance and novelty (MMR), folding near-duplicates into one; pure.

mmr = lambda * relevance - (1 - lambda) * max similarity to what is chosen, with relevance =
score / best score and similarity = Jaccard of token sets. Source: Carbonell and Goldstein,
SIGIR 1998. The choice is greedy, so the first 3 of 10 are the first 3 of 3.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

from memcli.language.words import prepare
from memcli.search.ranked import RankedPassage

# Texts this similar have the same content; a stand-up line repeated with another date is below it.
DUPLICATE_JACCARD = 0.95

KEPT_TEXTS = 2048  # some 10 MB of words

_WORD = re.compile(r"\w+")
_SPACED = {sign: " " for sign in range(128) if not (chr(sign).isalnum() or chr(sign) == "_")}


@lru_cache(maxsize=KEPT_TEXTS)  # a process with many questions meets the same passages
def token_set(text: str) -> frozenset[str]:
    """Return the distinct words of a text, pairs of characters for scripts without spaces."""
    if text.isascii():  # as below, in half of the time
        return frozenset(text.lower().translate(_SPACED).split())
    return frozenset(_WORD.findall(prepare(text).lower()))


def likeness(sets: Sequence[frozenset[str]]) -> Callable[[int, Sequence[int]], list[float]]:
    """Return a function that compares one of some sets with others, by index, by Jaccard.

    That is the share of tokens that two sets have in common, 0 for two empty ones. Sets are
    compared as bits of a number, which takes a quarter of the time.
    """
    bits = {token: 1 << place for place, token in enumerate(frozenset[str]().union(*sets))}
    masks = [sum(map(bits.__getitem__, tokens)) for tokens in sets]
    sizes = [len(tokens) for tokens in sets]

    def alike(one: int, others: Sequence[int]) -> list[float]:
        mask, size = masks[one], sizes[one]
        common = [(mask & masks[other]).bit_count() for other in others]
        return [
            # If two sets share no token, the union is not computed: it may be empty.
            shared / (size + sizes[other] - shared) if shared else 0.0
            for shared, other in zip(common, others, strict=True)
        ]

    return alike


def diversify(
    passages: Sequence[RankedPassage],
    *,
    lambda_: float,
    limit: int,
    least: float = -1.0,
    fold: bool = True,
) -> list[RankedPassage]:
    """Choose up to `limit` passages until the MMR falls below `least`, in [-1, 1].

    Scores stay, order and trace change; `fold` leaves out near-duplicates. A passage never comes
    before one that may correct it.
    """
    if not passages:
        return []
    best = max(passage.score for passage in passages) or 1.0
    relevance = [lambda_ * passage.score / best for passage in passages]
    alike = likeness([token_set(passage.text) for passage in passages])
    left = list(range(len(passages)))
    nearest = [0.0] * len(passages)  # the greatest similarity to a chosen passage
    chosen: list[RankedPassage] = []
    while left and len(chosen) < limit:
        values = [relevance[i] - (1 - lambda_) * nearest[i] for i in left]
        value = max(values)
        if value < least:
            break
        place = _before(left, values.index(value), passages)
        pick, value = left.pop(place), values[place]
        similar = alike(pick, left)
        copies = _copies(left, similar) if fold else []
        passage, others = newest([passages[pick], *(passages[i] for i in copies)])
        passage = passage.moved(passages[pick].score, "mmr", value=value, similarity=nearest[pick])
        chosen.append(passage._replace(duplicates=tuple(each.citation for each in others)))
        for i, similarity in zip(left, similar, strict=True):
            if similarity > nearest[i]:
                nearest[i] = similarity
        left = [i for i in left if i not in copies]
    return chosen


def _before(left: Sequence[int], at: int, passages: Sequence[RankedPassage]) -> int:
    """Return the place of the passage to choose: the one at a place, or one that corrects it."""
    seen = {at}
    while behind := passages[left[at]].must_follow:
        rest = ((n, passages[i]) for n, i in enumerate(left) if n not in seen)
        newer = (n for n, each in rest if (each.about.chunk_id, each.start_line) in behind)
        first = next(newer, None)
        if first is None:
            break
        seen.add(first)
        at = first
    return at


def folded(passages: Sequence[RankedPassage]) -> list[RankedPassage]:
    """Fold near-duplicates into the newest, which takes the first place and names the others."""
    alike = likeness([token_set(passage.text) for passage in passages])
    left, distinct = [*range(len(passages))], []
    while left:
        first, *left = left
        copies = _copies(left, alike(first, left))
        left = [at for at in left if at not in copies]
        passage, others = newest([passages[first], *(passages[at] for at in copies)])
        cited = [c for each in others for c in (each.citation, *each.duplicates)]
        passage = passage._replace(
            score=passages[first].score, duplicates=(*passage.duplicates, *cited)
        )
        distinct.append(passage)
    return distinct


def newest(alike: Sequence[RankedPassage]) -> tuple[RankedPassage, list[RankedPassage]]:
    """Return the newest of passages with the same content, and the others."""
    passage = max(alike, key=lambda each: each.about.document_date or "")
    return passage, [each for each in alike if each is not passage]


def _copies(places: Sequence[int], similar: Sequence[float]) -> list[int]:
    """List the passages with the same content, by similarity."""
    return [i for i, share in zip(places, similar, strict=True) if share >= DUPLICATE_JACCARD]
