"""The profile `two-pass`: few by meaning or words, then those by authority and key words; pure.

pass 1   the FIRST best by cosine, from a cosine of LEAST on, and the FIRST best by words
pass 2   the SECOND best by S = omega * max(sim, 0) * (1 + KAPPA * M) / (1 + KAPPA)

sim is the cosine, without vectors bm25 / best bm25; M the share of the query's terms that the
chunk holds, 0 where the query has none; omega as in `authority`. So 0 <= S <= omega <= 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from memcli.search.authority import authority
from memcli.search.hits import Hit, ordered

FIRST, SECOND = 16, 8
LEAST = 0.2
KAPPA = 0.3


def two_pass(
    hits: Sequence[Hit], matched: Mapping[int, float], *, age_days: Callable[[str], int]
) -> list[Hit]:
    """Choose and score; `matched` gives M by chunk id."""
    without_vectors = all(hit.cosine is None for hit in hits)
    best_text = max((hit.candidate.bm25 for hit in hits), default=0.0)
    scored = []
    for hit in _first_pass(hits):
        candidate = hit.candidate
        if without_vectors:
            sim = candidate.bm25 / best_text if best_text > 0 else 0.0
        else:
            sim = max(0.0, hit.cosine or 0.0)
        date = candidate.about.document_date
        omega = authority(age_days(date) if date else None, candidate.authority)
        share = matched.get(candidate.about.chunk_id, 0.0)
        score = omega * sim * (1.0 + KAPPA * share) / (1.0 + KAPPA)
        scored.append(
            hit.moved(score, "score", formula="two-pass", sim=sim, authority=omega, matched=share)
        )
    return ordered(scored)[:SECOND]


def _first_pass(hits: Sequence[Hit]) -> list[Hit]:
    near = [hit for hit in hits if hit.cosine is not None and hit.cosine >= LEAST]
    near.sort(key=lambda hit: (-(hit.cosine or 0.0), hit.citation))
    worded = [hit for hit in hits if hit.candidate.bm25 > 0]
    worded.sort(key=lambda hit: (-hit.candidate.bm25, hit.citation))
    kept = {hit.about.chunk_id for hit in (*near[:FIRST], *worded[:FIRST])}
    return [hit for hit in hits if hit.about.chunk_id in kept]
