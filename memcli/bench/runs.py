"""The questions of a run, what moved between runs, and the limits that a run misses; pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from memcli.bench.metrics import HEADLINE, NAMES, LineCosts, Range, average, first_rank, score
from memcli.bench.quality import QuestionResult
from memcli.bench.queries import HIGH, OVERALL, WHOLE_FILE, Query
from memcli.bench.traces import CheckTrace, QualityTrace, Row, Run, SpeedTrace, encode, read
from memcli.embedding.models import model_name
from memcli.errors import UsageError
from memcli.record import Record
from memcli.types import MEMORY_SOURCE


class Move(Record):
    """A question whose scores differ between two runs."""

    before: Row
    after: Row
    delta: float  # of nDCG@10


def row_of(result: QuestionResult) -> Row | None:
    """Return the row of a question; None if no lines are judged."""
    if result.scores is None:
        return None
    return _row(result.query, result.results, result.scores, result.loss or ("", ""))


def _row(
    query: Query, results: Sequence[Range], scores: Mapping[str, float], loss: tuple[str, str]
) -> Row:
    rank = first_rank(query.relevant, results)
    return Row(query.id, query.text, query.category, query.importance, rank, scores, *loss)


def read_run(text: str, name: str) -> Run:
    """Read a trace of `bench quality` or `bench check`; UsageError if it is anything else."""
    trace: Run | None = read(text, QualityTrace, CheckTrace)
    return trace or _refuse(name)


def read_trace(text: str, name: str) -> Run | SpeedTrace:
    """Read a trace of `bench speed` too."""
    trace: Run | SpeedTrace | None = read(text, QualityTrace, CheckTrace, SpeedTrace)
    return trace or _refuse(name)


def _refuse(name: str) -> NoReturn:
    raise UsageError(
        f"{name} is not a results file of the bench",
        hint="memcli bench quality QUERIES.jsonl --json > results.json",
    )


def read_baseline(
    text: str, name: str, queries: Sequence[Query], line_costs: LineCosts
) -> list[Row]:
    """Read what to compare with: a trace, or the lines of a run, which are scored again."""
    try:
        lines = [json.loads(line) for line in text.split("\n") if line.strip()]
        passages = {str(line["id"]): [_result(item) for item in line["results"]] for line in lines}
    except (ValueError, KeyError, TypeError, RecursionError):
        return list(read_run(text, name).quality.queries)
    rows = []
    for query in queries:
        if query.id in passages and query.relevant:
            results = passages[query.id]
            scores = score(query.relevant, results, line_costs)
            rows.append(_row(query, results, scores, ("", "")))
    return rows


def pairs(before: Sequence[Row], after: Sequence[Row]) -> list[tuple[Row, Row]]:
    """Pair the questions that both runs judged, in the order of the later one."""
    known = {row.id: row for row in before}
    return [(known[row.id], row) for row in after if row.id in known]


def moves(before: Sequence[Row], after: Sequence[Row]) -> list[Move]:
    """Pair the questions that both runs judged and keep those that differ, worst first."""
    changed = [
        Move(old, new, new.scores[HEADLINE] - old.scores[HEADLINE])
        for old, new in pairs(before, after)
        if any(old.scores[name] != new.scores[name] for name in NAMES) or old.rank != new.rank
    ]
    return sorted(changed, key=lambda move: (move.delta, move.after.id))


def movement(before: Sequence[Row], after: Sequence[Row]) -> dict[str, object]:
    """Describe what moved against a baseline as `memcli.bench-quality/1` does."""
    return {
        "queries": len(pairs(before, after)),
        "drop": drop(before, after),
        "moved": encode(moves(before, after)),
    }


def drop(before: Sequence[Row], after: Sequence[Row]) -> float:
    """Return how much the mean of nDCG@10 fell over the questions that both runs judged."""
    deltas = [old.scores[HEADLINE] - new.scores[HEADLINE] for old, new in pairs(before, after)]
    return average(deltas)


def worst(rows: Sequence[Row], count: int) -> list[Row]:
    """Return the questions with the worst scores, the important ones first."""
    imperfect = [row for row in rows if row.scores[HEADLINE] < 1.0]
    return sorted(imperfect, key=lambda r: (r.scores[HEADLINE], -r.importance, r.id))[:count]


def _result(item: Mapping[str, Any]) -> Range:
    start = int(item.get("start_line") or 1)
    end = int(item.get("end_line") or item.get("start_line") or WHOLE_FILE)
    return Range(str(item["path"]), start, end, str(item.get("source", MEMORY_SOURCE)))


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
        """Return whether no limit is set."""
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
            before = average([old.scores[HEADLINE] for old, _ in pairs(baseline, rows)])
            fall = f"{HEADLINE} fell from {before:.3f} to {before - fell:.3f}"
            changed = moves(baseline, rows)
            has_worse = bool(changed) and changed[0].delta < 0
            lines.append(fall + (f"; worst: {move_text(changed[0])}" if has_worse else ""))
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


def row_text(row: Row, before: str = "") -> str:
    """Name a question and its result in one line."""
    lost = ""
    if row.stage:
        is_gone = row.rank is None
        lost = f", lost at {row.stage}: {row.why}" if is_gone else f": {row.stage} {row.why}"
    return f'{row.id} "{row.query}" ({before}{_rank_text(row)}{lost})'


def move_text(move: Move) -> str:
    """Name a question that moved, in one line."""
    return row_text(move.after, f"{_rank_text(move.before)} -> ")


def _rank_text(row: Row) -> str:
    return "not found" if row.rank is None else f"rank {row.rank}"


KEPT = 90  # nights that are kept
FAILURES = 10  # worst questions that a trace lists


def reference(history: Sequence[CheckTrace]) -> CheckTrace | None:
    """Return the best run since the last one that a person accepted; ties go to the older.

    Compared with the last run, a small decline every night would pass; so this returns the best.
    """
    since = max((at for at, trace in enumerate(history) if trace.accepted), default=0)
    return max(
        history[since:], key=lambda trace: trace.quality.categories[OVERALL][HEADLINE], default=None
    )


def regressions(before: Run, after: Run, max_drop: float) -> list[str]:
    """Return one line for each figure that got worse; empty if none did."""
    old, new = before.quality.queries, after.quality.queries
    when = before.now[:10]
    lines = []
    fell = drop(old, new)
    if fell > max_drop:
        causes = ", ".join(changes(before, after))
        lines.append(
            f"{HEADLINE} is {fell:.3f} lower than on {when}{causes and f' ({causes})'};"
            f" worst: {move_text(moves(old, new)[0])}"
        )
    lines += [f"newly missed since {when}: {move_text(move)}" for move in newly_missed(old, new)]
    return lines


def unaccepted_misses(history: Sequence[CheckTrace], before: Run | None, after: Run) -> list[str]:
    """Return one line for each missed question of high importance whose miss nobody accepted.

    `regressions` reports questions that `before` answered and that now miss.
    """
    accepted = next((trace for trace in reversed(history) if trace.accepted), None)
    answered = before.quality.queries if before else ()
    known = {row.id for row in answered if row.scores["Hit@5"]}
    known |= {row.id for row in accepted.quality.queries} if accepted else set()
    return [
        f"of high importance and missed: {row_text(row)}"
        for row in after.quality.queries
        if row.importance >= HIGH and not row.scores["Hit@5"] and row.id not in known
    ]


def changes(before: Run, after: Run) -> list[str]:
    """Name what differs between two runs, apart from their figures."""
    old, new = before.quality, after.quality
    here, there = old.machine, new.machine
    differing = []
    if old.index_.revision != new.index_.revision:
        differing.append(f"index {old.index_.revision} -> {new.index_.revision}")
    if old.index_.fingerprint != new.index_.fingerprint:
        differing.append(f"model {_model(old)} -> {_model(new)}")
    for name in sorted({*old.settings, *new.settings}):
        was, now = old.settings.get(name), new.settings.get(name)
        if was != now:
            differing.append(f"{name} {was} -> {now}")
    if here.memcli != there.memcli:
        differing.append(f"memcli {here.memcli} -> {there.memcli}")
    if here.id != there.id:
        differing.append("another machine")
    if old.questions.judged != new.questions.judged:
        differing.append(f"questions {old.questions.judged} -> {new.questions.judged}")
    return differing


def _model(quality: QualityTrace) -> str:
    return model_name(quality.index_.fingerprint or "none")
