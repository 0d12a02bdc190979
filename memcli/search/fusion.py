"""Join the lexical and the dense leg into one score; pure.

scaled    w_v * cosine + w_t * c * bm25 / (best bm25 of the query), c = sqrt(best coverage)
weighted  w_v * cosine / (best cosine) + w_t / (1 + rank), rank from 0
rrf       sum over legs of 1 / (60 + rank), rank from 1, over 2 / 61, its greatest value

Coverage is the share of the query's IDF that a chunk matches: where no chunk holds more than a
few words of a question, the best of them is no match, and words count for less.

Cosines are clamped to [0, 1]. Every member of the union has both raw scores; a chunk without
vectors takes the median cosine, so that a word match is never lost for want of a vector.
Sources: rrf is Cormack, Clarke and Buettcher, SIGIR 2009, with their k.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf, sqrt
from typing import NamedTuple

from memcli.search.hits import Hit, ordered
from memcli.types import Candidate

RRF_K = 60


class Weights(NamedTuple):
    """How much each leg counts; they sum to 1."""

    vector: float
    text: float


def best_cosine(candidate: Candidate) -> float | None:
    """Give the cosine of the best part, clamped to [0, 1]; None where nothing is embedded."""
    known = [part.cosine for part in candidate.parts if part.cosine is not None]
    return min(1.0, max(0.0, *known)) if known else None


def text_share(coverage: Mapping[int, float]) -> float:
    """Give how far words are to be believed for this query: the root of the best coverage."""
    return sqrt(max(coverage.values(), default=0.0))


def unscored(candidates: Sequence[Candidate], coverage: Mapping[int, float]) -> list[Hit]:
    """Make a hit of every candidate, whole and in their order."""
    return [
        Hit(
            candidate=candidate,
            first=0,
            last=max(0, len(candidate.parts) - 1),
            score=0.0,
            cosine=best_cosine(candidate),
            coverage=coverage.get(candidate.about.chunk_id, 0.0),
            confidence=None,
            duplicates=(),
            trace=(),
        )
        for candidate in candidates
    ]


def by_leg(hits: Sequence[Hit]) -> list[Hit]:
    """Sort hits that nothing has scored yet by the better of their ranks in the legs."""
    return sorted(hits, key=_better_rank)


def fuse(hits: Sequence[Hit], *, method: str, weights: Weights, text_share: float) -> list[Hit]:
    """Score hits by `scaled`, `weighted` or `rrf`; with a weight of 0 a leg is out."""
    if method == "rrf":
        scores = _rrf(hits, weights)
    elif method == "weighted":
        scores = _weighted(hits, weights)
    else:
        scores = _scaled(hits, weights, text_share)
    return ordered(
        [
            hit.moved(
                score,
                "fuse",
                method=method,
                bm25=hit.candidate.bm25,
                lexical_rank=hit.candidate.lexical_rank,
                cosine=hit.cosine,
                dense_rank=hit.candidate.dense_rank,
                coverage=hit.coverage,
            )
            for hit, score in zip(hits, scores, strict=True)
        ]
    )


def _scaled(hits: Sequence[Hit], weights: Weights, text_share: float) -> list[float]:
    best_text = max((hit.candidate.bm25 for hit in hits), default=0.0)
    texts = (hit.candidate.bm25 / best_text if best_text > 0 else 0.0 for hit in hits)
    return [
        weights.vector * cosine + weights.text * text_share * text
        for cosine, text in zip(_cosines(hits), texts, strict=True)
    ]


def _weighted(hits: Sequence[Hit], weights: Weights) -> list[float]:
    best = max((hit.cosine for hit in hits if hit.cosine is not None), default=0.0)
    order = sorted(hits, key=_by_words)
    ranks = {hit.about.chunk_id: rank for rank, hit in enumerate(order) if hit.candidate.bm25 > 0}
    scores = []
    for hit, cosine in zip(hits, _cosines(hits), strict=True):
        vector = cosine / best if best > 0 else 0.0
        rank = ranks.get(hit.about.chunk_id)
        text = 0.0 if rank is None else 1 / (1 + rank)
        scores.append(weights.vector * vector + weights.text * text)
    return scores


def _rrf(hits: Sequence[Hit], weights: Weights) -> list[float]:
    scores = []
    for hit in hits:
        ranks = (
            (weights.text, hit.candidate.lexical_rank),
            (weights.vector, hit.candidate.dense_rank),
        )
        total = sum(1 / (RRF_K + rank) for weight, rank in ranks if rank and weight)
        scores.append(total * (RRF_K + 1) / 2)
    return scores


def _cosines(hits: Sequence[Hit]) -> list[float]:
    """Give the cosine of every hit, the median of all for one without a vector."""
    known = [hit.cosine for hit in hits if hit.cosine is not None]
    stand_in = _median(known) if known else 0.0
    return [stand_in if hit.cosine is None else hit.cosine for hit in hits]


def _better_rank(hit: Hit) -> float:
    ranks = (hit.candidate.lexical_rank, hit.candidate.dense_rank)
    return min((rank for rank in ranks if rank is not None), default=inf)


def _by_words(hit: Hit) -> tuple[float, str, str, int]:
    about = hit.about
    return (-hit.candidate.bm25, about.source, about.path, about.start_line)


def _median(values: Sequence[float]) -> float:
    """Give the middle value; importing `statistics` would cost 4 ms."""
    middle = sorted(values)
    half = len(middle) // 2
    return middle[half] if len(middle) % 2 else (middle[half - 1] + middle[half]) / 2
