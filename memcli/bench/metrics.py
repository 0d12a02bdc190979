"""Score ranked passages against judged line ranges; pure.

A passage is relevant if it shares a line with a judged range of the same path. Hit@k and
MRR@10 look at the first relevant passage; Recall@k is the share of the ranges touched by the
first k; nDCG@10 counts each range once, at the rank that first touches it, over the best sum
there could be (Jarvelin and Kekalainen, TOIS 2002). Recall at T tokens is the share of the
ranges with a line among those that fit in T tokens, read in order of rank.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import log2
from typing import NamedTuple

BUDGETS = (500, 1000, 2000)
NAMES = (
    "Hit@1", "Hit@5", "Hit@10", "Recall@5", "Recall@10", "MRR@10", "nDCG@10",
    *(f"Recall@{budget}tok" for budget in BUDGETS),
)  # fmt: skip


class Range(NamedTuple):
    """Lines of a file, from 1, both ends included."""

    path: str
    start: int
    end: int


LineCosts = Callable[[str], Sequence[float]]


def score(
    relevant: Sequence[Range], results: Sequence[Range], line_costs: LineCosts
) -> dict[str, float]:
    """Score one query; `line_costs` gives the tokens of each line of a file."""
    first = [
        next((rank for rank, r in enumerate(results, 1) if _touches(r, wanted)), None)
        for wanted in relevant
    ]
    ranks = [rank for rank in first if rank is not None]
    best = min(ranks, default=None)
    scores = {f"Hit@{k}": float(best is not None and best <= k) for k in (1, 5, 10)}
    for k in (5, 10):
        scores[f"Recall@{k}"] = sum(rank <= k for rank in ranks) / len(relevant)
    scores["MRR@10"] = 1.0 / best if best is not None and best <= 10 else 0.0
    gained = sum(1.0 / log2(rank + 1) for rank in ranks if rank <= 10)
    ideal = sum(1.0 / log2(rank + 1) for rank in range(1, min(len(relevant), 10) + 1))
    scores["nDCG@10"] = min(1.0, gained / ideal)
    for budget in BUDGETS:
        scores[f"Recall@{budget}tok"] = _budget_recall(relevant, results, line_costs, budget)
    return scores


def mean(rows: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Average each metric over queries."""
    return {name: sum(row[name] for row in rows) / len(rows) for name in NAMES} if rows else {}


def _touches(a: Range, b: Range) -> bool:
    return a.path == b.path and a.start <= b.end and b.start <= a.end


def _budget_recall(
    relevant: Sequence[Range], results: Sequence[Range], line_costs: LineCosts, budget: int
) -> float:
    seen: set[tuple[str, int]] = set()
    left = float(budget)
    for result in results:
        costs = line_costs(result.path)
        for line in range(result.start, min(result.end, len(costs)) + 1):
            left -= costs[line - 1]
            if left < 0:
                return _share(relevant, seen)
            seen.add((result.path, line))
    return _share(relevant, seen)


def _share(relevant: Sequence[Range], seen: set[tuple[str, int]]) -> float:
    found = sum(
        any((wanted.path, line) in seen for line in range(wanted.start, wanted.end + 1))
        if wanted.end - wanted.start < len(seen)
        else any(p == wanted.path and wanted.start <= n <= wanted.end for p, n in seen)
        for wanted in relevant
    )
    return found / len(relevant)
