"""Set two receipts side by side: means, questions that moved, ratios, and what differs; pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memcli.bench.history import changes
from memcli.bench.metrics import NAMES
from memcli.bench.quality_text import changes as moved_text
from memcli.bench.rows import as_record, moves, quality_of, rows_of

Receipt = Mapping[str, Any]


def compare(before: Receipt, after: Receipt) -> dict[str, Any]:
    """Describe the difference as `memcli.bench-compare/1` does.

    Means are over the questions that both runs judged. Times are given for one machine only.
    """
    old, new = quality_of(before), quality_of(after)
    old_rows = {row.id: row for row in rows_of(before)}
    new_rows = {row.id: row for row in rows_of(after)}
    common = sorted(old_rows.keys() & new_rows.keys())
    same_machine = old["machine"]["id"] == new["machine"]["id"]
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
            for name in NAMES
        },
        "changes": changes(before, after),
        "same_machine": same_machine,
        "latency_ms": {"before": old["latency_ms"], "after": new["latency_ms"]}
        if same_machine
        else None,
        "ratios": {
            "before": (before.get("speed") or {}).get("ratios", {}),
            "after": (after.get("speed") or {}).get("ratios", {}),
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
    lines.append(f"\n{'':14}{'before':>8}{'after':>8}{'':>9}")
    for name, pair in record["metrics"].items():
        delta = pair["after"] - pair["before"]
        lines.append(f"{name:14}{pair['before']:8.3f}{pair['after']:8.3f}{delta:+9.3f}")
    if record["latency_ms"]:
        old, new = record["latency_ms"]["before"], record["latency_ms"]["after"]
        lines.append(
            f"{'p95 ms':14}{old['p95']:8.1f}{new['p95']:8.1f}{new['p95'] - old['p95']:+9.1f}"
        )
    else:
        lines.append("Times are not compared: the receipts are of two machines.")
    ratios = record["ratios"]
    for name in sorted(ratios["before"].keys() & ratios["after"].keys()):
        old, new = ratios["before"][name], ratios["after"][name]
        lines.append(f"{'x ' + name:14}{old:8.2f}{new:8.2f}{new - old:+9.2f}")
    moved = moves(rows_of(before), rows_of(after))
    return "\n".join(lines) + "\n" + moved_text(moved, record["queries"])


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else 0.0
