"""The profile `convex`: a convex sum of meaning, recency and scope; pure.

score = ALPHA * sim + BETA * recency + GAMMA * scope, in [0, 1]

sim is the cosine clamped to [0, 1], without vectors bm25 / best bm25; recency =
e^(-lambda * age in seconds), 1 for undated records, lambda by scope. As everywhere, a summary's
score is then multiplied by its quality (see `views`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import exp

from memcli.search.hits import Hit, ordered

ALPHA, BETA, GAMMA = 0.7, 0.2, 0.1
SCOPES = {"session": 1.0, "user": 0.6, "global": 0.3}
DECAY_PER_SECOND = {"session": 1e-4, "user": 1e-5, "global": 2e-6}
SECONDS_A_DAY = 86_400


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
        date = candidate.about.document_date
        age = max(0, age_days(date)) if date else 0
        recency = exp(-DECAY_PER_SECOND.get(candidate.about.scope, 2e-6) * age * SECONDS_A_DAY)
        scope = SCOPES.get(candidate.about.scope, SCOPES["global"])
        score = ALPHA * sim + BETA * recency + GAMMA * scope
        scored.append(
            hit.moved(score, "score", formula="convex", sim=sim, recency=recency, scope=scope)
        )
    return ordered(scored)
