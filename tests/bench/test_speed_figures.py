"""Costs, percentiles and ratios worked by hand; nothing is timed."""

from __future__ import annotations

import pytest

from memcli.bench.quality import percentile
from memcli.bench.speed import (
    Process,
    cost,
    documents,
    outliers,
    queries,
    ratios,
    searches,
    slower,
    spread,
    spreads,
    text,
    verdicts,
)
from memcli.bench.traces import Floors, Spread, encode
from tests.bench.makers import speed

NAMES = ("help", "keyword", "hybrid", "embedding", "no_change")


def test_a_percentile_is_a_value_that_was_measured() -> None:
    values = [float(n) for n in range(1, 21)]
    assert (percentile(values, 0.5), percentile(values, 0.95)) == (10.0, 19.0)
    assert (percentile([3.0], 0.95), percentile([], 0.5)) == (3.0, 0.0)


def test_the_cost_of_a_program_is_its_least_cpu_and_greatest_memory() -> None:
    runs = [Process(0.3, 0.2, 2048, 0), Process(0.1, 0.25, 4096, 0)]
    assert encode(cost(runs)) == {
        "runs": 2, "outliers": 0, "cpu_ms": 200.0, "cpu_p50_ms": 200.0, "cpu_most_ms": 250.0,
        "wall_least_ms": 100.0, "wall_p50_ms": 100.0, "wall_p95_ms": 300.0, "wall_most_ms": 300.0,
        "peak_mb": 4.0,
    }  # fmt: skip


def test_of_one_run_no_figure_is_given() -> None:
    for sum_up in (spread, searches):
        with pytest.raises(ValueError, match="1 runs have no spread, and so give no figure"):
            sum_up([0.5])
    with pytest.raises(ValueError, match="no figure"):
        cost([Process(0.3, 0.2, 2048, 0)])


def test_an_outlier_lies_ten_deviations_from_the_median() -> None:
    # The median is 10 and the median deviation 1, so 14.826 away is the edge.
    usual = [8.0, 9.0, 9.0, 10.0, 11.0, 11.0]
    assert outliers([*usual, 24.8]) == []
    assert outliers([*usual, 24.9]) == [24.9]
    assert outliers([5.0, 5.0, 5.0, 5.1]) == [5.1]
    assert outliers([5.0, 5.0]) == outliers([1.0, 1000.0]) == []
    assert spread([*usual, 24.9]) == Spread(7, 8.0, 10.0, 24.9, 24.9, 1)


def test_a_run_is_an_outlier_once_by_wall_or_cpu_time() -> None:
    usual = [Process(wall, wall, 1024, 0) for wall in (0.10, 0.11, 0.12, 0.13, 0.14)]
    assert cost(usual).outliers == 0
    for wall, cpu in ((9.0, 0.1), (0.1, 9.0), (9.0, 9.0)):
        assert cost([*usual, Process(wall, cpu, 1024, 0)]).outliers == 1


SECONDS = {
    "interpreter": 0.010, "help": 0.020, "keyword": 0.100, "keyword_no_sync": 0.090,
    "hybrid": 0.150, "no_change": 0.096, "walk": 0.002, "encoder": 1.0, "model": 0.9,
}  # fmt: skip


def test_ratios_set_each_cost_beside_its_floor() -> None:
    found = ratios(SECONDS)
    assert found == pytest.approx(
        {"help": 2.0, "keyword": 10.0, "hybrid": 1.5, "embedding": 0.9, "no_change": 3.0}
    )


def test_what_was_not_measured_has_no_ratio() -> None:
    there = {n: s for n, s in SECONDS.items() if n not in ("hybrid", "model")} | {"walk": 0.0}
    assert set(ratios(there)) == {"help", "keyword"}


def test_the_spread_of_a_ratio_is_that_of_its_turns() -> None:
    seconds = {name: [value, value] for name, value in SECONDS.items()}
    seconds["help"] = [0.020, 0.030]
    found = spreads({"documents_per_s": [3.0, 4.0]}, seconds)
    assert found["documents_per_s"] == Spread(2, 3.0, 3.0, 4.0, 4.0, 0)
    assert found["ratios.help"][1:] == pytest.approx((2.0, 2.0, 3.0, 3.0, 0))
    assert set(found) - {"documents_per_s"} == {f"ratios.{name}" for name in ratios(SECONDS)}
    with pytest.raises(ValueError, match="zip"):
        spreads({}, {**seconds, "walk": [0.002]})


