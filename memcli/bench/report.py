"""A report of several runs: its contents, and its form in characters; pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memcli.bench.metrics import HEADLINE
from memcli.bench.queries import OVERALL
from memcli.bench.runs import changes, row_text, worst
from memcli.bench.traces import GoalResult, QualityTrace, Row, Run
from memcli.record import Record
from memcli.render.text import counted
from memcli.render.width import columns

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
    quality: tuple[Series, ...]
    latency: Series  # p95 in milliseconds, only from runs on the machine of the last run
    ratios: tuple[Series, ...]
    last: QualityTrace
    goals: tuple[GoalResult, ...]  # of the last run
    worst: tuple[Row, ...]  # of the last run
    events: tuple[Event, ...]


def report(history: Sequence[Run]) -> ReportContents:
    """Gather the contents of a report from at least one trace."""
    runs = [trace.quality for trace in history]
    last, speed = runs[-1], history[-1].speed
    ratios = [trace.speed.ratios if trace.speed else {} for trace in history]
    names = sorted({name for each in ratios for name in each})
    times = (run.latency_ms.p95 if run.machine.id == last.machine.id else None for run in runs)
    return ReportContents(
        when=tuple(trace.now for trace in history),
        quality=tuple(
            Series(name, tuple(run.categories[OVERALL].get(name) for run in runs)) for name in TREND
        ),
        latency=Series("p95 ms", tuple(times)),
        ratios=tuple(Series(name, tuple(each.get(name) for each in ratios)) for name in names),
        last=last,
        goals=speed.goals if speed else (),
        worst=tuple(worst(last.queries, WORST)),
        events=tuple(_events(history)),
    )


def _events(history: Sequence[Run]) -> list[Event]:
    events = []
    for at, trace in enumerate(history):
        changed = changes(history[at - 1], trace) if at else []
        if changed or trace.regressions:
            events.append(Event(trace.now, tuple(changed), trace.regressions))
    return events


LEVELS = "▁▂▃▄▅▆▇█"
EIGHTHS = " ▏▎▍▌▋▊▉"
TREND_WIDTH = 60
BAR_WIDTH = 40
EVENTS = 5


def text(report: ReportContents) -> str:
    """Draw the report."""
    runs = counted(len(report.when), "run")
    span = report.when[-1][:10]
    span = span if len(report.when) == 1 else f"{report.when[0][:10]} to {span}"
    parts = [f"{runs}, {span}\n", _trends(report), _categories(report)]
    parts += [_goals(report), _ablation(report), _worst(report), _changes(report)]
    return "\n".join(part for part in parts if part)


def sparkline(values: Sequence[float | None], most: float) -> str:
    """Draw values from 0 to `most` as one character each; a gap is a space.

    Example: sparkline((0.0, 0.5, None, 1.0), 1.0) -> "▁▅ █"
    """
    top = len(LEVELS) - 1
    return "".join(
        " " if value is None else LEVELS[min(top, int(value / (most or 1.0) * len(LEVELS)))]
        for value in values
    )


def bar(share: float) -> str:
    """Draw a share of BAR_WIDTH characters, to an eighth of a character."""
    eighths = round(min(1.0, max(0.0, share)) * BAR_WIDTH * 8)
    return ("█" * (eighths // 8) + EIGHTHS[eighths % 8]).rstrip()


def _trends(report: ReportContents) -> str:
    lines = [_trend(series, 1.0, "{:.3f}") for series in report.quality]
    if known := [value for value in report.latency.values if value is not None]:
        lines.append(_trend(report.latency, max(known), "{:.1f}"))
    return "".join(lines)


def _trend(series: Series, most: float, form: str) -> str:
    values = series.values[-TREND_WIDTH:]
    known = [value for value in values if value is not None]
    first = form.format(known[0])
    return f"{series.name:15}{first} {sparkline(values, most)} {form.format(known[-1])}\n"


def _categories(report: ReportContents) -> str:
    width = max(map(columns, report.last.categories))
    lines = [f"{HEADLINE} by category\n"]
    for name, row in report.last.categories.items():
        value, space = row.get(HEADLINE, 0.0), " " * (width - columns(name))
        lines.append(f"  {name}{space} {int(row['queries']):>5}  {value:.3f} {bar(value)}\n")
    return "".join(lines)


def _goals(report: ReportContents) -> str:
    if not report.goals:
        return ""
    return "Speed, as ratios\n" + "".join(
        f"  {g.name:10} {g.ratio:6.2f}  goal {'>=' if g.at_least else '<='} "
        f"{g.goal:g}  {'met' if g.met else 'MISSED'}\n"
        for g in report.goals
    )


def _ablation(report: ReportContents) -> str:
    if not report.last.ablation:
        return ""
    rows = ablation_rows(report.last.ablation)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "Ablation\n" + "".join(
        "  " + "  ".join(value.ljust(width) for value, width in zip(row, widths, strict=True))
        .rstrip() + "\n"
        for row in rows
    )  # fmt: skip


def ablation_rows(ablation: Sequence[Mapping[str, object]]) -> list[list[str]]:
    """Return the names of the columns, and a row per variant."""
    columns = list(dict.fromkeys(name for row in ablation for name in row))
    return [columns, *([_cell(row.get(name)) for name in columns] for row in ablation)]


def _cell(value: object) -> str:
    return "" if value is None else f"{value:.3f}" if isinstance(value, float) else str(value)


def _worst(report: ReportContents) -> str:
    if not report.worst:
        return ""
    return "Worst\n" + "".join(f"  {r.scores[HEADLINE]:.3f}  {row_text(r)}\n" for r in report.worst)


def _changes(report: ReportContents) -> str:
    lines = []
    for event in report.events[-EVENTS:]:
        lines.append(f"  {event.when[:16]}  {'; '.join(event.changed) or 'nothing changed'}\n")
        lines += [f"    {regression}\n" for regression in event.regressions]
    return "Changes\n" + "".join(lines) if lines else ""
