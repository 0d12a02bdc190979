"""Combine the runs over several sets of questions, and compare them with earlier ones; pure.

Every question has the same weight in the pooled row. Intervals are those of `metrics.paired`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memcli.bench.metrics import NAMES, Difference, paired
from memcli.bench.quality_text import TABLE_NAMES, columns, shortened, table
from memcli.bench.queries import OVERALL
from memcli.bench.rows import pairs
from memcli.bench.traces import SETS, Figures, Movement, QualityTrace, Row, SetsTrace
from memcli.bench.traces import read as read_trace
from memcli.errors import UsageError

# These metrics judge a change; the trace has all.
MOVED = ("Hit@5", "nDCG@10", "Recall@500tok", "Recall@1000tok", "Recall@2000tok")
HINT = "memcli bench quality A.jsonl B.jsonl --json > before.json"


def pooled(sets: Mapping[str, QualityTrace], against: SetsTrace | None, now: str) -> SetsTrace:
    """Combine runs by the names of their sets; `against` is an earlier trace.

    UsageError if no question of a set was asked in both.
    """
    rows = {name: trace.queries for name, trace in sets.items()}
    every = [row for group in rows.values() for row in group]
    means = {name: [row.scores[name] for row in every] for name in NAMES}
    zeros = [0.0] * len(every)
    together = Figures(len(every), {name: paired(zeros, each) for name, each in means.items()})
    trace = SetsTrace(SETS, now, sets, together)
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


def read(text: str, name: str) -> SetsTrace:
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


def text(trace: SetsTrace) -> str:
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
