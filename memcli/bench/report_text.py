"""A report drawn with characters: trend lines, bars by category, worst cases; pure."""

from __future__ import annotations

from collections.abc import Sequence

from memcli.bench.gates import row_text
from memcli.bench.quality_text import columns
from memcli.bench.report import ReportContents, Series
from memcli.bench.rows import HEADLINE

LEVELS = "▁▂▃▄▅▆▇█"
EIGHTHS = " ▏▎▍▌▋▊▉"
TREND_WIDTH = 60
BAR_WIDTH = 40
EVENTS = 5


def text(report: ReportContents) -> str:
    """Draw the report."""
    runs = "1 run" if len(report.when) == 1 else f"{len(report.when)} runs"
    span = report.when[-1][:10]
    span = span if len(report.when) == 1 else f"{report.when[0][:10]} to {span}"
    parts = [f"{runs}, {span}\n", _trends(report), _categories(report)]
    if report.goals:
        parts.append(_goals(report))
    if report.ablation:
        parts.append(_ablation(report))
    parts += [_worst(report), _events(report)]
    return "\n".join(part for part in parts if part)


def sparkline(values: Sequence[float | None], low: float, high: float) -> str:
    """Draw values between `low` and `high` as one character each; a gap is a space.

    Example: sparkline((0.0, 0.5, None, 1.0), 0.0, 1.0) -> "▁▅ █"
    """
    value_range = high - low or 1.0
    return "".join(
        " "
        if value is None
        else LEVELS[min(len(LEVELS) - 1, max(0, int((value - low) / value_range * len(LEVELS))))]
        for value in values
    )


def bar(share: float, width: int = BAR_WIDTH) -> str:
    """Draw a share of `width` characters, to an eighth of a character; half of 4 is "██"."""
    eighths = round(min(1.0, max(0.0, share)) * width * 8)
    return ("█" * (eighths // 8) + EIGHTHS[eighths % 8]).rstrip()


def _trends(report: ReportContents) -> str:
    lines = [_trend(series, 1.0, "{:.3f}") for series in report.quality]
    if any(value is not None for value in report.latency.values):
        top = max(value for value in report.latency.values if value is not None)
        lines.append(_trend(report.latency, top, "{:.1f}"))
    return "".join(lines)


def _trend(series: Series, most: float, form: str) -> str:
    values = series.values[-TREND_WIDTH:]
    known = [value for value in values if value is not None]
    if not known:
        return ""
    first = form.format(known[0])
    return f"{series.name:15}{first} {sparkline(values, 0.0, most)} {form.format(known[-1])}\n"


def _categories(report: ReportContents) -> str:
    width = max(map(columns, report.categories))
    lines = [f"{HEADLINE} by category\n"]
    for name, row in report.categories.items():
        value, space = row.get(HEADLINE, 0.0), " " * (width - columns(name))
        lines.append(f"  {name}{space} {int(row['queries']):>5}  {value:.3f} {bar(value)}\n")
    return "".join(lines)


def _goals(report: ReportContents) -> str:
    return "Speed, as ratios\n" + "".join(
        f"  {g.name:10} {g.ratio:6.2f}  goal {'>=' if g.at_least else '<='} "
        f"{g.goal:g}  {'met' if g.met else 'MISSED'}\n"
        for g in report.goals
    )


def _ablation(report: ReportContents) -> str:
    columns = list(dict.fromkeys(name for row in report.ablation for name in row))
    rows = [columns, *([cell(row.get(name)) for name in columns] for row in report.ablation)]
    widths = [max(len(row[at]) for row in rows) for at in range(len(columns))]
    return "Ablation\n" + "".join(
        "  " + "  ".join(value.ljust(width) for value, width in zip(row, widths, strict=True))
        .rstrip() + "\n"
        for row in rows
    )  # fmt: skip


def cell(value: object) -> str:
    """Write a value of a table."""
    return "" if value is None else f"{value:.3f}" if isinstance(value, float) else str(value)


def _worst(report: ReportContents) -> str:
    if not report.worst:
        return ""
    return "Worst\n" + "".join(f"  {r.scores[HEADLINE]:.3f}  {row_text(r)}\n" for r in report.worst)


def _events(report: ReportContents) -> str:
    lines = []
    for event in report.events[-EVENTS:]:
        lines.append(f"  {event.when[:16]}  {'; '.join(event.changed) or 'nothing changed'}\n")
        lines += [f"    {regression}\n" for regression in event.regressions]
    return "Changes\n" + "".join(lines) if lines else ""
