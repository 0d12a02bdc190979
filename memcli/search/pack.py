"""Keep what fits a budget, in the order of its rank; pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from memcli.markdown.tokens import estimate
from memcli.search.hits import Hit


def pack(hits: Sequence[Hit], *, budget: int | None) -> tuple[list[Hit], int]:
    """Give the longest prefix that fits and how many were dropped; None is no budget."""
    if budget is None:
        return list(hits), 0
    kept = fitting((estimate(hit.text) for hit in hits), budget)
    return [hits[at] for at in kept], len(hits) - len(kept)


def _take(at: int) -> None:
    """Do nothing more about what is taken."""


def fitting(
    costs: Iterable[float],
    budget: float,
    *,
    skip: bool = False,
    take: Callable[[int], None] = _take,
) -> list[int]:
    """Choose, in order, costs that fit a budget together: give their places.

    The first that does not fit ends it, or with `skip` gives way to smaller ones behind it. `take`
    hears of each place that is chosen before the next cost is read, which may depend on it.
    Example: [4, 5, 3, 1], 8 -> [0], with `skip` [0, 2, 3]
    """
    left, kept = budget, []
    for at, cost in enumerate(costs):
        if cost <= left:
            left -= cost
            kept.append(at)
            take(at)
        elif not skip:
            break
    return kept
