"""Costs, percentiles and ratios worked by hand; nothing is timed."""

from __future__ import annotations

import pytest

from memcli.bench import synthetic
from memcli.bench.quality import percentile
from memcli.bench.speed import Process, cost, processes, ratios, slower, verdicts


def test_a_percentile_is_a_value_that_was_measured() -> None:
    values = [float(n) for n in range(1, 21)]
    assert (percentile(values, 0.5), percentile(values, 0.95)) == (10.0, 19.0)
    assert (percentile([3.0], 0.95), percentile([], 0.5)) == (3.0, 0.0)


def test_the_cost_of_a_program_is_its_least_cpu_and_greatest_memory() -> None:
    runs = processes([[0.3, 0.2, 2048, 0], [0.1, 0.25, 4096, 0]])
    assert runs[0] == Process(0.3, 0.2, 2048, 0)
    assert cost(runs) == {
        "cpu_ms": 200.0, "wall_p50_ms": 100.0, "wall_p95_ms": 300.0, "peak_mb": 4.0
    }  # fmt: skip


def _cpu(milliseconds: float) -> dict[str, float]:
    return {"cpu_ms": milliseconds}


FIGURES = {
    "cold": {
        "help": _cpu(20.0), "keyword": _cpu(100.0), "keyword_no_sync": _cpu(90.0),
        "hybrid": _cpu(150.0),
    },
    "sync": {"no_change": _cpu(96.0)},
    "embedding_texts_per_s": 45.0,
}  # fmt: skip
FLOORS = {"interpreter_cpu_ms": 10.0, "model_texts_per_s": 50.0, "walk_ms": 2.0}


def test_ratios_set_each_cost_beside_its_floor() -> None:
    found = ratios(FIGURES, FLOORS)
    assert found == {
        "help": 2.0, "keyword": 10.0, "hybrid": 1.5, "embedding": 0.9, "no_change": 3.0
    }  # fmt: skip
    assert all(verdict["met"] for verdict in verdicts(found))
    assert [v["met"] for v in verdicts({"help": 9.5, "embedding": 0.89})] == [False, False]


def test_what_was_not_measured_has_no_ratio() -> None:
    cold = {name: value for name, value in FIGURES["cold"].items() if name != "hybrid"}  # type: ignore[attr-defined]
    figures = {**FIGURES, "cold": cold, "embedding_texts_per_s": None}
    assert set(ratios(figures, {**FLOORS, "walk_ms": 0.0})) == {"help", "keyword"}


def test_slower_looks_at_ratios_both_ways() -> None:
    before = {"ratios": {"keyword": 10.0, "embedding": 0.9, "no_change": 0.1}}
    after = {"ratios": {"keyword": 21.0, "embedding": 0.3, "no_change": 9.0}}
    assert slower(before, after, 2.0) == [
        "speed: keyword is 2.1 times as slow (10.00 -> 21.00)",
        "speed: embedding is 3.0 times as slow (0.90 -> 0.30)",
    ]
    assert slower(before, before, 1.0) == []


def test_made_up_notes_are_the_same_for_the_same_seed() -> None:
    notes = list(synthetic.documents(3, 7))
    assert notes == list(synthetic.documents(3, 7))
    assert notes != list(synthetic.documents(3, 8))
    assert [path for path, _ in notes] == [f"memory/2020-01-0{n + 1}-00000{n}.md" for n in range(3)]
    assert synthetic.queries(2) == synthetic.queries(2)


@pytest.mark.parametrize("count", [1, 4])
def test_made_up_queries_use_the_words_of_the_notes(count: int) -> None:
    text = "".join(text for _, text in synthetic.documents(60))
    for query in synthetic.queries(count):
        assert set(query.split()) - set(text.split()) <= {"why"}
