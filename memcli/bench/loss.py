"""Name the stage at which the lines that answer a question fell behind; pure.

The stages are those of `search.pipeline`; everything is read from one answer, which is asked
for `limit` 100 passages, so that what fell out and what ranks too low are told apart.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from memcli.bench.metrics import Range
from memcli.search.hits import Hit
from memcli.search.pipeline import FOCUS_POOL, Answer
from memcli.types import cite, shown


class Loss(NamedTuple):
    """A stage and what happened there, for a person."""

    stage: str  # files | recall | fuse | focus | mmr | floor | rank
    why: str


def lost_at(
    answer: Answer,
    relevant: Sequence[Range],
    *,
    limit: int,
    line_count: Callable[[tuple[str, str]], int],
) -> Loss | None:
    """Give where the judged lines were lost; None where the first `limit` passages hold them.

    `line_count` gives the lines of a document (source, path), 0 for one that there is not.
    """
    for rank, hit in enumerate(answer.hits, start=1):
        if _touches_any(hit, relevant):
            return None if rank <= limit else _too_low(answer, hit, rank)
    if all(wanted.start > line_count(wanted.document) for wanted in relevant):
        return Loss("files", _gone(relevant[0], line_count(relevant[0].document)))
    found = [
        (rank, hit) for rank, hit in enumerate(answer.fused, start=1) if _touches_any(hit, relevant)
    ]
    if not found:
        return Loss("recall", _not_recalled(answer))
    rank, hit = found[0]
    if rank > FOCUS_POOL:
        return Loss("fuse", f"{rank} of {len(answer.fused)}, past the first {FOCUS_POOL} chunks")
    return _within_the_pool(answer, hit, relevant)


def _gone(wanted: Range, lines: int) -> str:
    name = shown(*wanted.document)
    if not lines:
        return f"{name} is not in the memory"
    return f"{name} has {lines} lines, and line {wanted.start} was judged"


def _not_recalled(answer: Answer) -> str:
    legs = [("keywords", answer.lexical.ran), ("vectors", answer.dense.ran)]
    ran = " and ".join(name for name, has_run in legs if has_run)
    unmatched = f"; in no chunk: {', '.join(answer.unmatched)}" if answer.unmatched else ""
    return f"no candidate of {ran or 'any leg'} among {answer.candidates}{unmatched}"


def _too_low(answer: Answer, hit: Hit, rank: int) -> Loss:
    """Tell which stage put a passage behind the first ones."""
    order = {other.candidate.about.chunk_id: at for at, other in enumerate(answer.fused, start=1)}
    fused = order.get(hit.about.chunk_id, 0)
    scores = ", ".join(f"{step.stage} {step.score:.3f}" for step in hit.trace)
    stage = "focus" if 0 < fused <= rank // 2 else "rank"
    return Loss(stage, f"chunk {fused} when fused ({scores})")


def _within_the_pool(answer: Answer, hit: Hit, relevant: Sequence[Range]) -> Loss:
    """Tell why a chunk that was looked at gave no passage that holds the lines."""
    for other in answer.hits:
        if any(_cites(citation, relevant) for citation in other.duplicates):
            return Loss("mmr", f"folded into {other.citation}, which says the same")
    same = [s for s in answer.hits if s.candidate.about.chunk_id == hit.about.chunk_id]
    if same:
        return Loss("focus", f"other lines of its chunk were chosen: {same[0].citation}")
    return Loss("floor", "below min_score, or past the passages that are compared")


def _touches_any(hit: Hit, relevant: Sequence[Range]) -> bool:
    return any(
        hit.about.document == wanted.document
        and hit.start_line <= wanted.end
        and wanted.start <= hit.end_line
        for wanted in relevant
    )


def _cites(citation: str, relevant: Sequence[Range]) -> bool:
    start, end = map(int, citation.rpartition(":")[2].split("-"))
    return any(
        citation == cite(*wanted.document, start, end)
        and start <= wanted.end
        and wanted.start <= end
        for wanted in relevant
    )
