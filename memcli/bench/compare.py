"""Set two receipts side by side: means, questions that moved, ratios, and what differs; pure."""

from __future__ import annotations

from collections.abc import Mapping
from math import fsum
from typing import Any

from memcli.bench.history import changes
from memcli.bench.metrics import NAMES
from memcli.bench.quality_text import changes as moved_text
from memcli.bench.rows import Row, as_record, moves, quality_of, rows_of

Receipt = Mapping[str, Any]
SPEED = "memcli.bench-speed/1"


def compare(before: Receipt, after: Receipt) -> dict[str, Any]:
    """Describe the difference as `memcli.bench-compare/1` does.

    Means are over the questions that both runs judged; a speed receipt has none. Times are given
    for one machine only.
    """
    old_rows = {row.id: row for row in _rows(before)}
    new_rows = {row.id: row for row in _rows(after)}
    common = sorted(old_rows.keys() & new_rows.keys())
    same_machine = _machine(before)["id"] == _machine(after)["id"]
    return {
        "schema": "memcli.bench-compare/1",
        "before": before["now"],
        "after": after["now"],
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
        "ratios": {
            "before": dict(_speed(before).get("ratios", {})),
            "after": dict(_speed(after).get("ratios", {})),
        },
        "moved": [
            {"before": as_record(m.before), "after": as_record(m.after), "delta": m.delta}
            for m in moves(list(old_rows.values()), list(new_rows.values()))
        ],
    }


def text(before: Receipt, after: Receipt) -> str:
    """Draw the difference for a person."""
    record = compare(before, after)
    lines = [f"before {record['before']}, after {record['after']}"]
    lines.append("changed: " + ("; ".join(record["changes"]) or "nothing but the figures"))
    lines.append(f"\n{'':24}{'before':>8}{'after':>8}")
    for name, pair in record["metrics"].items():
        lines.append(_line(name, pair["before"], pair["after"], 3))
    for title, pairs, digits in (("ms", record["milliseconds"], 1), ("x", record["ratios"], 2)):
        if pairs is None:
            lines.append("Times are not compared: the receipts are of two machines.")
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


def _speed(receipt: Receipt) -> Receipt:
    return receipt if receipt["schema"] == SPEED else receipt.get("speed") or {}


def _rows(receipt: Receipt) -> list[Row]:
    return [] if receipt["schema"] == SPEED else rows_of(receipt)


def _machine(receipt: Receipt) -> Receipt:
    found: Receipt = (receipt if receipt["schema"] == SPEED else quality_of(receipt))["machine"]
    return found


def _changes(before: Receipt, after: Receipt) -> list[str]:
    if SPEED not in (before["schema"], after["schema"]):
        return changes(before, after)
    old, new = _machine(before), _machine(after)
    return [f"{name} {old[name]} -> {new[name]}" for name in sorted(old) if old[name] != new[name]]


def _times(receipt: Receipt) -> dict[str, float]:
    """Gather the times of a receipt by name, in milliseconds."""
    speed = _speed(receipt)
    found = {f"cold_{name}": row["cpu_ms"] for name, row in speed.get("cold", {}).items()}
    found |= {f"sync_{name}": row["cpu_ms"] for name, row in speed.get("sync", {}).items()}
    if receipt["schema"] != SPEED:
        found["search_p95"] = quality_of(receipt)["latency_ms"]["p95"]
    return found


def _mean(values: list[float]) -> float:
    return fsum(values) / len(values) if values else 0.0
