"""Keep what fits a budget, in the order of its rank; pure."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from memcli.markdown.tokens import estimate
from memcli.search.lines import cut_down

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memcli.search.hits import Hit

# A budget is spent when no more than this share of it is left.
SPENT = 0.1


def pack(hits: Sequence[Hit], *, budget: int | None) -> tuple[list[Hit], int]:
    """Give what fits and how many passages were dropped; None is no budget.

    Where a passage does not fit, its best lines are kept if they do; what comes after it is tried
    until the budget is spent. Of the first passage a part of a line is better than nothing, and
    where not even that fits, nothing is kept.
    """
    if budget is None:
        return list(hits), 0
    left = budget
    kept: list[Hit] = []
    for hit in hits:
        if left <= SPENT * budget:
            break
        fitting = cut_down(hit, partial(_fits, left))
        if fitting is None and not kept:  # what fits instead would pass for the answer
            break
        if fitting is not None and not (kept and fitting.is_cut and not hit.is_cut):
            kept.append(fitting)
            left -= estimate(fitting.text)
    return kept, len(hits) - len(kept)


def _fits(tokens: float, text: str) -> bool:
    return estimate(text) <= tokens
