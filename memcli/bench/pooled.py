"""Put the runs over several sets of questions together, and beside earlier ones; pure.

Every question counts alike in the pooled row. Intervals are those of `bench.bootstrap`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from memcli.bench.bootstrap import Difference, paired
from memcli.bench.metrics import NAMES
from memcli.bench.quality_text import columns, shortened, table
from memcli.bench.queries import OVERALL
from memcli.bench.rows import Row, pairs, rows_of
from memcli.bench.shape import fits
from memcli.errors import UsageError

# What a change is judged by; all metrics stand in the record.
MOVED = ("Hit@5", "nDCG@10", "Recall@500tok", "Recall@1000tok", "Recall@2000tok")
SCHEMA = "memcli.bench-sets/1"
Receipt = Mapping[str, Any]


def pooled(sets: Mapping[str, Receipt], against: Receipt | None) -> dict[str, Any]:
    """Describe runs by the names of their sets as SCHEMA does; `against` is an earlier record.

    UsageError where no question of a set was asked in both.
    """
    rows = {name: rows_of(receipt) for name, receipt in sets.items()}
    every = [row for group in rows.values() for row in group]
    record: dict[str, Any] = {
        "sets": dict(sets),
        "pooled": {"queries": len(every), "metrics": _means(every)},
    }
    if against is None:
        return record
    before = {name: rows_of(receipt) for name, receipt in against["sets"].items()}
    both = {name: pairs(before.get(name, ()), group) for name, group in rows.items()}
    if not any(both.values()):
        raise UsageError(
            "no question was asked in both runs",
            hint="memcli bench quality A.jsonl B.jsonl --json > before.json",
        )
    differences = {name: _differences(found) for name, found in both.items() if found}
    together = _differences([pair for found in both.values() for pair in found])
    return {
        **record,
        "against": {"now": against["now"], "sets": differences, "pooled": together},
    }


def read(text: str, name: str) -> dict[str, Any]:
    """Read what `bench quality` has written of sets; UsageError where it is anything else."""
    try:
        record = json.loads(text)
        is_one = fits(record) and record["schema"] == SCHEMA
        if is_one and all(map(rows_of, record["sets"].values())):
            return dict(record)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        pass
    raise UsageError(
        f"{name} is not the receipt of several sets",
        hint="memcli bench quality A.jsonl B.jsonl --json > before.json",
    )


def _means(rows: Sequence[Row]) -> dict[str, Any]:
    values = {name: [row.scores[name] for row in rows] for name in NAMES}
    return {name: paired([0.0] * len(rows), each)._asdict() for name, each in values.items()}


def _differences(found: Sequence[tuple[Row, Row]]) -> dict[str, Any]:
    return {
        "queries": len(found),
        "metrics": {
            name: paired(
                [old.scores[name] for old, _ in found], [new.scores[name] for _, new in found]
            )._asdict()
            for name in NAMES
        },
    }


def text(record: Receipt) -> str:
    """Draw the figures of every set and of all questions, then what moved."""
    sets = {name: receipt["categories"][OVERALL] for name, receipt in record["sets"].items()}
    together = record["pooled"]["metrics"]
    means = {name: value["mean"] for name, value in together.items()}
    drawn = table({**sets, OVERALL: {"queries": record["pooled"]["queries"], **means}})
    width = max(columns(name) for name in (*sets, OVERALL))
    half = ((together[name]["high"] - together[name]["low"]) / 2 for name in NAMES)
    drawn += f"{'+-':{width}}  {'':5}  " + "  ".join(f"{each:7.3f}" for each in half) + "\n"
    if "against" not in record:
        return drawn
    against = record["against"]
    return drawn + _moved({**against["sets"], OVERALL: against["pooled"]}, against["now"], width)


def _moved(rows: Mapping[str, Receipt], since: str, width: int) -> str:
    lines = [f"\nMoved since {since}: the mean, and 95 % of what other questions would have given"]
    heads = "  ".join(f"{shortened(name):>19}" for name in MOVED)
    lines.append(f"{'':{width}}  {'n':>5}  {heads}")
    for name, row in rows.items():
        told = "  ".join(_interval(row["metrics"][metric]) for metric in MOVED)
        lines.append(f"{name}{' ' * (width - columns(name))}  {row['queries']:>5}  {told}")
    return "\n".join(lines) + "\n"


def _interval(told: Mapping[str, float]) -> str:
    """Write a difference in 19 columns. Example: "+.008 [-.003,+.019]"."""
    mean, low, high = (f"{told[name]:+.3f}".replace("0.", ".") for name in Difference._fields)
    return f"{mean} [{low},{high}]"