def test_no_figure_is_printed_without_its_spread_and_outliers_are_marked() -> None:
    usual = [Process(wall, wall, 2048, 0) for wall in (0.010, 0.011, 0.012, 0.013)]
    far = [*usual, Process(0.9, 0.01, 2048, 0)]
    seconds = {name: [value] * 4 for name, value in SECONDS.items()}
    rates = {
        "documents_per_s": [10.0, 11.0, 12.0, 13.0], "interpreter_cpu_ms": [9.0, 9.5, 10.0, 10.5],
        "memory_gb_per_s": [4.0, 5.0, 6.0, 7.0], "walk_ms": [0.5, 0.6, 0.7, 90.0],
    }  # fmt: skip
    shown = text(
        speed(
            cold={"help": cost(usual), "keyword": cost(far)},
            warm={"keyword": searches([0.001, 0.002, 0.003])},
            index_=cost(usual)._replace(documents_per_s=13.0),
            documents=3, chunks=7, store_bytes=1 << 20, notes_bytes=1 << 19,
            floors=Floors(9.0, 1.0, None, 7.0, 0.5),
            spread=spreads(rates, seconds),
            goals=verdicts({"help": 2.0}),
        )
    )  # fmt: skip
    assert (
        shown
        == """\
of 4 runs                     CPU ms                 wall ms    p95  peak MB
                      least/p50/most          least/p50/most
cold help                   10/11/13                10/11/13     13        2
cold keyword                10/11/13               10/12/900    900        2 *1
index, keywords             10/11/13                10/11/13     13        2

warm keyword, 3 searches: p50 2.0 ms, p95 3.0 ms, 1.0 to 3.0
3 documents, 7 chunks: 13 documents/s by keywords (10 to 13)
size: 1.0 MB for 0.5 MB of notes
floors: interpreter 9 ms CPU (9 to 10), memory 7.0 GB/s (4.0 to 7.0), walk 0.5 ms (0.5 to 90.0 *1)

help         2.00 (2.00 to 2.00)     goal <= 9    met     CPU of --help / CPU of a bare interpreter

* outliers, 14.8 MAD from the median: the machine had other work
"""
    )


def test_all_but_the_speed_of_embedding_must_stay_below_its_goal() -> None:
    goals = {each.name: each.goal for each in verdicts(dict.fromkeys(NAMES, 1.0))}
    for factor, missed in ((1.001, set(NAMES) - {"embedding"}), (0.999, {"embedding"})):
        found = verdicts({name: factor * goal for name, goal in goals.items()})
        assert {each.name for each in found if not each.met} == missed
    assert all(each.met for each in verdicts(goals))


def test_slower_looks_at_ratios_both_ways() -> None:
    before = {"keyword": 10.0, "embedding": 0.9, "no_change": 0.1, "hybrid": 0.0}
    after = {"keyword": 21.0, "embedding": 0.3, "no_change": 9.0, "hybrid": 9.0}
    assert slower(before, after, 2.0) == [
        "speed: keyword is 2.1 times as slow (10.00 -> 21.00)",
        "speed: embedding is 3.0 times as slow (0.90 -> 0.30)",
    ]
    assert slower(before, before, 1.0) == []


def test_made_up_notes_are_the_same_for_the_same_seed() -> None:
    notes = list(documents(3, 7))
    assert notes == list(documents(3, 7))
    assert notes != list(documents(3, 8))
    assert [path for path, _ in notes] == [f"memory/2020-01-0{n + 1}-00000{n}.md" for n in range(3)]
    assert queries(2) == queries(2)


@pytest.mark.parametrize("count", [1, 4])
def test_made_up_queries_use_the_words_of_the_notes(count: int) -> None:
    text = "".join(text for _, text in documents(60))
    for query in queries(count):
        assert set(query.split()) - set(text.split()) <= {"why"}
