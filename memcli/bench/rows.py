"""The questions of a run one by one, and what moved between two runs; pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from math import fsum
from typing import Any, NoReturn

from memcli.bench.metrics import NAMES, LineCosts, Range, score
from memcli.bench.quality import QuestionResult
from memcli.bench.queries import Query
from memcli.bench.traces import CheckTrace, QualityTrace, Row, Run, SpeedTrace, encode, read
from memcli.errors import UsageError
from memcli.record import Record
from memcli.types import MEMORY_SOURCE

HEADLINE = "nDCG@10"


class Move(Record):
    """A question whose scores differ between two runs."""

    before: Row
    after: Row
    delta: float  # of nDCG@10


def row_of(result: QuestionResult) -> Row | None:
    """Return the row of a question; None if no lines are judged."""
    if result.scores is None:
        return None
    query, loss = result.query, result.loss
    stage, why = loss or ("", "")
    rank = first_rank(query.relevant, result.results)
    return Row(
        query.id, query.text, query.category, query.importance, rank, result.scores, stage, why
    )


def first_rank(relevant: Sequence[Range], results: Sequence[Range]) -> int | None:
    """Return the rank of the first passage that touches a judged range."""
    touching = (
        rank
        for rank, r in enumerate(results, start=1)
        if any(r.touches(place) for place in relevant)
    )
    return next(touching, None)


def read_run(text: str, name: str) -> Run:
    """Read a trace of `bench quality` or `bench check`; UsageError if it is anything else."""
    trace: Run | None = read(text, QualityTrace, CheckTrace)
    return trace or _refuse(name)


def read_trace(text: str, name: str) -> Run | SpeedTrace:
    """Read a trace of `bench speed` too."""
    trace: Run | SpeedTrace | None = read(text, QualityTrace, CheckTrace, SpeedTrace)
    return trace or _refuse(name)


def _refuse(name: str) -> NoReturn:
    raise UsageError(
        f"{name} is not a results file of the bench",
        hint="memcli bench quality QUERIES.jsonl --json > results.json",
    )


def read_baseline(
    text: str, name: str, queries: Sequence[Query], line_costs: LineCosts
) -> list[Row]:
    """Read what to compare with: a trace, or the lines of a run, which are scored again."""
    try:
        lines = [json.loads(line) for line in text.split("\n") if line.strip()]
        passages = {str(line["id"]): [_result(item) for item in line["results"]] for line in lines}
    except (ValueError, KeyError, TypeError, RecursionError):
        return list(read_run(text, name).quality.queries)
    rows = []
    for query in queries:
        if query.id in passages and query.relevant:
            results = passages[query.id]
            scores = score(query.relevant, results, line_costs)
            rank = first_rank(query.relevant, results)
            row = Row(query.id, query.text, query.category, query.importance, rank, scores, "", "")
            rows.append(row)
    return rows


def pairs(before: Sequence[Row], after: Sequence[Row]) -> list[tuple[Row, Row]]:
    """Pair the questions that both runs judged, in the order of the later one."""
    known = {row.id: row for row in before}
    return [(known[row.id], row) for row in after if row.id in known]


def moves(before: Sequence[Row], after: Sequence[Row]) -> list[Move]:
    """Pair the questions that both runs judged and keep those that differ, worst first."""
    changed = [
        Move(old, new, new.scores[HEADLINE] - old.scores[HEADLINE])
        for old, new in pairs(before, after)
        if any(old.scores[name] != new.scores[name] for name in NAMES) or old.rank != new.rank
    ]
    return sorted(changed, key=lambda move: (move.delta, move.after.id))


def movement(before: Sequence[Row], after: Sequence[Row]) -> dict[str, object]:
    """Describe what moved against a baseline as `memcli.bench-quality/1` does."""
    return {
        "queries": len(pairs(before, after)),
        "drop": drop(before, after),
        "moved": encode(moves(before, after)),
    }


def drop(before: Sequence[Row], after: Sequence[Row], metric: str = HEADLINE) -> float:
    """Return how much the mean of a metric fell over the questions that both runs judged."""
    deltas = [old.scores[metric] - new.scores[metric] for old, new in pairs(before, after)]
    return fsum(deltas) / len(deltas) if deltas else 0.0


def worst(rows: Sequence[Row], count: int) -> list[Row]:
    """Return the questions with the worst scores, the important ones first."""
    lacking = [row for row in rows if row.scores[HEADLINE] < 1.0]
    return sorted(lacking, key=lambda r: (r.scores[HEADLINE], -r.importance, r.id))[:count]


def _result(item: Mapping[str, Any]) -> Range:
    start = int(item.get("start_line") or 1)
    end = int(item.get("end_line") or item.get("start_line") or 10**9)
    return Range(str(item["path"]), start, end, str(item.get("source", MEMORY_SOURCE)))
