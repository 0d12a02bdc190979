"""The contents of a report of several runs, in any format; pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memcli.bench.history import changes
from memcli.bench.queries import OVERALL
from memcli.bench.rows import HEADLINE, worst
from memcli.bench.traces import GoalResult, HintRate, IndexState, Row, Run
from memcli.record import Record

TREND = (HEADLINE, "Hit@5", "Recall@10", "Recall@1000tok")
WORST = 15


class Series(Record):
    """One line of a trend; None where a run has no such figure."""

    name: str
    values: tuple[float | None, ...]


class Event(Record):
    """A run that differs from the one before it, or in which something got worse."""

    when: str
    changed: tuple[str, ...]
    regressions: tuple[str, ...]


class ReportContents(Record):
    """The contents of a report, oldest run first."""

    when: tuple[str, ...]  # ISO times
    machine: str
    quality: tuple[Series, ...]
    latency: Series  # p95 in milliseconds, only from runs on the machine of the last run
    ratios: tuple[Series, ...]
    categories: Mapping[str, Mapping[str, float]]
    hints: HintRate
    goals: tuple[GoalResult, ...]
    worst: tuple[Row, ...]
    ablation: Sequence[Mapping[str, object]]
    events: tuple[Event, ...]
    index_: IndexState  # of the last run


def report(history: Sequence[Run]) -> ReportContents:
    """Gather the contents of a report from at least one trace."""
    runs = [trace.quality for trace in history]
    last = runs[-1]
    machine = last.machine
    goals = [trace.speed.goals if trace.speed else () for trace in history]
    ratios = [trace.speed.ratios if trace.speed else {} for trace in history]
    names = sorted({name for each in ratios for name in each})
    times = (run.latency_ms.p95 if run.machine.id == machine.id else None for run in runs)
    return ReportContents(
        when=tuple(trace.now for trace in history),
        machine=f"{machine.cpu}, {machine.cores} cores",
        quality=tuple(
            Series(name, tuple(run.categories[OVERALL].get(name) for run in runs)) for name in TREND
        ),
        latency=Series("p95 ms", tuple(times)),
        ratios=tuple(Series(name, tuple(each.get(name) for each in ratios)) for name in names),
        categories=last.categories,
        hints=last.hints,
        goals=goals[-1],
        worst=tuple(worst(last.queries, WORST)),
        ablation=last.ablation or (),
        events=tuple(_events(history)),
        index_=last.index_,
    )


def _events(history: Sequence[Run]) -> list[Event]:
    events = []
    for at, trace in enumerate(history):
        changed = changes(history[at - 1], trace) if at else []
        if changed or trace.regressions:
            events.append(Event(trace.now, tuple(changed), trace.regressions))
    return events
