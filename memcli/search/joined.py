"""Join answers to one question from indexes whose vectors different models made; pure.

Scores of two models cannot be compared; confidences can, since each model's are calibrated. So
the passage that comes next is that of the answer whose next passage is the surest, and each answer
keeps its own order. One whose model was never calibrated takes part by the confidence that the
others have at the same rank.
"""

from __future__ import annotations

from collections.abc import Sequence

from memcli.checking import TYPE_CHECKING
from memcli.search.pack import pack

if TYPE_CHECKING:
    from memcli.search.hits import Hit
    from memcli.search.legs import Leg
    from memcli.search.options import SearchOptions
    from memcli.search.pipeline import Answer


def joined(answers: Sequence[Answer], *, options: SearchOptions) -> Answer:
    """Give one answer of as many passages as are wanted; the first answer wins ties.

    The verdict is that of the answer which the first passage comes from.
    """
    queues = [list(answer.hits) for answer in answers]
    hits: list[Hit] = []
    best = answers[0]
    while len(hits) < options.limit and any(queues):
        taken = max(
            (turn for turn, queue in enumerate(queues) if queue),
            key=lambda turn: (_sureness(queues, turn), -turn),
        )
        if not hits:
            best = answers[taken]
        hits.append(queues[taken].pop(0))
    packed, dropped, far = pack(hits, budget=options.budget, free=options.free)
    return best._replace(
        hits=tuple(packed),
        lexical=_both([answer.lexical for answer in answers]),
        dense=_both([answer.dense for answer in answers]),
        candidates=sum(answer.candidates for answer in answers),
        dropped=dropped + sum(answer.dropped for answer in answers),
        far=far + sum(answer.far for answer in answers),
        absent=_in_all([answer.absent for answer in answers]),
        apart=_in_all([answer.apart for answer in answers]),
        unmatched=_in_all([answer.unmatched for answer in answers]),
        repaired=next((answer.repaired for answer in answers if answer.repaired), ()),
    )


def _sureness(queues: Sequence[Sequence[Hit]], turn: int) -> float:
    """Give the confidence of the next passage of an answer, or that of the others' next ones."""
    own = queues[turn][0].confidence
    if own is not None:
        return own
    others = [queue[0].confidence for queue in queues if queue]
    return max((each for each in others if each is not None), default=0.0)


def _both(legs: Sequence[Leg]) -> Leg:
    """Say of a leg of all that it ran where it ran in any."""
    ran = [leg for leg in legs if leg.ran]
    first = ran[0] if ran else legs[0]
    return first._replace(
        embedded=sum(leg.embedded for leg in legs), total=sum(leg.total for leg in legs)
    )


def _in_all(found: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Keep what is true of every answer."""
    return tuple(each for each in found[0] if all(each in other for other in found[1:]))
