"""Keep what fits a budget, in the order of its rank; pure."""

from __future__ import annotations

from functools import partial

from memcli.checking import TYPE_CHECKING
from memcli.language.tokens import estimate
from memcli.search.lines import cut_down

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memcli.search.hits import Hit

# A budget is spent when no more than this share of it is left.
SPENT = 0.1
# A passage that is less sure is far from the question. Filling 2000 tokens from the tenth passage
# on, recall on five LoCoMo conversations is .891 with this as without it, and .889 with .03.
FAR = 0.02


def pack(
    hits: Sequence[Hit], *, budget: int | None, free: int | None = None
) -> tuple[list[Hit], int, int]:
    """Give what fits, and how many passages do not and are too far; None is no budget.

    Where a passage does not fit, its best lines are kept if they do; what comes after it is tried
    until the budget is spent. Of the first passage a part of a line is better than nothing, and
    where not even that fits, nothing is kept. Behind the first `free` passages those that are far
    from the question are left out; None leaves out none.
    """
    if budget is None:
        return list(hits), 0, 0
    left = budget
    kept: list[Hit] = []
    far = 0
    for rank, hit in enumerate(hits):
        if left <= SPENT * budget:
            break
        if free is not None and rank >= free and _is_far(hit):
            far += 1
            continue
        fitting = cut_down(hit, partial(_fits, left))
        if fitting is None and not kept:  # what fits instead would pass for the answer
            break
        if fitting is not None and not (kept and fitting.is_cut and not hit.is_cut):
            kept.append(fitting)
            left -= estimate(fitting.text)
    return kept, len(hits) - len(kept) - far, far


def _is_far(hit: Hit) -> bool:
    """Tell that a passage hardly answers, where that is known of its encoder."""
    return hit.confidence is not None and hit.confidence < FAR and not hit.is_literal


def _fits(tokens: float, text: str) -> bool:
    return estimate(text) <= tokens
