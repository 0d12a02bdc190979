"""The files that the bench writes and reads back, as records; pure.

`decode` turns JSON into a record, and `encode` does the reverse. A file that lacks a field, or has
a value of another type, is not a trace; unknown fields are ignored. A field that is None by default
is left out of the JSON. A trailing underscore is not part of a key.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from inspect import get_annotations
from math import isfinite
from types import NoneType, UnionType
from typing import Any, get_args, get_origin

from memcli import __version__
from memcli.bench.metrics import NAMES, Difference
from memcli.bench.queries import OVERALL
from memcli.record import Record

QUALITY = "memcli.bench-quality/1"
CHECK = "memcli.bench-check/1"
SETS = "memcli.bench-sets/1"
SPEED = "memcli.bench-speed/1"
_LARGE = 10**300  # the largest float is smaller


class BenchMachine(Record):
    """The machine of a run."""

    id: str
    system: str
    cpu: str
    cores: int
    python: str
    memcli: str


def this_machine() -> BenchMachine:
    """Describe this machine so that it differs from others, without naming its owner."""
    import os
    import platform
    import sys
    from hashlib import sha256

    cpu = platform.processor() or platform.machine()
    if os.path.exists("/proc/cpuinfo"):
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            models = (line for line in file if line.startswith("model name"))
            cpu = next(models, f":{cpu}").partition(":")[2].strip() or cpu
    cores = os.cpu_count() or 1
    features = f"{platform.node()}|{platform.machine()}|{cpu}|{cores}"
    return BenchMachine(
        id=sha256(features.encode()).hexdigest()[:12],
        system=f"{platform.system()} {platform.machine()}",
        cpu=cpu,
        cores=cores,
        python=".".join(map(str, sys.version_info[:3])),
        memcli=__version__,
    )


class QuestionFile(Record):
    """The file of questions, and how many of them name lines."""

    name: str
    judged: int


class IndexState(Record):
    """The index of a run."""

    revision: int
    fingerprint: str | None
    documents: int
    chunks: int
    segments: int
    embedded: int


class Latency(Record):
    """The times of the searches, in milliseconds."""

    p50: float
    p95: float


class HintRate(Record):
    """How many questions with hints fail without them, and how many succeed with them."""

    queries: int
    missed: int
    mended: int
    rate: float | None


class Row(Record):
    """One judged question in one run."""

    id: str
    query: str
    category: str
    importance: float
    rank: int | None  # of the first passage that touches judged lines
    scores: Mapping[str, float]
    stage: str  # where the judged lines were lost; empty if they are among the first
    why: str


class QualityTrace(Record):
    """One run of `bench quality`."""

    schema: str
    now: str
    questions: QuestionFile
    index_: IndexState
    settings: Mapping[str, object]
    machine: BenchMachine
    latency_ms: Latency
    categories: Mapping[str, Mapping[str, float]]
    hints: HintRate
    queries: tuple[Row, ...]
    ablation: tuple[Mapping[str, object], ...] | None = None
    baseline: Mapping[str, object] | None = None
    failed: tuple[str, ...] | None = None

    @property
    def is_complete(self) -> bool:
        """Return whether there are questions, and every question has every figure."""
        rows = [row.scores for row in self.queries]
        means = self.categories.values()
        return (
            bool(rows)
            and OVERALL in self.categories
            and all(each.keys() >= set(NAMES) for each in (*rows, *means))
            and all(type(each.get("queries")) is int for each in means)
        )

    @property
    def quality(self) -> QualityTrace:
        """Return the trace itself, as a check has one."""
        return self

    @property
    def speed(self) -> SpeedTrace | None:
        """Return None: no speed was measured."""
        return None

    @property
    def regressions(self) -> tuple[str, ...]:
        """Return nothing: nobody compared the run with a history."""
        return ()


class Cost(Record):
    """The cost of a program, over several runs."""

    runs: int
    outliers: int
    cpu_ms: float
    cpu_p50_ms: float
    cpu_most_ms: float
    wall_least_ms: float
    wall_p50_ms: float
    wall_p95_ms: float
    wall_most_ms: float
    peak_mb: float
    documents_per_s: float | None = None  # of an index


class SearchTimes(Record):
    """The times of searches in one process."""

    runs: int
    outliers: int
    least_ms: float
    p50_ms: float
    p95_ms: float
    most_ms: float


class Floors(Record):
    """What the machine needs without memcli."""

    interpreter_cpu_ms: float
    interpreter_peak_mb: float
    model_texts_per_s: float | None
    memory_gb_per_s: float
    walk_ms: float


class GoalResult(Record):
    """A ratio and its goal."""

    name: str
    ratio: float
    goal: float
    at_least: bool
    met: bool


class Spread(Record):
    """Several values of one kind, in their unit."""

    runs: int
    least: float
    p50: float
    p95: float
    most: float
    outliers: int


class SpeedTrace(Record):
    """One run of `bench speed`."""

    schema: str
    now: str
    generated: int | None
    machine: BenchMachine
    cold: Mapping[str, Cost]
    sync: Mapping[str, Cost]
    index_: Cost
    warm: Mapping[str, SearchTimes]
    documents: int
    chunks: int
    store_bytes: int
    notes_bytes: int
    embedding_texts_per_s: float | None
    floors: Floors
    ratios: Mapping[str, float]
    goals: tuple[GoalResult, ...]
    spread: Mapping[str, Spread]

    @property
    def quality(self) -> None:
        """Return None: no question was asked."""
        return

    @property
    def speed(self) -> SpeedTrace:
        """Return the trace itself, as a check has one."""
        return self


class CheckTrace(Record):
    """One run of `bench check`."""

    schema: str
    now: str
    accepted: bool
    sync: Mapping[str, int]
    quality: QualityTrace
    speed: SpeedTrace | None
    failures: tuple[str, ...]
    reference: str | None
    regressions: tuple[str, ...]

    @property
    def machine(self) -> BenchMachine:
        """Return the machine of the run."""
        return self.quality.machine


class Figures(Record):
    """The number of questions of several sets, and an interval per metric."""

    queries: int
    metrics: Mapping[str, Difference]


class Movement(Record):
    """The changes since an earlier run over several sets."""

    now: str  # of the earlier run
    sets: Mapping[str, Figures]
    pooled: Figures


class SetsTrace(Record):
    """One run of `bench quality` over several sets of questions."""

    schema: str
    now: str
    sets: Mapping[str, QualityTrace]
    pooled: Figures
    against: Movement | None = None
    failed: tuple[str, ...] = ()


Run = QualityTrace | CheckTrace
KINDS: Mapping[str, Any] = {
    QUALITY: QualityTrace, CHECK: CheckTrace, SETS: SetsTrace, SPEED: SpeedTrace,
}  # fmt: skip


def read(text: str, *kinds: type) -> Any:  # noqa: ANN401
    """Read a trace of one of these kinds; None if the text is anything else."""
    try:
        record = json.loads(text)
        kind = KINDS.get(record["schema"])
        return decode(kind, record) if kind in kinds else None
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def encode(value: Any) -> Any:  # noqa: ANN401
    """Make JSON of a record."""
    if isinstance(value, Mapping):
        return {key: encode(each) for key, each in value.items()}
    if hasattr(value, "_fields"):
        return {
            name.rstrip("_"): encode(each)
            for name, each in value._asdict().items()
            if each is not None or name not in value._field_defaults
        }
    return [encode(each) for each in value] if isinstance(value, list | tuple) else value


def decode(kind: Any, value: Any) -> Any:  # noqa: ANN401
    """Make a record of JSON; TypeError or ValueError if a field is missing or damaged."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is UnionType:
        return None if value is None else decode(next(k for k in inner if k != NoneType), value)
    if origin is tuple and isinstance(value, list):
        return tuple(decode(inner[0], each) for each in value)
    if origin is Mapping and isinstance(value, dict):
        return {key: decode(inner[1], each) for key, each in value.items()}
    if hasattr(kind, "_fields") and isinstance(value, dict):
        return _record(kind, value)
    numbers = {float: (int, float), int: (int,)}
    if kind in numbers and isinstance(value, numbers[kind]) and not isinstance(value, bool):
        is_usual = isfinite(value) if isinstance(value, float) else abs(value) < _LARGE
    else:
        is_usual = kind is object or (kind in (str, bool) and isinstance(value, kind))
    if not is_usual:
        raise ValueError(f"a value is not {kind}")
    return value


def _record(kind: Any, value: Mapping[str, object]) -> Any:  # noqa: ANN401
    if kind in KINDS.values() and KINDS.get(str(value.get("schema"))) is not kind:
        raise ValueError(f"{kind.__name__} has another schema")
    fields = {}
    for name, of in _types(kind).items():
        key = name.rstrip("_")
        if key in value:
            fields[name] = decode(of, value[key])
        elif name not in kind._field_defaults:
            raise ValueError(f"{kind.__name__} has no field {key}")
    made = kind(**fields)
    if not getattr(made, "is_complete", True):
        raise ValueError(f"{kind.__name__} lacks figures")
    return made


@cache
def _types(kind: type) -> dict[str, Any]:
    return get_annotations(kind, eval_str=True)
