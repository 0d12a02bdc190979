"""Keep the passages that fit a budget, best first; pure."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from memcli.checking import TYPE_CHECKING
from memcli.language.tokens import estimate
from memcli.search.lines import cut_down

if TYPE_CHECKING:
    from memcli.search.ranked import RankedPassage

# Minimum share of a budget to which a passage is cut down, except for the first passage.
LEAST_REST = 0.1
# A passage with less confidence is far from the question. Recall in 2000 tokens on five LoCoMo
# conversations is .891 with and without this bound, and .889 with .03.
FAR = 0.02


def fit_budget(
    passages: Sequence[RankedPassage], *, budget: int | None, free: int | None = None
) -> tuple[list[RankedPassage], int, int]:
    """Return the passages that fit, how many do not fit, and how many are too far.

    Passages are taken from the first on. The first that does not fit is cut down to its best lines
    and is the last one. Only the very first may be cut within a line. After `free` passages, those
    far from the question are left out.
    """
    if budget is None:
        return list(passages), 0, 0
    left = budget
    fitting: list[RankedPassage] = []
    far = 0
    for rank, passage in enumerate(passages):
        if free is not None and rank >= free and _is_far(passage):
            far += 1
        elif _fits(left, passage.shown):
            fitting.append(passage)
            left -= estimate(passage.shown)
        else:
            fitting += _shortened(passage, left, is_first=not fitting, least=LEAST_REST * budget)
            break
    return fitting, len(passages) - len(fitting) - far, far


def _shortened(
    passage: RankedPassage, left: int, *, is_first: bool, least: float
) -> list[RankedPassage]:
    """Cut a passage down to the rest of a budget; its trace names the whole passage."""
    if left <= least and not is_first:
        return []
    shorter = cut_down(passage, partial(_fits, left))
    if shorter is None or (shorter.is_cut and not passage.is_cut and not is_first):
        return []
    return [shorter.moved(passage.score, "budget", of=passage.citation)]


def shortened(passages: Sequence[RankedPassage]) -> str:
    """Return the citation of the passage that a budget cut down, or ""."""
    steps = (step for passage in passages for step in passage.trace if step.stage == "budget")
    return next((str(dict(step.inputs)["of"]) for step in steps), "")


def _is_far(passage: RankedPassage) -> bool:
    """Return whether a passage hardly matches; False if the model is not calibrated."""
    return passage.confidence is not None and passage.confidence < FAR and not passage.is_literal


def _fits(tokens: float, text: str) -> bool:
    return estimate(text) <= tokens
