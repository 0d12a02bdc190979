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
from math import fsum, sqrt

from memcli.checking import TYPE_CHECKING
from memcli.record import Record
from memcli.search.hits import Hit, Step, ordered

if TYPE_CHECKING:
    from memcli.types import Candidate

RRF_K = 60


class Weights(Record):
    """How much each leg counts; they sum to 1."""

    vector: float
    text: float


def best_cosine(candidate: Candidate) -> float | None:
    """Give the cosine of the best part, clamped to [0, 1]; None where nothing is embedded."""
    known = [cosine for part in candidate.parts if (cosine := part.cosine) is not None]
    return min(1.0, max(0.0, *known)) if known else None


def text_share(coverage: Mapping[int, float]) -> float:
    """Give how far words are to be believed for this query: the root of the best coverage."""
    return sqrt(max(coverage.values(), default=0.0))


def fuse(
    candidates: Sequence[Candidate],
    coverage: Mapping[int, float],
    *,
    method: str,
    weights: Weights,
    text_share: float,
) -> list[Hit]:
    """Score candidates; with a weight of 0 a leg is out."""
    cosines = {c.about.chunk_id: best_cosine(c) for c in candidates}
    known = [cosine for cosine in cosines.values() if cosine is not None]
    stand_in = _median(known) if known else 0.0
    best_vector = max(known, default=0.0)
    best_text = max((c.bm25 for c in candidates), default=0.0)
    text_ranks = _text_ranks(candidates) if method == "weighted" else {}
    hits = []
    for candidate in candidates:
        cosine = cosines[candidate.about.chunk_id]
        used = stand_in if cosine is None else cosine
        if method == "rrf":
            ranks = (
                (weights.text, candidate.lexical_rank),
                (weights.vector, candidate.dense_rank),
            )
            total = fsum(1 / (RRF_K + rank) for weight, rank in ranks if rank and weight)
            score = total * (RRF_K + 1) / 2
        elif method == "weighted":
            vector = used / best_vector if best_vector > 0 else 0.0
            rank = text_ranks.get(candidate.about.chunk_id)
            text = 0.0 if rank is None else 1 / (1 + rank)
            score = weights.vector * vector + weights.text * text
        else:
            text = candidate.bm25 / best_text if best_text > 0 else 0.0
            score = weights.vector * used + weights.text * text_share * text
        covered = coverage.get(candidate.about.chunk_id, 0.0)
        inputs = (
            ("method", method),
            ("bm25", candidate.bm25),
            ("lexical_rank", candidate.lexical_rank),
            ("cosine", cosine),
            ("dense_rank", candidate.dense_rank),
            ("coverage", covered),
        )
        hits.append(
            Hit(
                candidate=candidate,
                first=0,
                last=max(0, len(candidate.parts) - 1),
                score=score,
                cosine=cosine,
                coverage=covered,
                confidence=None,
                duplicates=(),
                trace=(Step("fuse", score, inputs),),
                is_literal=candidate.literal,
                assumed=_assumed(candidate, known, stand_in) if cosine is None else None,
            )
        )
    return ordered(hits)


def _assumed(candidate: Candidate, known: Sequence[float], middle: float) -> float | None:
    """Give the cosine that a formula of meaning alone takes for a chunk without a vector.

    The middle one of the query's candidates; of a literal match the best, so that what answers to
    the letter is not lost before it is embedded. None where no candidate has a vector.
    """
    if not known:
        return None
    return max(known) if candidate.literal else middle


def _text_ranks(candidates: Sequence[Candidate]) -> dict[int, int]:
    """Rank the chunks that hold a word by BM25, from 0."""
    order = sorted(
        candidates, key=lambda c: (-c.bm25, c.about.source, c.about.path, c.about.start_line)
    )
    return {c.about.chunk_id: rank for rank, c in enumerate(order) if c.bm25 > 0}


def _median(values: Sequence[float]) -> float:
    """Give the middle value; importing `statistics` would cost 4 ms."""
    middle = sorted(values)
    half = len(middle) // 2
    return middle[half] if len(middle) % 2 else (middle[half - 1] + middle[half]) / 2
