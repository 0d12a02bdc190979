"""Keep what fits a budget, in the order of its rank; pure."""

from __future__ import annotations

from functools import partial

from memcli.checking import TYPE_CHECKING
from memcli.language.tokens import estimate
from memcli.search.lines import cut_down

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memcli.search.hits import Hit

# A passage is not cut down to less than this share of a budget, unless it is the first.
LEAST_REST = 0.1
# A passage that is less sure is far from the question. Filling 2000 tokens from the tenth passage
# on, recall on five LoCoMo conversations is .891 with this as without it, and .889 with .03.
FAR = 0.02


def fit_budget(
    hits: Sequence[Hit], *, budget: int | None, free: int | None = None
) -> tuple[list[Hit], int, int]:
    """Give what fits, and how many passages do not and are too far; None is no budget.

    What fits is the longest run of passages from the first on. The first that does not fit is cut
    down to its best lines if they do, and ends the run. Only the first passage of all may be cut
    down to a part of a line. Behind the first `free` passages those that are far from the question
    are left out; None leaves out none.
    """
    if budget is None:
        return list(hits), 0, 0
    left = budget
    kept: list[Hit] = []
    far = 0
    for rank, hit in enumerate(hits):
        if free is not None and rank >= free and _is_far(hit):
            far += 1
        elif _fits(left, hit.text):
            kept.append(hit)
            left -= estimate(hit.text)
        else:
            kept += _shortened(hit, left, is_first=not kept, least=LEAST_REST * budget)
            break
    return kept, len(hits) - len(kept) - far, far


def _shortened(hit: Hit, left: int, *, is_first: bool, least: float) -> list[Hit]:
    """Cut a passage down to what is left of a budget; the trace names the whole."""
    if left <= least and not is_first:
        return []
    shorter = cut_down(hit, partial(_fits, left))
    if shorter is None or (shorter.is_cut and not hit.is_cut and not is_first):
        return []
    return [shorter.moved(hit.score, "pack", of=hit.citation)]


def shortened(hits: Sequence[Hit]) -> str:
    """Name the whole passage that a budget has cut down; "" if there is none."""
    steps = (step for hit in hits for step in hit.trace if step.stage == "pack")
    return next((str(dict(step.inputs)["of"]) for step in steps), "")


def _is_far(hit: Hit) -> bool:
    """Tell that a passage hardly answers, where that is known of its encoder."""
    return hit.confidence is not None and hit.confidence < FAR and not hit.is_literal


def _fits(tokens: float, text: str) -> bool:
    return estimate(text) <= tokens
