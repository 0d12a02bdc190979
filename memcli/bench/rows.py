"""The questions of a run one by one: what a receipt keeps of each, and what moved between two."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from math import fsum
from typing import Any

from memcli.bench.metrics import NAMES, LineCosts, Range, score
from memcli.bench.quality import AskedQuestion
from memcli.bench.queries import OVERALL, Query
from memcli.bench.shape import fits
from memcli.errors import UsageError
from memcli.record import Record
from memcli.types import MEMORY_SOURCE

HEADLINE = "nDCG@10"
LANE = "memcli.bench-lane/1"
RECEIPTS = ("memcli.bench-quality/1", LANE)


class Row(Record):
    """One judged question in one run."""

    id: str
    query: str
    category: str
    importance: float
    rank: int | None  # of the first passage that touches judged lines
    scores: Mapping[str, float]
    stage: str  # where the judged lines were lost; empty when they are among the first
    why: str


class Move(Record):
    """A question whose scores differ between two runs."""

    before: Row
    after: Row
    delta: float  # of nDCG@10


def row_of(asked: AskedQuestion) -> Row | None:
    """Give what is kept of a question; None where nothing is judged."""
    if asked.scores is None:
        return None
    query, loss = asked.query, asked.loss
    stage, why = loss or ("", "")
    rank = first_rank(query.relevant, asked.results)
    return Row(
        query.id, query.text, query.category, query.importance, rank, asked.scores, stage, why
    )


def first_rank(relevant: Sequence[Range], results: Sequence[Range]) -> int | None:
    """Give the rank of the first passage that touches a judged range."""
    touching = (
        rank
        for rank, r in enumerate(results, start=1)
        if any(r.touches(wanted) for wanted in relevant)
    )
    return next(touching, None)


def as_record(row: Row) -> dict[str, Any]:
    """Describe a row for a receipt."""
    return {**row._asdict(), "scores": dict(row.scores)}


def rows_of(record: Mapping[str, Any]) -> list[Row]:
    """Read the rows of a quality or a lane receipt back."""
    return [Row(**row) for row in quality_of(record)["queries"]]


def quality_of(record: Mapping[str, Any]) -> dict[str, Any]:
    """Give the quality part of a receipt."""
    return dict(record.get("quality", record))


def read_receipt(text: str, name: str, *, also: Sequence[str] = ()) -> dict[str, Any]:
    """Read a receipt of `bench quality --json` or `bench lane`, or of a schema in `also`."""
    try:
        record = json.loads(text)
        if fits(record) and record["schema"] in also:
            return dict(record)
        rows = rows_of(record) if fits(record) and record["schema"] in RECEIPTS else []
        means = quality_of(record).get("categories", {})
        told = [row.scores for row in rows] + [*means.values()]
        if rows and OVERALL in means and all(each.keys() >= set(NAMES) for each in told):
            return dict(record)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        pass
    raise UsageError(
        f"{name} is not a receipt of the bench",
        hint="memcli bench quality QUERIES.jsonl --json > receipt.json",
    )


def read_baseline(
    text: str, name: str, queries: Sequence[Query], line_costs: LineCosts
) -> list[Row]:
    """Read what to compare with: a receipt, or the lines of a run, scored anew."""
    try:
        lines = [json.loads(line) for line in text.split("\n") if line.strip()]
        found = {str(line["id"]): [_result(item) for item in line["results"]] for line in lines}
    except (ValueError, KeyError, TypeError, RecursionError):
        return rows_of(read_receipt(text, name))
    rows = []
    for query in queries:
        if query.id in found and query.relevant:
            results = found[query.id]
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


def drop(before: Sequence[Row], after: Sequence[Row], metric: str = HEADLINE) -> float:
    """Give how much the mean of a metric fell over the questions that both runs judged."""
    deltas = [old.scores[metric] - new.scores[metric] for old, new in pairs(before, after)]
    return fsum(deltas) / len(deltas) if deltas else 0.0


def worst(rows: Sequence[Row], count: int) -> list[Row]:
    """Give the questions that came out worst, the important ones first."""
    lacking = [row for row in rows if row.scores[HEADLINE] < 1.0]
    return sorted(lacking, key=lambda r: (r.scores[HEADLINE], -r.importance, r.id))[:count]


def _result(item: Mapping[str, Any]) -> Range:
    start = int(item.get("start_line") or 1)
    end = int(item.get("end_line") or item.get("start_line") or 10**9)
    return Range(str(item["path"]), start, end, str(item.get("source", MEMORY_SOURCE)))
