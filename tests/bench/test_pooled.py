"""Sets of questions put together, and beside an earlier run."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from memcli.bench.compare import pooled, read_sets, sets_text
from memcli.bench.metrics import NAMES, Range
from memcli.bench.quality import QuestionResult, hint_rate, summary
from memcli.bench.quality_text import TABLE_NAMES
from memcli.bench.queries import Query
from memcli.bench.runs import row_of
from memcli.bench.traces import HintRate, QualityTrace, SetsTrace, encode
from memcli.errors import UsageError
from tests.bench import makers


def asked(
    name: str, score: float, *, hints: str = "", mended: bool | None = None
) -> QuestionResult:
    query = Query(name, f"where is {name}", "", None, (Range("a.md", 1, 1),), hints)
    return QuestionResult(query, (), dict.fromkeys(NAMES, score), 1.0, mended, None)


def receipt(*scores: float) -> QualityTrace:
    questions = [asked(f"q{at}", score) for at, score in enumerate(scores)]
    rows = tuple(row for each in questions if (row := row_of(each)))
    kept = makers.receipt("2026-01-01", [makers.row("q", 1.0)]).quality
    return kept._replace(queries=rows, categories=summary(questions))


def record(*sets: Sequence[float]) -> SetsTrace:
    traces = {f"set{at}": receipt(*scores) for at, scores in enumerate(sets)}
    return pooled(traces, None, "2026-01-01")


def test_what_was_written_is_read_back() -> None:
    before = record([1.0, 0.0], [0.5])
    assert read_sets(json.dumps(encode(before)), "before.json") == before


@pytest.mark.parametrize(
    "damage", [{"schema": "memcli.bench-quality/1"}, {"sets": {"a": encode(receipt(1.0)), "b": {}}}]
)
def test_what_is_no_receipt_of_sets_is_refused(damage: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="x is not a trace of several sets"):
        read_sets(json.dumps({**encode(record([1.0])), **damage}), "x")


def test_each_set_and_all_together_are_told_of_with_what_moved() -> None:
    now = {f"set{at}": receipt(*scores) for at, scores in enumerate(([1.0, 1.0], [0.5]))}
    made = pooled(now, record([1.0, 0.0], [0.5]), "2026-02-01")
    moved = sets_text(made).partition("Moved since 2026-01-01")[2]
    told = [line.split()[:3] for line in moved.splitlines()[2:]]
    assert told == [["set0", "2", "+.500"], ["set1", "1", "+.000"], ["all", "3", "+.333"]]


def test_beside_the_means_stands_half_of_their_interval() -> None:
    made = record([1.0, 0.0, 1.0], [0.5])
    (line,) = (line for line in sets_text(made).splitlines() if line.startswith("+-"))
    means = [made.pooled.metrics[name] for name in TABLE_NAMES]
    halves = [(each.high - each.low) / 2 for each in means]
    assert min(halves) > 0
    assert (
        len({len(row) for row in sets_text(made).splitlines() if row.startswith(("+-", "all"))})
        == 1
    )
    assert line.split()[1:] == [f"{half:.3f}" for half in halves]


def test_a_set_that_was_not_asked_before_is_left_out_of_what_moved() -> None:
    now = {"set0": receipt(1.0), "new": receipt(0.5)}
    made = pooled(now, record([0.0]), "2026-02-01")
    assert made.against
    assert list(made.against.sets) == ["set0"]
    with pytest.raises(UsageError, match="no question was asked in both runs"):
        pooled({"new": receipt(0.5)}, record([0.0]), "2026-02-01")


def test_hints_count_where_they_mend_what_was_missed() -> None:
    questions = [
        asked("a", 1.0, hints="x"), asked("b", 0.0, hints="x", mended=True),
        asked("c", 0.0, hints="x", mended=False), asked("d", 0.0),
    ]  # fmt: skip
    assert hint_rate(questions) == HintRate(3, 2, 1, 1 / 3)
    assert hint_rate([asked("a", 1.0)]).rate is None
