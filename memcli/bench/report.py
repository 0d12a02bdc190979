"""What a report shows of a history of receipts, whatever it is drawn with; pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memcli.bench.history import changes
from memcli.bench.rows import HEADLINE, Row, quality_of, rows_of, worst
from memcli.record import Record

TREND = (HEADLINE, "Hit@5", "Recall@10", "Recall@1000tok")
WORST = 15

Receipt = Mapping[str, Any]


class Series(Record):
    """One line of a trend; None where a run has no such figure."""

    name: str
    values: tuple[float | None, ...]


class Event(Record):
    """A run that differs from the one before it, or that something got worse in."""

    when: str
    changed: tuple[str, ...]
    regressions: tuple[str, ...]


class ReportContents(Record):
    """The contents of a report, oldest run first."""

    when: tuple[str, ...]  # ISO times
    machine: str
    quality: tuple[Series, ...]
    latency: Series  # p95 in milliseconds, of runs on the machine of the last one alone
    ratios: tuple[Series, ...]
    categories: Mapping[str, Mapping[str, float]]
    hints: Mapping[str, Any]
    goals: Sequence[Mapping[str, Any]]
    worst: tuple[Row, ...]
    ablation: Sequence[Mapping[str, Any]]
    events: tuple[Event, ...]
    store: Mapping[str, Any]  # what the index of the last run held


def report(history: Sequence[Receipt]) -> ReportContents:
    """Gather what is shown of at least one receipt."""
    runs = [quality_of(receipt) for receipt in history]
    last, newest = runs[-1], history[-1]
    here = last["machine"]["id"]
    speeds = [receipt.get("speed") or {} for receipt in history]
    names = sorted({name for speed in speeds for name in speed.get("ratios", {})})
    return ReportContents(
        when=tuple(receipt["now"] for receipt in history),
        machine=f"{last['machine']['cpu']}, {last['machine']['cores']} cores",
        quality=tuple(
            Series(name, tuple(run["categories"]["all"].get(name) for run in runs))
            for name in TREND
        ),
        latency=Series(
            "p95 ms",
            tuple(
                run["latency_ms"]["p95"] if run["machine"]["id"] == here else None for run in runs
            ),
        ),
        ratios=tuple(
            Series(name, tuple(speed.get("ratios", {}).get(name) for speed in speeds))
            for name in names
        ),
        categories=last["categories"],
        hints=last["hints"],
        goals=speeds[-1].get("goals", ()),
        worst=tuple(worst(rows_of(newest), WORST)),
        ablation=last.get("ablation", ()),
        events=tuple(_events(history)),
        store=last["index"],
    )


def _events(history: Sequence[Receipt]) -> list[Event]:
    events = []
    for at, receipt in enumerate(history):
        changed = changes(history[at - 1], receipt) if at else []
        found = tuple(receipt.get("regressions", ()))
        if changed or found:
            events.append(Event(receipt["now"], tuple(changed), found))
    return events
