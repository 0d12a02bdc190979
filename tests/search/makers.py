"""Small makers of candidates and hits with numbers chosen by hand."""

from __future__ import annotations

from collections.abc import Iterable

from memcli.search.fusion import Weights, fuse
from memcli.search.ranked import RankedPassage
from memcli.types import Candidate, SegmentScore
from tests.records import make_candidate

HALVES = Weights(0.5, 0.5)


def candidate(
    chunk_id: int,
    *,
    bm25: float = 0.0,
    cosines: tuple[float | None, ...] = (None,),
    lines: tuple[str, ...] = ("words",),
    date: str | None = None,
    ranks: tuple[int | None, int | None] = (None, None),
    literal: bool = False,
    scope: str = "global",
    authority: float | None = None,
    heading_path: tuple[str, ...] = (),
) -> Candidate:
    """Make a chunk whose parts are its lines, one cosine each."""
    parts, at = [], 0
    for number, (line, cosine) in enumerate(zip(lines, cosines, strict=True), start=1):
        parts.append(SegmentScore(number, number, at, at + len(line), cosine))
        at += len(line) + 1
    return make_candidate(
        chunk_id=chunk_id,
        path=f"{chunk_id}.md",
        heading_path=heading_path,
        end_line=len(lines),
        text="\n".join(lines),
        date=date,
        document_date=date,
        scope=scope,
        authority=authority,
        bm25=bm25,
        keyword_rank=ranks[0],
        semantic_rank=ranks[1],
        literal=literal,
        segments=tuple(parts),
    )


def fused(
    *candidates: Candidate, method: str = "scaled", weights: Weights = HALVES
) -> list[RankedPassage]:
    coverage = {c.about.chunk_id: 1.0 for c in candidates}
    return fuse(candidates, coverage, method=method, weights=weights, text_share=1.0)


def ids(passages: Iterable[RankedPassage]) -> list[int]:
    return [passage.about.chunk_id for passage in passages]


def scores(passages: list[RankedPassage]) -> dict[int, float]:
    return {passage.about.chunk_id: passage.score for passage in passages}
