"""The profile `convex`: a convex sum of meaning, recency and scope; pure.

score = (ALPHA * sim + BETA * recency + GAMMA * scope) * quality, in [0, 1]

sim is the cosine clamped to [0, 1], without vectors bm25 / best bm25; recency =
e^(-lambda * age in seconds), 1 for undated records, lambda by scope; quality =
1 - DELTA * (1 - confidence) for summaries, else 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import exp

from memcli.search.hits import Hit, ordered

ALPHA, BETA, GAMMA, DELTA = 0.7, 0.2, 0.1, 0.5
SCOPES = {"session": 1.0, "user": 0.6, "global": 0.3}
DECAY_PER_SECOND = {"session": 1e-4, "user": 1e-5, "global": 2e-6}
SECONDS_A_DAY = 86_400


def quality(confidence: float | None) -> float:
    """Give the factor of a summary made with this confidence; 1 for what is no summary."""
    return 1.0 if confidence is None else 1.0 - DELTA * (1.0 - confidence)


def score_convex(hits: Sequence[Hit], *, age_days: Callable[[str], int]) -> list[Hit]:
    """Score fused hits anew."""
    best_text = max((hit.candidate.bm25 for hit in hits), default=0.0)
    without_vectors = all(hit.cosine is None for hit in hits)
    scored = []
    for hit in hits:
        candidate = hit.candidate
        if without_vectors:
            sim = candidate.bm25 / best_text if best_text > 0 else 0.0
        else:
            sim = hit.cosine or 0.0
        date = candidate.document_date
        age = max(0, age_days(date)) if date else 0
        recency = exp(-DECAY_PER_SECOND.get(candidate.scope, 2e-6) * age * SECONDS_A_DAY)
        scope = SCOPES.get(candidate.scope, SCOPES["global"])
        score = ALPHA * sim + BETA * recency + GAMMA * scope
        scored.append(hit.moved(score, "convex", sim=sim, recency=recency, scope=scope))
    return ordered(scored)
