"""Speed figures as ratios to baselines of the same run and machine; pure.

A time by itself depends on the machine. Its ratio to a baseline that was measured at the same time
on the same machine is the cost of the program; memcli compares only ratios between machines. Every
figure has its spread (least, median and most of at least two runs) and its number of outliers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta
from random import Random
from statistics import median

from memcli.bench import traces
from memcli.bench.quality import percentile
from memcli.bench.traces import Cost, Floors, GoalResult, SearchTimes, SpeedTrace, Spread
from memcli.record import Record


class Process(Record):
    """The cost of one run of a program."""

    wall_s: float
    cpu_s: float
    peak_kb: int
    exit_code: int


class InsideFigures(Record):
    """Figures that were measured without starting a process."""

    warm: Mapping[str, Sequence[float]]  # seconds of searches, by mode
    seconds: Mapping[str, Sequence[float]]  # for `ratios`
    rates: Mapping[str, Sequence[float]]  # by their names in the trace
    counts: Mapping[str, int]


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
    Goal("embedding", 0.9, True, "texts per second / those of the bare model on the same texts"),
    Goal("no_change", 3.0, False, "CPU of a no-change index above a --no-sync search / the walk"),
)


LEAST_RUNS = 2  # a spread needs two
# A modified z-score: the distance of a value from the median, in median absolute deviations (MAD).
# Ten standard deviations, where 1.4826 MAD equal one, as in hyperfine
# (src/outlier_detection.rs), after Iglewicz and Hoaglin, "How to Detect and Handle Outliers", 1993.
OUTLIER = 1.4826 * 10


def spread(values: Sequence[float]) -> Spread:
    """Sum up values; ValueError if there are too few for a spread."""
    if len(values) < LEAST_RUNS:
        raise ValueError(f"{len(values)} runs have no spread, and so give no figure")
    p50, p95 = percentile(values, 0.5), percentile(values, 0.95)
    return Spread(len(values), min(values), p50, p95, max(values), len(outliers(values)))


def outliers(values: Sequence[float]) -> list[float]:
    """Return the values that probably measure something else.

    If more than half of the values are equal, all others are outliers.
    """
    middle = median(values)
    deviation = median(abs(value - middle) for value in values)
    return [value for value in values if abs(value - middle) > OUTLIER * deviation]


def cost(runs: Sequence[Process]) -> Cost:
    """Sum up runs of one program: CPU and wall times, the greatest peak of memory.

    `cpu_ms` is the least, because other work on the machine can only lengthen a time. A run is an
    outlier if its wall or CPU time is one.
    """
    cpu, wall = [run.cpu_s for run in runs], [run.wall_s for run in runs]
    cpus, walls = spread(cpu), spread(wall)
    far_cpu, far_wall = outliers(cpu), outliers(wall)
    return Cost(
        runs=len(runs),
        outliers=sum(run.cpu_s in far_cpu or run.wall_s in far_wall for run in runs),
        cpu_ms=cpus.least * 1000,
        cpu_p50_ms=cpus.p50 * 1000,
        cpu_most_ms=cpus.most * 1000,
        wall_least_ms=walls.least * 1000,
        wall_p50_ms=walls.p50 * 1000,
        wall_p95_ms=walls.p95 * 1000,
        wall_most_ms=walls.most * 1000,
        peak_mb=max(run.peak_kb for run in runs) / 1024,
    )


def searches(seconds: Sequence[float]) -> SearchTimes:
    """Sum up times of searches in one process."""
    runs, *times, outlying = spread(seconds)
    return SearchTimes(runs, outlying, *(each * 1000 for each in times))


def ratios(seconds: Mapping[str, float]) -> dict[str, float]:
    """Divide the figures by their baselines; a ratio without both parts is left out.

    Takes CPU seconds of `interpreter`, `help`, `keyword`, `keyword_no_sync`, `hybrid`, `no_change`,
    and wall seconds of `walk`, `encoder` and `model`, the last two of the same texts.
    """
    result = {
        "help": seconds["help"] / seconds["interpreter"],
        "keyword": seconds["keyword"] / seconds["interpreter"],
    }
    if "hybrid" in seconds:
        result["hybrid"] = seconds["hybrid"] / seconds["keyword"]
    if "encoder" in seconds and "model" in seconds:
        result["embedding"] = seconds["model"] / seconds["encoder"]
    if seconds["walk"]:
        above = seconds["no_change"] - seconds["keyword_no_sync"]
        result["no_change"] = max(0.0, above) / seconds["walk"]
    return result


def spreads(
    rates: Mapping[str, Sequence[float]], seconds: Mapping[str, Sequence[float]]
) -> dict[str, Spread]:
    """Sum up rates, and the ratios of each turn as `ratios.NAME`.

    Each kind has equally many seconds. The spread shows how much single measurements differ.
    """
    rows = {name: list(values) for name, values in rates.items()}
    for turn in zip(*seconds.values(), strict=True):
        for name, ratio in ratios(dict(zip(seconds, turn, strict=True))).items():
            rows.setdefault(f"ratios.{name}", []).append(ratio)
    return {name: spread(values) for name, values in rows.items()}


def figures(
    started: Mapping[str, Sequence[Process]], inside: InsideFigures, now: str, generated: int | None
) -> SpeedTrace:
    """Sum up what was measured, each figure with its spread."""
    costs = {name: cost(runs) for name, runs in started.items()}
    apart = ("interpreter", "no_change", "one_change", "index")
    cpu = {name: [run.cpu_s for run in runs] for name, runs in started.items()}
    seconds = {n: cpu[n] for n in cpu if n not in ("one_change", "index")} | {**inside.seconds}
    rates = {
        "documents_per_s": [inside.counts["documents"] / run.wall_s for run in started["index"]],
        "interpreter_cpu_ms": [1000 * each for each in cpu["interpreter"]],
        **inside.rates,
    }
    best = {name: max(values) for name, values in rates.items()}
    least = ratios({name: min(values) for name, values in seconds.items()})
    interpreter = costs["interpreter"]
    return SpeedTrace(
        schema=traces.SPEED,
        now=now,
        generated=generated,
        machine=traces.this_machine(),
        cold={name: row for name, row in costs.items() if name not in apart},
        sync={"no_change": costs["no_change"], "one_change": costs["one_change"]},
        index_=costs["index"]._replace(documents_per_s=best["documents_per_s"]),
        warm={mode: searches(times) for mode, times in inside.warm.items()},
        **inside.counts,
        embedding_texts_per_s=best.get("embedding_texts_per_s"),
        floors=Floors(
            interpreter.cpu_ms,
            interpreter.peak_mb,
            best.get("model_texts_per_s"),
            best["memory_gb_per_s"],
            min(rates["walk_ms"]),
        ),
        ratios=least,
        goals=verdicts(least),
        spread=spreads(rates, seconds),
    )


def verdicts(ratios: Mapping[str, float]) -> tuple[GoalResult, ...]:
    """Compare ratios with the goals."""
    return tuple(
        GoalResult(
            goal.name,
            ratio := ratios[goal.name],
            goal.bound,
            goal.at_least,
            ratio >= goal.bound if goal.at_least else ratio <= goal.bound,
        )
        for goal in GOALS
        if goal.name in ratios
    )


def slower(before: Mapping[str, float], after: Mapping[str, float], factor: float) -> list[str]:
    """Name the ratios that grew by more than `factor`; times do not count."""
    shrinking = {goal.name for goal in GOALS if goal.at_least}
    lines = []
    for name, ratio in after.items():
        was = before.get(name)
        if not was or not ratio or name == "no_change":  # it is a difference of two small times
            continue
        grew = was / ratio if name in shrinking else ratio / was
        if grew > factor:
            lines.append(f"speed: {name} is {grew:.1f} times as slow ({was:.2f} -> {ratio:.2f})")
    return lines


def text(trace: SpeedTrace) -> str:
    """Draw the figures as a table, with the ratios and their goals."""
    runs = f"of {trace.index_.runs} runs"
    lines = [
        f"{runs:18}{'CPU ms':>18}{'wall ms':>24}{'p95':>7}{'peak MB':>9}",
        f"{'':18}{'least/p50/most':>18}{'least/p50/most':>24}",
    ]
    rows = [*((f"cold {name}", row) for name, row in trace.cold.items())]
    rows += [(f"sync {name}", row) for name, row in trace.sync.items()]
    rows.append(("index, keywords", trace.index_))
    lines += [
        f"{name.replace('_', ' '):18}{_three(row.cpu_ms, row.cpu_p50_ms, row.cpu_most_ms):>18}"
        f"{_three(row.wall_least_ms, row.wall_p50_ms, row.wall_most_ms):>24}"
        f"{row.wall_p95_ms:7.0f}{row.peak_mb:9.0f}{_marked(row)}"
        for name, row in rows
    ]
    lines.append("")
    lines += [
        f"warm {name}, {row.runs} searches: p50 {row.p50_ms:.1f} ms, "
        f"p95 {row.p95_ms:.1f} ms, {row.least_ms:.1f} to {row.most_ms:.1f}{_marked(row)}"
        for name, row in trace.warm.items()
    ]
    lines += [*_rates(trace), "", *_goals(trace)]
    if any("*" in line for line in lines):
        lines += ["", f"* outliers, {OUTLIER:.1f} MAD from the median: the machine had other work"]
    return "\n".join(lines) + "\n"


def _rates(trace: SpeedTrace) -> list[str]:
    floors = trace.floors

    def ranged(name: str, digits: int) -> str:
        row = trace.spread[name]
        return f"{row.least:.{digits}f} to {row.most:.{digits}f}{_marked(row)}"

    lines = [
        f"{trace.documents} documents, {trace.chunks} chunks: "
        f"{trace.index_.documents_per_s:.0f} documents/s by keywords "
        f"({ranged('documents_per_s', 0)})"
    ]
    if trace.embedding_texts_per_s:
        lines.append(
            f"embedding: {trace.embedding_texts_per_s:.1f} texts/s "
            f"({ranged('embedding_texts_per_s', 1)})"
        )
    mega = 1024 * 1024
    lines.append(
        f"size: {trace.store_bytes / mega:.1f} MB for {trace.notes_bytes / mega:.1f} MB of notes"
    )
    baselines = [
        f"interpreter {floors.interpreter_cpu_ms:.0f} ms CPU ({ranged('interpreter_cpu_ms', 0)})"
    ]
    if floors.model_texts_per_s:
        baselines.append(
            f"bare model {floors.model_texts_per_s:.1f} texts/s ({ranged('model_texts_per_s', 1)})"
        )
    baselines.append(f"memory {floors.memory_gb_per_s:.1f} GB/s ({ranged('memory_gb_per_s', 1)})")
    baselines.append(f"walk {floors.walk_ms:.1f} ms ({ranged('walk_ms', 1)})")
    return [*lines, f"floors: {', '.join(baselines)}"]


def _goals(trace: SpeedTrace) -> list[str]:
    about = {goal.name: goal.about for goal in GOALS}
    lines = []
    for goal in trace.goals:
        row = trace.spread[f"ratios.{goal.name}"]
        turns = f"({row.least:.2f} to {row.most:.2f}){_marked(row)}"
        sign = ">=" if goal.at_least else "<="
        met = "met" if goal.met else "MISSED"
        lines.append(
            f"{goal.name:10} {goal.ratio:6.2f} {turns:18} goal {sign} "
            f"{goal.goal:<4g} {met:6}  {about[goal.name]}"
        )
    return lines


def _three(*values: float) -> str:
    return "/".join(f"{value:.0f}" for value in values)


def _marked(row: Spread | Cost | SearchTimes) -> str:
    """Mark a figure with the number of outliers among its runs."""
    return f" *{row.outliers}" if row.outliers else ""


FIRST_DAY = date(2020, 1, 1)
SECTIONS = 3
LINES = 4

_WHO = (
    "Ada", "Ben", "Cleo", "Dmitri", "Elena", "Farid", "Greta", "Hiro", "Ines", "Jonas", "Kira",
    "Liam", "Mona", "Nils", "Olga", "Priya",
)  # fmt: skip
_DID = (
    "moved", "fixed", "reviewed", "postponed", "measured", "replaced", "described", "removed",
    "restored", "compared", "planned", "drafted", "merged", "reported", "audited", "renamed",
)  # fmt: skip
_WHAT = (
    "connection pool", "release plan", "backup job", "search index", "garden fence",
    "travel budget", "login page", "billing report", "camera lens", "heating pump",
    "reading list", "message queue", "invoice template", "test harness", "shipping label",
    "password vault", "recipe book", "train ticket", "build cache", "log rotation",
)  # fmt: skip
_WHY = (
    "because it was too slow", "after the outage", "before the holiday", "to save money",
    "for the audit", "since nobody used it", "so that tests stay quick",
    "as the team had decided", "until the vendor replies",
)  # fmt: skip


def documents(count: int, seed: int = 0) -> Iterator[tuple[str, str]]:
    """Yield (path, text) of dated logs with a few sections each."""
    random = Random(seed)
    for number in range(count):
        day = FIRST_DAY + timedelta(days=number % 2000)
        lines = [f"# Log {number}"]
        for _ in range(SECTIONS):
            lines += ["", f"## {random.choice(_WHAT).capitalize()} {random.randrange(1000)}", ""]
            lines += [f"- {_sentence(random)}" for _ in range(LINES)]
        yield f"memory/{day.isoformat()}-{number:06}.md", "\n".join(lines) + "\n"


def queries(count: int, seed: int = 0) -> list[str]:
    """Return texts to search for that resemble the sentences."""
    random = Random(seed + 1)
    return [
        f"why {random.choice(_DID)} {random.choice(_WHO)} the {random.choice(_WHAT)}"
        for _ in range(count)
    ]


def _sentence(random: Random) -> str:
    return (
        f"{random.choice(_WHO)} {random.choice(_DID)} the {random.choice(_WHAT)} "
        f"{random.choice(_WHY)}, ticket OPS-{random.randrange(100_000)}."
    )
