"""Combine the scores of keyword and semantic search; pure.

scaled    w_v * cosine + w_t * c * bm25 / (best bm25 of the query), c = sqrt(best coverage)
weighted  w_v * cosine / (best cosine) + w_t / (1 + rank), rank from 0
rrf       sum over retrievers of 1 / (60 + rank), rank from 1, over 2 / 61, its greatest value

Coverage is the share of the query's IDF that a chunk matches. If no chunk contains more than a few
words of a question, the best of them is not a match, and keywords count for less.

Cosines are clamped to [0, 1]. Every candidate has both raw scores. A chunk without vectors gets the
median cosine, or the best one if it is a literal match, so that no keyword match is lost because
the model cannot read the script of the chunk.
Sources: rrf is Cormack, Clarke and Buettcher, SIGIR 2009, with their k.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import fsum, log, sqrt

from memcli.language.tokens import K1, B, wide
from memcli.record import Record
from memcli.search.ranked import RankedPassage, Step, ordered
from memcli.types import Candidate, SegmentScore

RRF_K = 60
WORD_CHARS = 6  # per word, with its space
USUAL_CHARS = 200  # of a segment whose cosine is not changed


class Weights(Record):
    """The weights of the two retrievers; they sum to 1."""

    vector: float
    text: float


class LengthPrior(Record):
    """The change to the cosines of long and short segments."""

    weight: float = 0.0  # per natural logarithm of the length; see `KnownModel.length`
    chunks: Collection[int] = ()  # that it is for: documents, but no conversations

    def of(self, chunk_id: int, segment: SegmentScore) -> float:
        """Return what is added to the cosine of a segment of a chunk."""
        if not self.weight or chunk_id not in self.chunks:
            return 0.0
        return self.weight * log(max(1, segment.end - segment.start) / USUAL_CHARS)


NO_PRIOR = LengthPrior()


def best_cosine(candidate: Candidate, prior: LengthPrior = NO_PRIOR) -> float | None:
    """Return the cosine of the best segment, clamped to [0, 1]; None if nothing is embedded."""
    chunk = candidate.about.chunk_id
    known = [p.cosine + prior.of(chunk, p) for p in candidate.segments if p.cosine is not None]
    return min(1.0, max(0.0, *known)) if known else None


def text_share(coverage: Mapping[int, float]) -> float:
    """Return the weight of keywords for this query: the square root of the best coverage."""
    return sqrt(max(coverage.values(), default=0.0))


def fuse(
    candidates: Sequence[Candidate],
    coverage: Mapping[int, float],
    *,
    method: str,
    weights: Weights,
    text_share: float,
    prior: LengthPrior = NO_PRIOR,
) -> list[RankedPassage]:
    """Score candidates; a retriever with weight 0 does not count."""
    cosines = {c.about.chunk_id: best_cosine(c) for c in candidates}
    known = [cosine for cosine in cosines.values() if cosine is not None]
    stand_in = _median(known) if known else 0.0
    best_vector = max(known, default=0.0)
    texts = _by_words(candidates)
    best_text = max(texts.values(), default=0.0)
    text_ranks = _text_ranks(candidates) if method == "weighted" else {}
    passages = []
    for candidate in candidates:
        cosine = cosines[candidate.about.chunk_id]
        assumed = None
        if cosine is None and known:  # a literal match must not be lost before it is embedded
            assumed = best_vector if candidate.literal else stand_in
        used = (assumed or 0.0) if cosine is None else best_cosine(candidate, prior) or 0.0
        if method == "rrf":
            ranks = (
                (weights.text, candidate.keyword_rank),
                (weights.vector, candidate.semantic_rank),
            )
            total = fsum(1 / (RRF_K + rank) for weight, rank in ranks if rank and weight)
            score = total * (RRF_K + 1) / 2
        elif method == "weighted":
            vector = used / best_vector if best_vector > 0 else 0.0
            rank = text_ranks.get(candidate.about.chunk_id)
            text = 0.0 if rank is None else 1 / (1 + rank)
            score = weights.vector * vector + weights.text * text
        else:
            text = texts[candidate.about.chunk_id] / best_text if best_text > 0 else 0.0
            score = weights.vector * used + weights.text * text_share * text
        covered = coverage.get(candidate.about.chunk_id, 0.0)
        inputs = (
            ("method", method),
            ("bm25", candidate.bm25),
            ("keyword_rank", candidate.keyword_rank),
            ("cosine", cosine),
            ("semantic_rank", candidate.semantic_rank),
            ("coverage", covered),
        )
        passages.append(
            RankedPassage(
                candidate=candidate,
                first=0,
                last=max(0, len(candidate.segments) - 1),
                score=score,
                cosine=cosine,
                coverage=covered,
                trace=(Step("fuse", score, inputs),),
                is_literal=candidate.literal,
                assumed=assumed,
            )
        )
    return ordered(passages)


def _by_words(candidates: Sequence[Candidate]) -> dict[int, float]:
    """Return the BM25 of chunks as if a word of a script without spaces were one token.

    It is about two tokens, so a chunk in such a script counts as long, and each of its words counts
    for less than in other chunks. If all chunks are in one script, this changes nothing.
    """
    scores = {c.about.chunk_id: c.bm25 for c in candidates}
    matching = [c for c in candidates if c.bm25 > 0]
    pairs = [0 if c.text.isascii() else wide(c.text) for c in matching]
    if not any(pairs):
        return scores
    tokens = [n + (len(c.text) - n) / WORD_CHARS for n, c in zip(pairs, matching, strict=True)]
    words = [length - n / 2 for n, length in zip(pairs, tokens, strict=True)]
    as_tokens, as_words = len(matching) / fsum(tokens), len(matching) / fsum(words)
    for c, length, count in zip(matching, tokens, words, strict=True):
        norm = 1.0 + K1 * (1 - B + B * length * as_tokens)
        scores[c.about.chunk_id] *= norm / (1.0 + K1 * (1 - B + B * count * as_words))
    return scores


def _text_ranks(candidates: Sequence[Candidate]) -> dict[int, int]:
    """Rank the chunks that contain a word by BM25, from 0."""
    order = sorted(
        candidates, key=lambda c: (-c.bm25, c.about.source, c.about.path, c.about.start_line)
    )
    return {c.about.chunk_id: rank for rank, c in enumerate(order) if c.bm25 > 0}


def _median(values: Sequence[float]) -> float:
    """Return the median; importing `statistics` would cost 4 ms."""
    middle = sorted(values)
    half = len(middle) // 2
    return middle[half] if len(middle) % 2 else (middle[half - 1] + middle[half]) / 2
