"""Compare two traces: means, questions that moved, ratios, and changes; pure."""

from __future__ import annotations

from math import fsum
from typing import Any

from memcli.bench.history import changes
from memcli.bench.metrics import NAMES
from memcli.bench.quality_text import changes as moved_text
from memcli.bench.rows import moves
from memcli.bench.traces import Row, Run, SpeedTrace, encode

Trace = Run | SpeedTrace


def compare(before: Trace, after: Trace) -> dict[str, Any]:
    """Describe the difference as `memcli.bench-compare/1` does.

    Means are over the questions that both runs judged; a trace of speed has none. There are times
    only if both runs were on one machine.
    """
    old_rows = {row.id: row for row in _rows(before)}
    new_rows = {row.id: row for row in _rows(after)}
    common = sorted(old_rows.keys() & new_rows.keys())
    same_machine = before.machine.id == after.machine.id
    return {
        "schema": "memcli.bench-compare/1",
        "before": before.now,
        "after": after.now,
        "queries": len(common),
        "only_before": sorted(old_rows.keys() - new_rows.keys()),
        "only_after": sorted(new_rows.keys() - old_rows.keys()),
        "metrics": {
            name: {
                "before": _mean([old_rows[i].scores[name] for i in common]),
                "after": _mean([new_rows[i].scores[name] for i in common]),
            }
            for name in (NAMES if common else ())
        },
        "changes": _changes(before, after),
        "same_machine": same_machine,
        "milliseconds": {"before": _times(before), "after": _times(after)}
        if same_machine
        else None,
        "ratios": {"before": _ratios(before), "after": _ratios(after)},
        "moved": encode(moves(list(old_rows.values()), list(new_rows.values()))),
    }


def text(before: Trace, after: Trace) -> str:
    """Draw the difference for a person."""
    record = compare(before, after)
    lines = [f"before {record['before']}, after {record['after']}"]
    lines.append("changed: " + ("; ".join(record["changes"]) or "only the figures"))
    lines.append(f"\n{'':24}{'before':>8}{'after':>8}")
    for name, pair in record["metrics"].items():
        lines.append(_line(name, pair["before"], pair["after"], 3))
    for title, pairs, digits in (("ms", record["milliseconds"], 1), ("x", record["ratios"], 2)):
        if pairs is None:
            lines.append("Times are not compared: the results are of two machines.")
            continue
        for name in pairs["before"]:
            if name in pairs["after"]:
                values = pairs["before"][name], pairs["after"][name]
                lines.append(_line(f"{title} {name.replace('_', ' ')}", *values, digits))
    shown = "\n".join(lines) + "\n"
    if not record["queries"]:
        return shown
    return shown + moved_text(moves(_rows(before), _rows(after)), record["queries"])


def _line(name: str, before: float, after: float, digits: int) -> str:
    return f"{name:24}{before:8.{digits}f}{after:8.{digits}f}{after - before:+9.{digits}f}"


def _rows(trace: Trace) -> tuple[Row, ...]:
    return trace.quality.queries if trace.quality else ()


def _ratios(trace: Trace) -> dict[str, float]:
    return dict(trace.speed.ratios) if trace.speed else {}


def _changes(before: Trace, after: Trace) -> list[str]:
    if not isinstance(before, SpeedTrace) and not isinstance(after, SpeedTrace):
        return changes(before, after)
    old, new = before.machine._asdict(), after.machine._asdict()
    return [f"{name} {old[name]} -> {new[name]}" for name in sorted(old) if old[name] != new[name]]


def _times(trace: Trace) -> dict[str, float]:
    """Return the times of a trace by name, in milliseconds."""
    times: dict[str, float] = {}
    if trace.speed:
        times |= {f"cold_{name}": row.cpu_ms for name, row in trace.speed.cold.items()}
        times |= {f"sync_{name}": row.cpu_ms for name, row in trace.speed.sync.items()}
    if trace.quality:
        times["search_p95"] = trace.quality.latency_ms.p95
    return times


def _mean(values: list[float]) -> float:
    return fsum(values) / len(values) if values else 0.0
