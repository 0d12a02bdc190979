"""Order hits by relevance and novelty (MMR), folding near-duplicates into one; pure.

mmr = lambda * relevance - (1 - lambda) * max similarity to what is chosen, with relevance =
score / best score and similarity = Jaccard of token sets. Source: Carbonell and Goldstein,
SIGIR 1998. The choice is greedy, so the first 3 of 10 are the first 3 of 3.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from math import inf

from memcli.markdown.words import prepare
from memcli.search.hits import Hit

# Texts this alike say the same; a stand-up line repeated with another day's date is below it.
DUPLICATE_JACCARD = 0.95

KEPT_TEXTS = 2048  # some 10 MB of words

_WORD = re.compile(r"\w+")
_SPACED = {sign: " " for sign in range(128) if not (chr(sign).isalnum() or chr(sign) == "_")}


@lru_cache(maxsize=KEPT_TEXTS)  # a process that goes on asking meets the same passages
def token_set(text: str) -> frozenset[str]:
    """Give the distinct words of a text, pairs of characters for unspaced scripts."""
    if text.isascii():  # as below, in half of the time
        return frozenset(text.lower().translate(_SPACED).split())
    return frozenset(_WORD.findall(prepare(text).lower()))


def jaccard(a: frozenset[str], b: frozenset[str]) -> float:
    """Give the share of tokens two sets have in common; 0 for two empty ones."""
    common = len(a & b)
    union = len(a) + len(b) - common
    return common / union if union else 0.0


def likeness(sets: Sequence[frozenset[str]]) -> Callable[[int, int], float]:
    """Give what compares two of some sets, by their places, as `jaccard` does.

    As bits of a number they are compared in a quarter of the time, and each is compared often.
    """
    bits = {token: 1 << place for place, token in enumerate(frozenset[str]().union(*sets))}
    masks = [sum(map(bits.__getitem__, tokens)) for tokens in sets]
    sizes = [len(tokens) for tokens in sets]

    def alike(a: int, b: int) -> float:
        common = (masks[a] & masks[b]).bit_count()
        union = sizes[a] + sizes[b] - common
        return common / union if union else 0.0

    return alike


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
    alike = likeness(sets)
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
                nearest[i] = max(nearest[i], alike(other, i))
            compared[i] = len(order)
            if relevance[i] - (1 - lambda_) * nearest[i] > value:
                pick, value = i, relevance[i] - (1 - lambda_) * nearest[i]
        if value < least:
            break
        left.remove(pick)
        order.append(pick)
        copies = _copies(sets, pick, left) if fold else []
        left = [i for i in left if i not in copies]
        hit = hits[pick].moved(hits[pick].score, "mmr", value=value, similarity=nearest[pick])
        chosen.append(hit._replace(duplicates=tuple(hits[i].citation for i in copies)))
    return chosen


def folded(hits: Sequence[Hit]) -> list[Hit]:
    """Fold near-duplicates into the first of them, which keeps its place and names the others."""
    sets = [token_set(hit.text) for hit in hits]
    left, kept = [*range(len(hits))], []
    while left:
        first, *left = left
        copies = _copies(sets, first, left)
        left = [at for at in left if at not in copies]
        cited = [c for at in copies for c in (hits[at].citation, *hits[at].duplicates)]
        kept.append(hits[first]._replace(duplicates=(*hits[first].duplicates, *cited)))
    return kept


def _copies(sets: Sequence[frozenset[str]], pick: int, others: Sequence[int]) -> list[int]:
    """List what says the same as one text; sets of unlike size cannot have so much in common.

    Nor can one that lacks more words than a copy may. So it is asked first for one word more than
    that, the longest, which few texts share.
    """
    own = sets[pick]
    lacking = int(len(own) / DUPLICATE_JACCARD - len(own)) + 1
    sample = frozenset(sorted(own, key=len)[-lacking - 1 :])
    least = DUPLICATE_JACCARD * len(own)
    return [
        i
        for i in others
        if len(sets[i]) >= least
        and DUPLICATE_JACCARD * len(sets[i]) <= len(own)
        and not sample.isdisjoint(sets[i])
        and jaccard(own, sets[i]) >= DUPLICATE_JACCARD
    ]
