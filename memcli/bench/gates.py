"""The limits of a run, and one line for each limit that it misses; pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import fsum

from memcli.bench.metrics import NAMES
from memcli.bench.queries import HIGH
from memcli.bench.rows import HEADLINE, Move, drop, moves, worst
from memcli.bench.traces import Row
from memcli.errors import UsageError
from memcli.record import Record


class Gate(Record):
    """A metric and its lower limit."""

    metric: str
    least: float


class Gates(Record):
    """The limits of a run; None for no limit."""

    floors: tuple[Gate, ...]
    max_drop: float | None  # of nDCG@10, over the questions both runs judged
    max_p95_ms: float | None

    @property
    def is_empty(self) -> bool:
        """Return whether there is no limit."""
        return not self.floors and self.max_drop is None and self.max_p95_ms is None


def parse_gate(text: str) -> Gate:
    """Read `METRIC=LEAST`. Example: "ndcg@10=0.6" -> Gate("nDCG@10", 0.6)."""
    name, equals, value = text.partition("=")
    known = {metric.lower(): metric for metric in NAMES}
    metric = known.get(name.strip().lower())
    try:
        least = float(value)
    except ValueError:
        least = -1.0
    if metric is None or not equals or not 0.0 <= least <= 1.0:
        raise UsageError(
            f"--fail-under takes METRIC=NUMBER from 0 to 1, not {text!r}; "
            f"metrics: {', '.join(NAMES)}",
            hint="memcli bench quality QUERIES.jsonl --fail-under nDCG@10=0.6",
        )
    return Gate(metric, least)


def failures(
    gates: Gates,
    means: Mapping[str, float],
    rows: Sequence[Row],
    baseline: Sequence[Row] | None,
    p95_ms: float,
) -> list[str]:
    """Return one line for each limit that the run misses."""
    lines = []
    for gate in gates.floors:
        value = means.get(gate.metric, 0.0)
        if value < gate.least:
            names = worst(rows, 1)
            culprit = f"; worst: {row_text(names[0])}" if names else ""
            lines.append(f"{gate.metric} is {value:.3f}, below {gate.least:g}{culprit}")
    if gates.max_drop is not None and baseline is not None:
        fell = drop(baseline, rows)
        if fell > gates.max_drop:
            before = _mean(baseline, rows)
            fall = f"{HEADLINE} fell from {before:.3f} to {before - fell:.3f}"
            lines.append(fall + _culprit(baseline, rows))
    if gates.max_p95_ms is not None and p95_ms > gates.max_p95_ms:
        lines.append(f"a search takes {p95_ms:.0f} ms (p95), above {gates.max_p95_ms:g} ms")
    return lines


def newly_missed(baseline: Sequence[Row], rows: Sequence[Row]) -> list[Move]:
    """List the important questions whose answer was among the first 5 and no longer is."""
    return [
        move
        for move in moves(baseline, rows)
        if move.after.importance >= HIGH
        and move.before.scores["Hit@5"] > move.after.scores["Hit@5"]
    ]


def important_misses(rows: Sequence[Row], known: Collection[str]) -> list[Row]:
    """Return important questions without an answer in the first 5, except those in `known`."""
    return [
        row
        for row in rows
        if row.importance >= HIGH and not row.scores["Hit@5"] and row.id not in known
    ]


def row_text(row: Row) -> str:
    """Name a question and its result in one line."""
    at = "not found" if row.rank is None else f"rank {row.rank}"
    lost = f", lost at {row.stage}: {row.why}" if row.stage else ""
    return f'{row.id} "{row.query}" ({at}{lost})'


def move_text(move: Move) -> str:
    """Name a question that moved, in one line."""
    before = "not found" if move.before.rank is None else f"rank {move.before.rank}"
    after = "not found" if move.after.rank is None else f"rank {move.after.rank}"
    lost = f", lost at {move.after.stage}: {move.after.why}" if move.after.stage else ""
    return f'{move.after.id} "{move.after.query}" ({before} -> {after}{lost})'


def _culprit(baseline: Sequence[Row], rows: Sequence[Row]) -> str:
    changed = moves(baseline, rows)
    return f"; worst: {move_text(changed[0])}" if changed and changed[0].delta < 0 else ""


def _mean(baseline: Sequence[Row], rows: Sequence[Row]) -> float:
    ids = {row.id for row in rows}
    common = [row.scores[HEADLINE] for row in baseline if row.id in ids]
    return fsum(common) / len(common) if common else 0.0
