"""Speed figures beside the floors of the same run and machine, as ratios; pure.

A time by itself says what machine ran it. A ratio to a floor, measured minutes apart on the
same machine, says what the program costs; only ratios are compared between machines. No figure
goes without its spread: least, median and most of at least two runs, and how many are outliers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
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


LEAST_RUNS = 2  # of which a spread can be told
# Of a modified z-score: how many median absolute deviations (MAD) from the median a value lies.
# Ten standard deviations, where 1.4826 MAD stand for one, as in hyperfine
# (src/outlier_detection.rs), after Iglewicz and Hoaglin, "How to Detect and Handle Outliers", 1993.
OUTLIER = 1.4826 * 10


class Spread(Record):
    """What is told of several values of one kind, in their unit."""

    runs: int
    least: float
    p50: float
    p95: float
    most: float
    outliers: int


def spread(values: Sequence[float]) -> Spread:
    """Sum up values; ValueError where they are too few to tell a spread."""
    if len(values) < LEAST_RUNS:
        raise ValueError(f"{len(values)} runs have no spread, and so give no figure")
    p50, p95 = percentile(values, 0.5), percentile(values, 0.95)
    return Spread(len(values), min(values), p50, p95, max(values), len(outliers(values)))


def outliers(values: Sequence[float]) -> list[float]:
    """Give the values that something else than what is measured has made.

    Where more than half of them are equal, every other one is an outlier.
    """
    middle = median(values)
    deviation = median(abs(value - middle) for value in values)
    return [value for value in values if abs(value - middle) > OUTLIER * deviation]


def told(values: Sequence[float], digits: int) -> str:
    """Write the least, the median and the greatest value, and how many are outliers."""
    found = spread(values)
    three = "/".join(f"{value:.{digits}f}" for value in (found.least, found.p50, found.most))
    return three + _marked(found._asdict())


def cost(runs: Sequence[Process]) -> dict[str, float]:
    """Sum up runs of one program: CPU and wall times, the greatest peak of memory.

    `cpu_ms` is the least, because all that other work on the machine does to a time is to lengthen
    it. A run whose wall or CPU time is an outlier is one.
    """
    cpu, wall = [run.cpu_s for run in runs], [run.wall_s for run in runs]
    cpus, walls = spread(cpu), spread(wall)
    far_cpu, far_wall = outliers(cpu), outliers(wall)
    return {
        "runs": len(runs),
        "outliers": sum(run.cpu_s in far_cpu or run.wall_s in far_wall for run in runs),
        "cpu_ms": cpus.least * 1000,
        "cpu_p50_ms": cpus.p50 * 1000,
        "cpu_most_ms": cpus.most * 1000,
        "wall_least_ms": walls.least * 1000,
        "wall_p50_ms": walls.p50 * 1000,
        "wall_p95_ms": walls.p95 * 1000,
        "wall_most_ms": walls.most * 1000,
        "peak_mb": max(run.peak_kb for run in runs) / 1024,
    }


def searches(seconds: Sequence[float]) -> dict[str, float]:
    """Sum up times of searches in one process."""
    found = spread(seconds)
    return {
        "runs": found.runs,
        "outliers": found.outliers,
        "least_ms": found.least * 1000,
        "p50_ms": found.p50 * 1000,
        "p95_ms": found.p95 * 1000,
        "most_ms": found.most * 1000,
    }


def ratios(seconds: Mapping[str, float]) -> dict[str, float]:
    """Set what was measured beside its floors; a ratio whose parts are not there is left out.

    Takes CPU seconds of `interpreter`, `help`, `keyword`, `keyword_no_sync`, `hybrid`, `no_change`,
    and wall seconds of `walk`, `encoder` and `model`, the last two of the same texts.
    """
    found = {
        "help": seconds["help"] / seconds["interpreter"],
        "keyword": seconds["keyword"] / seconds["interpreter"],
    }
    if "hybrid" in seconds:
        found["hybrid"] = seconds["hybrid"] / seconds["keyword"]
    if "encoder" in seconds and "model" in seconds:
        found["embedding"] = seconds["model"] / seconds["encoder"]
    if seconds["walk"]:
        above = seconds["no_change"] - seconds["keyword_no_sync"]
        found["no_change"] = max(0.0, above) / seconds["walk"]
    return found


def spreads(
    rates: Mapping[str, Sequence[float]], seconds: Mapping[str, Sequence[float]]
) -> dict[str, Spread]:
    """Sum up rates, and under `ratios.NAME` the ratio of each turn; of each kind as many seconds.

    So they say by how much one figure would have differed, had it been measured once.
    """
    found = {name: list(values) for name, values in rates.items()}
    for turn in zip(*seconds.values(), strict=True):
        for name, ratio in ratios(dict(zip(seconds, turn, strict=True))).items():
            found.setdefault(f"ratios.{name}", []).append(ratio)
    return {name: spread(values) for name, values in found.items()}


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
    runs = f"of {record['index']['runs']} runs"
    lines = [
        f"{runs:18}{'CPU ms':>18}{'wall ms':>24}{'p95':>7}{'peak MB':>9}",
        f"{'':18}{'least/p50/most':>18}{'least/p50/most':>24}",
    ]
    rows = [*((f"cold {name}", row) for name, row in record["cold"].items())]
    rows += [(f"sync {name}", row) for name, row in record["sync"].items()]
    rows.append(("index, keywords", record["index"]))
    lines += [
        f"{name.replace('_', ' '):18}{_three(row, 'cpu_ms', 'cpu_p50_ms', 'cpu_most_ms'):>18}"
        f"{_three(row, 'wall_least_ms', 'wall_p50_ms', 'wall_most_ms'):>24}"
        f"{row['wall_p95_ms']:7.0f}{row['peak_mb']:9.0f}{_marked(row)}"
        for name, row in rows
    ]
    lines.append("")
    lines += [
        f"warm {name}, {row['runs']} searches: p50 {row['p50_ms']:.1f} ms, "
        f"p95 {row['p95_ms']:.1f} ms, {row['least_ms']:.1f} to {row['most_ms']:.1f}{_marked(row)}"
        for name, row in record["warm"].items()
    ]
    lines += [*_rates(record), "", *_goals(record)]
    if any("*" in line for line in lines):
        lines += ["", f"* outliers, {OUTLIER:.1f} MAD from the median: the machine had other work"]
    return "\n".join(lines) + "\n"


def _rates(record: Mapping[str, Any]) -> list[str]:
    spreads, floors = record["spread"], record["floors"]

    def ranged(name: str, digits: int) -> str:
        row = spreads[name]
        return f"{row['least']:.{digits}f} to {row['most']:.{digits}f}{_marked(row)}"

    lines = [
        f"{record['documents']} documents, {record['chunks']} chunks: "
        f"{record['index']['documents_per_s']:.0f} documents/s by keywords "
        f"({ranged('documents_per_s', 0)})"
    ]
    if record["embedding_texts_per_s"]:
        lines.append(
            f"embedding: {record['embedding_texts_per_s']:.1f} texts/s "
            f"({ranged('embedding_texts_per_s', 1)})"
        )
    mega = 1024 * 1024
    lines.append(
        f"size: {record['store_bytes'] / mega:.1f} MB for {record['notes_bytes'] / mega:.1f} MB "
        f"of notes"
    )
    told = [
        f"interpreter {floors['interpreter_cpu_ms']:.0f} ms CPU ({ranged('interpreter_cpu_ms', 0)})"
    ]
    if floors["model_texts_per_s"]:
        told.append(
            f"bare model {floors['model_texts_per_s']:.1f} texts/s "
            f"({ranged('model_texts_per_s', 1)})"
        )
    told.append(f"memory {floors['memory_gb_per_s']:.1f} GB/s ({ranged('memory_gb_per_s', 1)})")
    told.append(f"walk {floors['walk_ms']:.1f} ms ({ranged('walk_ms', 1)})")
    return [*lines, f"floors: {', '.join(told)}"]


def _goals(record: Mapping[str, Any]) -> list[str]:
    about = {goal.name: goal.about for goal in GOALS}
    lines = []
    for verdict in record["goals"]:
        row = record["spread"][f"ratios.{verdict['name']}"]
        turns = f"({row['least']:.2f} to {row['most']:.2f}){_marked(row)}"
        sign = ">=" if verdict["at_least"] else "<="
        met = "met" if verdict["met"] else "MISSED"
        lines.append(
            f"{verdict['name']:10} {verdict['ratio']:6.2f} {turns:18} goal {sign} "
            f"{verdict['goal']:<4g} {met:6}  {about[verdict['name']]}"
        )
    return lines


def _three(row: Mapping[str, float], *names: str) -> str:
    return "/".join(f"{row[name]:.0f}" for name in names)


def _marked(row: Mapping[str, float]) -> str:
    """Mark a figure among whose runs there are outliers, by how many."""
    return f" *{row['outliers']:.0f}" if row["outliers"] else ""
