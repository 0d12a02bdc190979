"""Speed figures beside the floors of the same run and machine, as ratios; pure.

A time by itself says what machine ran it. A ratio to a floor, measured minutes apart on the
same machine, says what the program costs; only ratios are compared between machines.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memcli.bench.quality import percentile
from memcli.record import Record


class Process(Record):
    """What one run of a program cost."""

    wall_s: float
    cpu_s: float
    peak_kb: int
    exit_code: int


class Goal(Record):
    """A ratio that must stay at or below (least False) or above (least True) a bound."""

    name: str
    bound: float
    at_least: bool
    about: str


GOALS = (
    Goal("help", 9.0, False, "CPU of --help / CPU of a bare interpreter"),
    Goal("keyword", 11.0, False, "CPU of a cold keyword search / CPU of a bare interpreter"),
    Goal("hybrid", 1.8, False, "CPU of a cold hybrid search / CPU of the keyword one"),
    Goal("embedding", 0.9, True, "texts a second / those of the bare model on the same texts"),
    Goal("no_change", 3.0, False, "CPU of a no-change index above a --no-sync search / the walk"),
)


def processes(runs: Sequence[Sequence[float]]) -> list[Process]:
    """Read what the launcher reports."""
    return [Process(wall, cpu, int(peak), int(code)) for wall, cpu, peak, code in runs]


def cost(runs: Sequence[Process]) -> dict[str, float]:
    """Sum up runs of one program: the least CPU, wall times, the greatest peak of memory.

    The least, because all that other work on the machine does to a time is to lengthen it.
    """
    return {
        "cpu_ms": min(run.cpu_s for run in runs) * 1000,
        "wall_p50_ms": percentile([run.wall_s for run in runs], 0.5) * 1000,
        "wall_p95_ms": percentile([run.wall_s for run in runs], 0.95) * 1000,
        "peak_mb": max(run.peak_kb for run in runs) / 1024,
    }


def spread(seconds: Sequence[float]) -> dict[str, float]:
    """Sum up times of searches in one process."""
    return {
        "p50_ms": percentile(seconds, 0.5) * 1000,
        "p95_ms": percentile(seconds, 0.95) * 1000,
    }


def ratios(figures: Mapping[str, Any], floors: Mapping[str, Any]) -> dict[str, float]:
    """Set figures beside floors; a ratio whose parts were not measured is left out."""
    cold, interpreter = figures["cold"], floors["interpreter_cpu_ms"]
    found = {
        "help": cold["help"]["cpu_ms"] / interpreter,
        "keyword": cold["keyword"]["cpu_ms"] / interpreter,
    }
    if "hybrid" in cold:
        found["hybrid"] = cold["hybrid"]["cpu_ms"] / cold["keyword"]["cpu_ms"]
    if figures["embedding_texts_per_s"] and floors["model_texts_per_s"]:
        found["embedding"] = figures["embedding_texts_per_s"] / floors["model_texts_per_s"]
    if floors["walk_ms"]:
        above = figures["sync"]["no_change"]["cpu_ms"] - cold["keyword_no_sync"]["cpu_ms"]
        found["no_change"] = max(0.0, above) / floors["walk_ms"]
    return found


def verdicts(found: Mapping[str, float]) -> list[dict[str, Any]]:
    """Hold ratios against the goals."""
    return [
        {
            "name": goal.name,
            "ratio": found[goal.name],
            "goal": goal.bound,
            "at_least": goal.at_least,
            "met": found[goal.name] >= goal.bound
            if goal.at_least
            else found[goal.name] <= goal.bound,
        }
        for goal in GOALS
        if goal.name in found
    ]


def slower(before: Mapping[str, Any], after: Mapping[str, Any], factor: float) -> list[str]:
    """Name the ratios that grew by more than `factor`; times are never looked at."""
    shrinking = {goal.name for goal in GOALS if goal.at_least}
    lines = []
    for name, ratio in after["ratios"].items():
        was = before["ratios"].get(name)
        if not was or not ratio or name == "no_change":  # a difference of two small times
            continue
        grew = was / ratio if name in shrinking else ratio / was
        if grew > factor:
            lines.append(f"speed: {name} is {grew:.1f} times as slow ({was:.2f} -> {ratio:.2f})")
    return lines


def text(record: Mapping[str, Any]) -> str:
    """Draw the figures as a table, the ratios beside their goals."""
    cold = record["cold"]
    lines = [f"{'':18}{'CPU ms':>9}{'wall p50':>10}{'wall p95':>10}{'peak MB':>9}"]
    rows = [*((f"cold {name}", row) for name, row in cold.items())]
    rows += [(f"sync {name}", row) for name, row in record["sync"].items()]
    rows.append(("index, keywords", record["index"]))
    lines += [
        f"{name.replace('_', ' '):18}{row['cpu_ms']:9.0f}{row['wall_p50_ms']:10.0f}"
        f"{row['wall_p95_ms']:10.0f}{row['peak_mb']:9.0f}"
        for name, row in rows
    ]
    lines.append("")
    for name, row in record["warm"].items():
        lines.append(f"warm {name}: p50 {row['p50_ms']:.1f} ms, p95 {row['p95_ms']:.1f} ms")
    lines.append(
        f"{record['documents']} documents, {record['chunks']} chunks: "
        f"{record['index']['documents_per_s']:.0f} documents/s by keywords"
    )
    if record["embedding_texts_per_s"]:
        lines.append(f"embedding: {record['embedding_texts_per_s']:.1f} texts/s")
    mega = 1024 * 1024
    lines.append(
        f"size: {record['store_bytes'] / mega:.1f} MB for {record['notes_bytes'] / mega:.1f} MB "
        f"of notes"
    )
    floors = record["floors"]
    told = [f"interpreter {floors['interpreter_cpu_ms']:.0f} ms CPU"]
    if floors["model_texts_per_s"]:
        told.append(f"bare model {floors['model_texts_per_s']:.1f} texts/s")
    told.append(f"memory {floors['memory_gb_per_s']:.1f} GB/s, walk {floors['walk_ms']:.1f} ms")
    lines += [f"floors: {', '.join(told)}", ""]
    about = {goal.name: goal.about for goal in GOALS}
    for verdict in record["goals"]:
        sign = ">=" if verdict["at_least"] else "<="
        met = "met" if verdict["met"] else "MISSED"
        lines.append(
            f"{verdict['name']:10} {verdict['ratio']:6.2f}  goal {sign} {verdict['goal']:g}  "
            f"{met:6}  {about[verdict['name']]}"
        )
    return "\n".join(lines) + "\n"
