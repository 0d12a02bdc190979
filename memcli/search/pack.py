"""Keep the longest ranked prefix that fits a budget; pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memcli.markdown.tokens import estimate
from memcli.search.hits import Hit


def pack(hits: Sequence[Hit], *, budget: int | None) -> tuple[list[Hit], int]:
    """Give the hits that fit and how many were dropped; None is no budget."""
    if budget is None:
        return list(hits), 0
    kept = fitting((estimate(hit.text) for hit in hits), budget)
    return list(hits[:kept]), len(hits) - kept


def fitting(costs: Iterable[float], budget: float) -> int:
    """Count how many of the costs, from the first on, fit together. Example: [4, 5, 1], 9 -> 2."""
    spent, kept = 0.0, 0
    for cost in costs:
        spent += cost
        if spent > budget:
            break
        kept += 1
    return kept
