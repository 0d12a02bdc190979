"""Compare two traces, and combine the runs over several sets of questions; pure.

In the row of all sets every question has the same weight.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memcli.bench import traces
from memcli.bench.metrics import NAMES, Difference, average, paired
from memcli.bench.quality_text import TABLE_NAMES, shortened, table
from memcli.bench.quality_text import changes as moved_text
from memcli.bench.queries import OVERALL
from memcli.bench.runs import changes, moves, pairs
from memcli.bench.traces import Figures, Movement, QualityTrace, Row, Run, SetsTrace, SpeedTrace
from memcli.bench.traces import read as read_trace
from memcli.errors import UsageError
from memcli.render.width import columns

BenchRun = Run | SpeedTrace


def compare(before: BenchRun, after: BenchRun) -> dict[str, Any]:
    """Describe the difference as `memcli.bench-compare/1` does.

    Means are over the questions that both runs judged; a trace of speed has none. There are times
    only if both runs were on one machine.
    """
    old, new = _rows(before), _rows(after)
    common = pairs(old, new)
    old_ids, new_ids = ({row.id for row in rows} for rows in (old, new))
    same_machine = before.machine.id == after.machine.id
    return {
        "schema": "memcli.bench-compare/1",
        "before": before.now,
        "after": after.now,
        "queries": len(common),
        "only_before": sorted(old_ids - new_ids),
        "only_after": sorted(new_ids - old_ids),
        "metrics": {
            name: {
                "before": average([row.scores[name] for row, _ in common]),
                "after": average([row.scores[name] for _, row in common]),
            }
            for name in (NAMES if common else ())
        },
        "changes": _changes(before, after),
        "same_machine": same_machine,
        "milliseconds": {"before": _times(before), "after": _times(after)}
        if same_machine
        else None,
        "ratios": {"before": _ratios(before), "after": _ratios(after)},
        "moved": traces.encode(moves(old, new)),
    }


def text(before: BenchRun, after: BenchRun) -> str:
    """Draw the difference for a person."""
    record = compare(before, after)
    lines = [f"before {record['before']}, after {record['after']}"]
    lines.append("changed: " + ("; ".join(record["changes"]) or "only the figures"))
    lines.append(f"\n{'':24}{'before':>8}{'after':>8}")
    for name, pair in record["metrics"].items():
        lines.append(_line(name, pair["before"], pair["after"], 3))
    for title, both, digits in (("ms", record["milliseconds"], 1), ("x", record["ratios"], 2)):
        if both is None:
            lines.append("Times are not compared: the results are of two machines.")
            continue
        for name in both["before"]:
            if name in both["after"]:
                values = both["before"][name], both["after"][name]
                lines.append(_line(f"{title} {name.replace('_', ' ')}", *values, digits))
    shown = "\n".join(lines) + "\n"
    if not record["queries"]:
        return shown
    return shown + moved_text(moves(_rows(before), _rows(after)), record["queries"])


def _line(name: str, before: float, after: float, digits: int) -> str:
    return f"{name:24}{before:8.{digits}f}{after:8.{digits}f}{after - before:+9.{digits}f}"


def _rows(trace: BenchRun) -> tuple[Row, ...]:
    return trace.quality.queries if trace.quality else ()


def _ratios(trace: BenchRun) -> dict[str, float]:
    return dict(trace.speed.ratios) if trace.speed else {}


def _changes(before: BenchRun, after: BenchRun) -> list[str]:
    if not isinstance(before, SpeedTrace) and not isinstance(after, SpeedTrace):
        return changes(before, after)
    old, new = before.machine._asdict(), after.machine._asdict()
    return [f"{name} {old[name]} -> {new[name]}" for name in sorted(old) if old[name] != new[name]]


def _times(trace: BenchRun) -> dict[str, float]:
    times: dict[str, float] = {}
    if trace.speed:
        times |= {f"cold_{name}": row.cpu_ms for name, row in trace.speed.cold.items()}
        times |= {f"sync_{name}": row.cpu_ms for name, row in trace.speed.sync.items()}
    if trace.quality:
        times["search_p95"] = trace.quality.latency_ms.p95
    return times


# These metrics judge a change; the trace has all.
MOVED = ("Hit@5", "nDCG@10", "Recall@500tok", "Recall@1000tok", "Recall@2000tok")
HINT = "memcli bench quality A.jsonl B.jsonl --json > before.json"


def pooled(sets: Mapping[str, QualityTrace], against: SetsTrace | None, now: str) -> SetsTrace:
    """Combine runs by the names of their sets; `against` is an earlier trace.

    UsageError if no question of a set was asked in both.
    """
    rows = {name: trace.queries for name, trace in sets.items()}
    every = [row for group in rows.values() for row in group]
    zeros = [0.0] * len(every)
    means = {name: paired(zeros, [row.scores[name] for row in every]) for name in NAMES}
    together = Figures(len(every), means)
    trace = SetsTrace(traces.SETS, now, sets, together)
    if against is None:
        return trace
    before = {name: each.queries for name, each in against.sets.items()}
    both = {name: pairs(before.get(name, ()), group) for name, group in rows.items()}
    if not any(both.values()):
        raise UsageError("no question was asked in both runs", hint=HINT)
    return trace._replace(
        against=Movement(
            against.now,
            {name: _differences(common) for name, common in both.items() if common},
            _differences([pair for common in both.values() for pair in common]),
        )
    )


def read_sets(text: str, name: str) -> SetsTrace:
    """Read the trace of several sets; UsageError if the text is anything else."""
    trace: SetsTrace | None = read_trace(text, SetsTrace)
    if trace is None or not trace.sets:
        raise UsageError(f"{name} is not a trace of several sets", hint=HINT)
    return trace


def _differences(common: Sequence[tuple[Row, Row]]) -> Figures:
    return Figures(
        len(common),
        {
            name: paired(
                [old.scores[name] for old, _ in common], [new.scores[name] for _, new in common]
            )
            for name in NAMES
        },
    )


def sets_text(trace: SetsTrace) -> str:
    """Write the figures of every set and of all questions, then what moved."""
    sets = {name: each.categories[OVERALL] for name, each in trace.sets.items()}
    together = trace.pooled.metrics
    means = {name: each.mean for name, each in together.items()}
    drawn = table({**sets, OVERALL: {"queries": trace.pooled.queries, **means}})
    width = max(columns(name) for name in (*sets, OVERALL))
    half = ((together[name].high - together[name].low) / 2 for name in TABLE_NAMES)
    drawn += f"{'+-':{width}}  {'':5}  " + "  ".join(f"{each:7.3f}" for each in half) + "\n"
    if trace.against is None:
        return drawn
    moved = {**trace.against.sets, OVERALL: trace.against.pooled}
    return drawn + _moved(moved, trace.against.now, width)


def _moved(rows: Mapping[str, Figures], since: str, width: int) -> str:
    lines = [f"\nMoved since {since}: mean and 95 % interval"]
    heads = "  ".join(f"{shortened(name):>19}" for name in MOVED)
    lines.append(f"{'':{width}}  {'n':>5}  {heads}")
    for name, row in rows.items():
        intervals = "  ".join(_interval(row.metrics[metric]) for metric in MOVED)
        lines.append(f"{name}{' ' * (width - columns(name))}  {row.queries:>5}  {intervals}")
    return "\n".join(lines) + "\n"


def _interval(difference: Difference) -> str:
    """Write a difference in 19 columns. Example: "+.008 [-.003,+.019]"."""
    mean, low, high = (f"{figure:+.3f}".replace("0.", ".") for figure in difference)
    return f"{mean} [{low},{high}]"
