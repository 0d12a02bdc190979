"""Write quality figures for people: the table, what moved, the worst cases and why; pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import TextWrapper

from memcli.bench.metrics import HEADLINE, NAMES
from memcli.bench.runs import Move, move_text, moves, pairs, row_text, worst
from memcli.bench.traces import HintRate, QualityTrace, Row
from memcli.render.width import columns

SHOWN = 5


def shortened(metric: str) -> str:
    """Shorten the name of a metric for the head of a column. Example: Recall@500tok -> R@500t."""
    return metric.replace("Recall", "R").replace("tok", "t")


COLUMNS = 80
# The metrics that fit into the table; JSON and the HTML report have all.
TABLE_NAMES = ("Hit@1", "Hit@5", "Recall@10", "MRR@10", "nDCG@10", "Recall@1000tok")
ABLATION_NAMES = (*TABLE_NAMES[:3], "nDCG@10", *(n for n in NAMES if n.endswith("tok")))


def table(summaries: Mapping[str, Mapping[str, float]]) -> str:
    """Draw the summary, one row per category."""
    width = max(map(columns, summaries))
    head = f"{'':{width}}  {'n':>5}  " + "  ".join(
        f"{name:>7.7}" for name in map(shortened, TABLE_NAMES)
    )
    rows = [
        f"{name}{' ' * (width - columns(name))}  {row['queries']:>5}  "
        + "  ".join(f"{row.get(metric, 0.0):7.3f}" for metric in TABLE_NAMES)
        for name, row in summaries.items()
    ]
    return "\n".join([head, *rows]) + "\n"


def ablation_table(rows: Sequence[Mapping[str, object]]) -> str:
    """Draw one line per variant; the last column is the change of nDCG@10 and its interval."""
    width = max(len(str(each["variant"])) for each in rows)
    heads = "  ".join(f"{head:>7}" for head in map(shortened, ABLATION_NAMES))
    lines = [f"{'':{width}}  {heads}  {HEADLINE}, 95 %"]
    for each in rows:
        figures = "  ".join(f"{each[metric]:7.3f}" for metric in ABLATION_NAMES)
        change = f"{each['change']:+.3f} [{each['low']:+.3f}, {each['high']:+.3f}]"
        lines.append(f"{each['variant']:{width}}  {figures}  {change}")
    return "\n".join(lines) + "\n"


def hints(rate: HintRate) -> str:
    """Say how many questions succeed with their hints; empty if there are no hints."""
    if rate.rate is None:
        return ""
    return (
        f"Hints: {rate.mended} of {rate.queries} questions are answered only with their hints"
        f" ({rate.rate:.3f}).\n"
    )


def text(trace: QualityTrace, baseline: Sequence[Row] | None) -> str:
    """Write a run, and what moved against a baseline."""
    rows = trace.queries
    parts = [table(trace.categories), hints(trace.hints), worst_cases(worst(rows, SHOWN))]
    if trace.ablation is not None:
        parts.append("\n" + ablation_table(trace.ablation))
    if baseline is not None:
        parts.append(changes(moves(baseline, rows), len(pairs(baseline, rows))))
    return "".join(parts)


def worst_cases(rows: Sequence[Row]) -> str:
    """List the worst questions, each with the stage that lost its lines."""
    if not rows:
        return ""
    wrapper = TextWrapper(
        COLUMNS, subsequent_indent=" " * 9, break_long_words=False, break_on_hyphens=False
    )
    lines = ["", "Worst:"]
    for row in rows:
        wrapper.initial_indent = f"  {row.scores[HEADLINE]:.3f}  "
        lines.append(wrapper.fill(row_text(row)))
    return "\n".join([*lines, ""])


def changes(moved: Sequence[Move], common: int) -> str:
    """List what moved against the baseline, worst and best, one line per question."""
    if not moved:
        return f"\nAgainst the baseline: nothing moved in {common} questions.\n"
    down = [move for move in moved if move.delta < 0]
    up = [move for move in reversed(moved) if move.delta > 0]
    lines = [
        f"\nAgainst the baseline: {len(down)} worse, {len(up)} better, "
        f"{len(moved) - len(down) - len(up)} changed in other ways, of {common} questions.\n"
    ]
    for move in [*down[:SHOWN], *up[:SHOWN]]:
        lines.append(f"  {move.delta:+.3f}  {move_text(move)}\n")
    return "".join(lines)
