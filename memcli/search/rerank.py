"""Score the best passages again, together with the query; pure except for the reranker itself.

A reranker that compares tokens returns how similar each segment is to the query, m. The segments
are scored again:

    own = own of `focus` + LIFT * (m - mean m)

Passages may then grow from other segments. If the first passage is far ahead of the next, nothing
is scored again. A reranker that reads whole passages changes only their order, in whatever unit it
scores: the best passage gets the best previous score, the next one the next score. So later stages
find scores of the kind they expect.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import fsum, isfinite
from typing import Protocol

from memcli.errors import Reason, RetrieverError
from memcli.markdown.comments import visible
from memcli.record import Record
from memcli.search.ranked import RankedPassage

TOP = 20  # passages that are read once more
MOST_PARTS = 100  # that are read one by one; of so many passages, 50 is usual
LIFT = 0.8
# From this lead of the first passage on, the reranker is not asked. It comes from the fifths of the
# questions of three LoCoMo conversations by their lead; the upper ones gained nothing. On a fourth,
# 55 % of the questions are reread and the gain stays; on MADial and a chat of REALTALK 82 % are.
SURE_LEAD = 0.1

OTHER_FORMULA = Reason("profile", "the profile ranks by a formula of its own")
SURE = Reason("sure", "the first passage is far ahead of the next")
NO_VECTORS = Reason("rerank", "it adds to cosines, and vectors take no part")

Lifts = Mapping[int, Sequence[float]]  # by chunk id, of each of its segments


class Reranker(Protocol):
    """Reads texts together with a query."""

    @property
    def name(self) -> str:
        """Return its name in `search.rerank`."""

    @property
    def is_by_part(self) -> bool:
        """Return whether scores are similarities of single segments."""

    def scores(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """Return one score per text, greater is better; RetrieverError if that fails."""


class RerankResult(Record):
    """What a reranker did, or why it changed nothing."""

    by: str  # tokens | onnx | endpoint
    read: int  # texts
    reason: Reason | None = None

    @property
    def ran(self) -> bool:
        """Return whether its scores took part."""
        return self.reason is None


def rerank(
    passages: Sequence[RankedPassage],
    query: str,
    reranker: Reranker,
    focused: Callable[[Lifts], Sequence[RankedPassage]],
    *,
    has_vectors: bool,
) -> tuple[Sequence[RankedPassage], RerankResult]:
    """Rank the first TOP passages again; `focused` makes passages of segments with lifts.

    If the reranker fails, the passages stay as they are. `has_vectors` says whether cosines took
    part in their scores.
    """
    top = passages[:TOP]
    if reranker.is_by_part and not has_vectors:
        return passages, RerankResult(reranker.name, 0, NO_VECTORS)
    if reranker.is_by_part and len(top) > 1 and top[0].score - top[1].score >= SURE_LEAD:
        return passages, RerankResult(reranker.name, 0, SURE)
    if reranker.is_by_part:
        segments = _segments(top)
        texts = [_segment(passage, segment) for passage, segment in segments]
    else:
        texts = [visible(passage.text).strip() for passage in top]
    result = RerankResult(reranker.name, len(texts))
    if not texts:
        return passages, result
    try:
        scores = reranker.scores(query, texts)
    except RetrieverError as error:
        return passages, result._replace(read=0, reason=error.reason)
    if len(scores) != len(texts) or not all(map(isfinite, scores)):
        reason = Reason("rerank", "the reranker gives no score for some texts")
        return passages, result._replace(read=0, reason=reason)
    if reranker.is_by_part:
        lifts = _lifts(segments, scores)
        read = {
            (passage.about.chunk_id, segment): s
            for (passage, segment), s in zip(segments, scores, strict=True)
        }
        return [_traced(passage, reranker.name, lifts, read) for passage in focused(lifts)], result
    return [*_reordered(top, scores, reranker.name), *passages[TOP:]], result


def _segments(top: Sequence[RankedPassage]) -> list[tuple[RankedPassage, int]]:
    """List the segments of passages, those of the best first."""
    segments = [
        (passage, segment)
        for passage in top
        if passage.candidate.segments
        for segment in range(passage.first, passage.last + 1)
    ]
    return segments[:MOST_PARTS]


def _segment(passage: RankedPassage, number: int) -> str:
    segment = passage.candidate.segments[number]
    return visible(passage.candidate.text[segment.start : segment.end]).strip()


def _lifts(segments: Sequence[tuple[RankedPassage, int]], likenesses: Sequence[float]) -> Lifts:
    """Return how much more similar to the query each segment is than the others that were read."""
    mean = fsum(likenesses) / len(likenesses)
    lifts: dict[int, list[float]] = {}
    for (passage, segment), likeness in zip(segments, likenesses, strict=True):
        of_chunk = lifts.setdefault(passage.about.chunk_id, [0.0] * len(passage.candidate.segments))
        of_chunk[segment] = LIFT * (likeness - mean)
    return lifts


def _traced(
    passage: RankedPassage, by: str, lifts: Lifts, read: Mapping[tuple[int, int], float]
) -> RankedPassage:
    """Add the lift of the best segment to the trace of a passage, if it was read."""
    chunk, segment = passage.about.chunk_id, passage.best
    if (chunk, segment) not in read:
        return passage
    return passage.moved(
        passage.score, "rerank", by=by, read=read[chunk, segment], lift=lifts[chunk][segment]
    )


def _reordered(
    top: Sequence[RankedPassage], scores: Sequence[float], by: str
) -> list[RankedPassage]:
    """Sort passages by score; ties keep their order."""
    order = sorted(range(len(top)), key=lambda at: (-scores[at], at))
    places = sorted((passage.score for passage in top), reverse=True)
    return [
        top[at].moved(place, "rerank", by=by, read=scores[at])
        for at, place in zip(order, places, strict=True)
    ]
