"""Find out how much of an answer is worth reading; pure.

Without a budget an answer ends where reading on costs more than it is likely to give. A unit is a
turn of a conversation, or else a whole passage, and

    chance = logistic(-4 + 3.5 score / best score + confidence - .9 ln(rank) - .8 if it asks
                      - 2 if the question names others than who says it)
    gain   = chance - CHANCE_PER_TOKEN * tokens

A passage is narrowed to the run of its units with the largest gain. The first passage without a
gain ends the answer. CHANCE_PER_TOKEN is the price of another try: a search that fails costs about
1,150 tokens more. The weights are those of a logistic regression on LoCoMo, REALTALK, BEAM, QMSum,
MADial and chunking-eval, each group of sets left out once, rounded; the rounded ones do as well on
each group as those that were fitted without it.
"""

from __future__ import annotations

from math import exp, log

from memcli.checking import TYPE_CHECKING
from memcli.language.tokens import price
from memcli.record import Record
from memcli.search.lines import Run, by_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memcli.search.hits import Hit
    from memcli.search.pipeline import Answer
    from memcli.types import Turn

CHANCE_PER_TOKEN = 1 / 1150
HEADING_TOKENS = 15  # of the line above a passage
MOST_WITHOUT_MATCH = 3  # passages of an answer that matches nothing well
UNKNOWN = 0.3  # the confidence of a passage whose model was never measured


def best_run(gains: Sequence[float]) -> tuple[Run, float]:
    """Find the run with the largest sum, and that sum. Example: [-1, 3, -1, 2, -5] -> (1-3, 4)."""
    best, most = Run(0, 0), gains[0]
    first, total = 0, 0.0
    for last, gain in enumerate(gains):
        if total <= 0.0:
            first, total = last, 0.0
        total += gain
        if total > most:
            best, most = Run(first, last), total
    return best, most


def worthwhile(answer: Answer) -> Answer:
    """End an answer where reading on is not worth it, and count the passages left out.

    An answer that matches nothing well has three passages. If it is known what a lead in scores is
    worth, passages are narrowed too, and those after the last one worth its tokens are left out.
    """
    hits = answer.hits if answer.verdict != "none" else answer.hits[:MOST_WITHOUT_MATCH]
    kept = _worth_reading(hits) if answer.is_measured else hits
    return answer._replace(hits=tuple(kept), weaker=len(answer.hits) - len(kept))


def _worth_reading(hits: Sequence[Hit]) -> Sequence[Hit]:
    best = max((hit.score for hit in hits), default=0.0)
    kept: list[Hit] = []
    for rank, hit in enumerate(hits, start=1):
        units = _units(hit)
        gains = [
            _chance(hit, rank, best, unit) - CHANCE_PER_TOKEN * price(unit.text) for unit in units
        ]
        run, gain = best_run(gains)
        is_same = bool(kept) and kept[-1].about.document == hit.about.document
        if gain > CHANCE_PER_TOKEN * HEADING_TOKENS * (not is_same):
            kept.append(hit if len(units) == len(range(*run)) + 1 else _run_of(hit, units, run))
        elif kept:
            break
        else:
            kept.append(hit)
    return kept


class ReadingUnit(Record):
    """Lines that are read or left out together: some parts of a chunk."""

    text: str
    first: int
    last: int
    turn: Turn | None


def _units(hit: Hit) -> list[ReadingUnit]:
    """Cut a passage of a conversation into turns; any other is one unit."""
    if not hit.turns or hit.is_cut:
        return [ReadingUnit(hit.text, hit.first, hit.last, None)]
    units: list[ReadingUnit] = []
    candidate = by_line(hit.candidate)
    parts = hit.candidate.parts
    begin, end = parts[hit.first].start, parts[hit.last].end
    for at, part in enumerate(candidate.parts):
        if not begin <= part.start < end:
            continue
        turn = next((t for t in hit.turns if t.start_line <= part.start_line <= t.end_line), None)
        start, before = part.start, units[-1] if units else None
        if before is not None and before.turn == turn:
            start = candidate.parts[before.first].start
            units[-1] = ReadingUnit(candidate.text[start : part.end], before.first, at, turn)
        else:
            units.append(ReadingUnit(candidate.text[start : part.end], at, at, turn))
    return units


def _chance(hit: Hit, rank: int, best: float, unit: ReadingUnit) -> float:
    """Estimate how likely a unit holds evidence that is not shown yet."""
    ratio = hit.score / best if best > 0.0 else 1.0
    confidence = UNKNOWN if hit.confidence is None else hit.confidence
    z = -4.0 + 3.5 * ratio + confidence - 0.9 * log(rank)
    if unit.turn is not None:
        z -= 0.8 * unit.text.rstrip().endswith(("?", "？"))
        z -= 2.0 * (bool(hit.asked) and unit.turn.speaker not in hit.asked)
    return 1.0 / (1.0 + exp(-z))


def _run_of(hit: Hit, units: Sequence[ReadingUnit], run: Run) -> Hit:
    first, last = units[run.first].first, units[run.last].last
    candidate = by_line(hit.candidate)
    best = max(range(first, last + 1), key=lambda at: candidate.parts[at].cosine or 0.0)
    return hit._replace(candidate=candidate, first=first, last=last, best=best)
