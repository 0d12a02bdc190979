"""Order hits by relevance and novelty (MMR), folding near-duplicates into one; pure.

mmr = lambda * relevance - (1 - lambda) * max similarity to what is chosen, with relevance =
score / best score and similarity = Jaccard of token sets. Source: Carbonell and Goldstein,
SIGIR 1998. The choice is greedy, so the first 3 of 10 are the first 3 of 3.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import inf

from memcli.markdown.words import prepare
from memcli.search.hits import Hit

# Texts this alike say the same; a stand-up line repeated with another day's date is below it.
DUPLICATE_JACCARD = 0.95

_WORD = re.compile(r"\w+")


def token_set(text: str) -> frozenset[str]:
    """Give the distinct words of a text, pairs of characters for unspaced scripts."""
    return frozenset(_WORD.findall(prepare(text).lower()))


def jaccard(a: frozenset[str], b: frozenset[str]) -> float:
    """Give the share of tokens two sets have in common; 0 for two empty ones."""
    common = len(a & b)
    union = len(a) + len(b) - common
    return common / union if union else 0.0


def diversify(
    hits: Sequence[Hit], *, lambda_: float, limit: int, least: float = -1.0, fold: bool = True
) -> list[Hit]:
    """Choose up to `limit` hits until the MMR falls below `least`, which lies in [-1, 1].

    The score stays, the order and the trace change; `fold` leaves out near-duplicates.
    """
    if not hits:
        return []
    best = max(hit.score for hit in hits) or 1.0
    relevance = [lambda_ * hit.score / best for hit in hits]
    sets = [token_set(hit.text) for hit in hits]
    left = list(range(len(hits)))
    nearest = [0.0] * len(hits)
    compared = [0] * len(hits)  # of the chosen, so many are in `nearest`
    order: list[int] = []
    chosen: list[Hit] = []
    while left and len(chosen) < limit:
        pick, value = -1, -inf
        for i in left:
            # More comparisons only lower a value: what cannot win is not compared.
            if relevance[i] - (1 - lambda_) * nearest[i] <= value:
                continue
            for other in order[compared[i] :]:
                nearest[i] = max(nearest[i], jaccard(sets[other], sets[i]))
            compared[i] = len(order)
            if relevance[i] - (1 - lambda_) * nearest[i] > value:
                pick, value = i, relevance[i] - (1 - lambda_) * nearest[i]
        if value < least:
            break
        left.remove(pick)
        order.append(pick)
        copies = [i for i in left if fold and _is_copy(sets[pick], sets[i])]
        left = [i for i in left if i not in copies]
        hit = hits[pick].moved(hits[pick].score, "mmr", value=value, similarity=nearest[pick])
        chosen.append(hit._replace(duplicates=tuple(hits[i].citation for i in copies)))
    return chosen


def _is_copy(a: frozenset[str], b: frozenset[str]) -> bool:
    """Tell that two texts say the same; sets of unlike size cannot have so much in common."""
    least = DUPLICATE_JACCARD * len(a)
    if len(b) < least or DUPLICATE_JACCARD * len(b) > len(a):
        return False
    return jaccard(a, b) >= DUPLICATE_JACCARD
