"""Gates, what moved, and the history they are held against."""

from __future__ import annotations

import pytest

from memcli.bench.compare import compare, text
from memcli.bench.quality_text import changes
from memcli.bench.queries import HIGH, read_queries
from memcli.bench.runs import (
    Gate,
    Gates,
    drop,
    failures,
    moves,
    newly_missed,
    parse_gate,
    read_baseline,
    reference,
    regressions,
    unaccepted_misses,
    worst,
)
from memcli.bench.runs import changes as changed
from memcli.bench.traces import CheckTrace, SpeedTrace, encode
from memcli.errors import UsageError
from tests.bench import makers
from tests.bench.makers import receipt, row, with_quality

OLD = [row("a", 1.0), row("b", 0.5, rank=3, importance=1.0), row("c", 0.25, rank=8)]
NEW = [row("a", 1.0), row("b", 0.0, rank=None, importance=1.0, stage="recall"), row("d", 1.0)]


def test_a_gate_is_a_metric_and_a_number_and_an_error_names_the_metrics() -> None:
    assert parse_gate("ndcg@10=0.6") == Gate("nDCG@10", 0.6)
    for unclear in ("nDCG@10", "nDCG@10=", "nDCG@3=0.5", "Hit@1=1.5", "Hit@1=nan"):
        with pytest.raises(UsageError, match="MRR@10"):
            parse_gate(unclear)


def test_only_questions_of_both_runs_count_for_a_drop() -> None:
    """a stays, b falls by 0.5: a mean of 0.25 over two; c and d are in one run alone."""
    assert drop(OLD, NEW) == 0.25
    assert [(m.after.id, m.delta) for m in moves(OLD, NEW)] == [("b", -0.5)]
    assert drop(OLD, [row("z", 1.0)]) == 0.0


def test_the_line_of_a_gate_names_the_culprit() -> None:
    gates = Gates((Gate("nDCG@10", 0.9),), 0.02, 100.0)
    assert failures(gates, {"nDCG@10": 0.5}, NEW, OLD, 120.0) == [
        'nDCG@10 is 0.500, below 0.9; worst: b "b?" (not found, lost at recall: why)',
        'nDCG@10 fell from 0.750 to 0.500; worst: b "b?" (rank 3 -> not found, '
        "lost at recall: why)",
        "a search takes 120 ms (p95), above 100 ms",
    ]


def test_an_answer_that_is_still_there_moved_down_and_is_not_lost() -> None:
    gates = Gates((Gate("nDCG@10", 0.9),), 0.02, 100.0)
    (line,) = failures(gates, {"nDCG@10": 0.5}, [row("c", 0.25, rank=8, stage="mmr")], (), 9.0)
    assert line.endswith('worst: c "c?" (rank 8: mmr why)')


def test_a_gate_that_is_just_reached_passes() -> None:
    gates = Gates((Gate("nDCG@10", 0.5),), 0.25, 120.0)
    assert failures(gates, {"nDCG@10": 0.5}, NEW, OLD, 120.0) == []


def test_only_important_questions_are_newly_missed() -> None:
    assert [move.after.id for move in newly_missed(OLD, NEW)] == ["b"]
    minor = [r._replace(importance=0.5) for r in NEW]
    assert newly_missed(OLD, minor) == []


def test_worst_cases_put_the_important_ones_first_and_leave_out_the_perfect() -> None:
    rows = [row("x", 0.0), row("y", 0.0, importance=1.0), row("z", 1.0), row("w", 0.5)]
    assert [r.id for r in worst(rows, 3)] == ["y", "x", "w"]


def test_a_run_file_and_a_receipt_serve_as_baseline() -> None:
    queries = read_queries(['{"id": "a", "query": "q", "relevant": "a.md"}'], "q")
    run = '{"id": "a", "results": [{"path": "b.md"}, {"path": "a.md", "start_line": 3}]}\n'
    (found,) = read_baseline(run, "run.jsonl", queries, lambda path: [1.0] * 5)
    assert (found.rank, found.scores["MRR@10"]) == (2, 0.5)
    from memcli.render.jsonio import dumps

    kept = receipt("2026-01-01T00:00:00+00:00", OLD)
    assert read_baseline(dumps(encode(kept)), "r.json", queries, lambda path: ()) == OLD
    with pytest.raises(UsageError, match=r"x\.json is not a results file"):
        read_baseline('{"schema": "other"}', "x.json", queries, lambda path: ())


def test_a_run_is_held_against_the_best_since_the_last_that_was_accepted() -> None:
    def run(day: int, score: float, *, accepted: bool = False) -> CheckTrace:
        return receipt(f"2026-01-0{day}T00:00:00+00:00", [row("a", score)], accepted=accepted)

    history = [run(1, 0.9), run(2, 0.5, accepted=True), run(3, 0.7), run(4, 0.7), run(5, 0.6)]
    best = reference(history)
    assert best
    assert best.now[:10] == "2026-01-03"
    assert reference([]) is None


def test_a_slow_decline_is_seen_in_the_end() -> None:
    """Each night loses 0.015, which --max-drop 0.02 allows from one night to the next."""
    history = [receipt("2026-01-01T00:00:00+00:00", [row("a", 0.9)])]
    spoken = []
    for night in range(1, 4):
        run = receipt(f"2026-01-0{night + 1}T00:00:00+00:00", [row("a", 0.9 - 0.015 * night)])
        before = reference(history)
        assert before
        spoken.append(len(regressions(before, run, 0.02)))
        history.append(run)
    assert spoken == [0, 1, 1]


def test_a_regression_says_what_changed_and_who_suffers() -> None:
    before = receipt("2026-01-01T00:00:00+00:00", OLD, revision=4)
    after = receipt("2026-01-02T00:00:00+00:00", NEW, revision=7)
    assert regressions(before, after, 0.02) == [
        "nDCG@10 is 0.250 lower than on 2026-01-01 (index 4 -> 7); "
        'worst: b "b?" (rank 3 -> not found, lost at recall: why)',
        'newly missed since 2026-01-01: b "b?" (rank 3 -> not found, lost at recall: why)',
    ]


def test_an_important_question_that_misses_is_told_until_a_run_is_accepted() -> None:
    missed = [
        row("a", 0.0, rank=None, importance=HIGH), row("b", 1.0, importance=1.0),
        row("c", 0.0, rank=None), row("d", 0.0, rank=6, importance=1.0),
    ]  # fmt: skip
    now = receipt("2026-01-03T00:00:00+00:00", missed)
    lead = "of high importance and missed: "
    assert unaccepted_misses([], None, now) == [
        f'{lead}a "a?" (not found)', f'{lead}d "d?" (rank 6)'
    ]  # fmt: skip
    before = receipt("2026-01-02T00:00:00+00:00", [row("a", 1.0), row("d", 0.0, rank=None)])
    assert unaccepted_misses([], before, now) == [f'{lead}d "d?" (rank 6)']
    taken = receipt("2026-01-01T00:00:00+00:00", [row("d", 0.0, rank=None)], accepted=True)
    assert unaccepted_misses([taken, before], None, now) == [f'{lead}a "a?" (not found)']


def test_settings_that_differ_are_named() -> None:
    before, after = (receipt("2026-01-01T00:00:00+00:00", OLD) for _ in range(2))
    after = with_quality(after, settings={"search.fusion": "rrf", "search.limit": 5})
    assert changed(before, after) == ["search.fusion scaled -> rrf", "search.limit None -> 5"]
    assert changed(before, before) == []
    there = receipt("2026-01-01T00:00:00+00:00", OLD, machine="m2")
    assert changed(before, there) == ["another machine"]


def test_times_of_two_machines_are_never_compared() -> None:
    before = receipt("2026-01-01T00:00:00+00:00", OLD)
    here = receipt("2026-01-02T00:00:00+00:00", OLD)
    there = receipt("2026-01-02T00:00:00+00:00", OLD, machine="m2")
    assert compare(before, here)["milliseconds"] == {
        "before": {"search_p95": 2.0}, "after": {"search_p95": 2.0}
    }  # fmt: skip
    assert compare(before, there)["milliseconds"] is None
    shown = text(before, there)
    assert "p95" not in shown
    assert "search p95" in text(before, here)
    assert "Times are not compared: the results are of two machines." in shown
    timed = [each._replace(speed=makers.speed(ratios={"keyword": 3.5})) for each in (before, there)]
    (ratio,) = (line for line in text(*timed).split("\n") if line.startswith("x keyword"))
    assert ratio.split()[2:4] == ["3.50", "3.50"]


def test_a_comparison_is_over_common_questions() -> None:
    found = compare(*(receipt(f"2026-01-0{n}T00:00:00+00:00", r) for n, r in ((1, OLD), (2, NEW))))
    assert found["queries"] == 2
    assert (found["only_before"], found["only_after"]) == (["c"], ["d"])
    assert found["metrics"]["nDCG@10"] == {"before": 0.75, "after": 0.5}


def test_speed_receipts_are_compared_by_their_ratios() -> None:
    def speed(machine: str, cpu: float) -> SpeedTrace:
        usual = makers.speed()
        return usual._replace(
            machine=usual.machine._replace(id=machine, cpu=machine),
            cold={"help": usual.index_._replace(cpu_ms=cpu)},
            ratios={"help": cpu / 10},
        )

    found = compare(speed("m1", 20.0), speed("m2", 30.0))
    assert (found["milliseconds"], found["queries"], found["metrics"]) == (None, 0, {})
    assert found["ratios"] == {"before": {"help": 2.0}, "after": {"help": 3.0}}
    assert found["changes"] == ["cpu m1 -> m2", "id m1 -> m2"]
    here = text(speed("m1", 20.0), speed("m1", 30.0)).splitlines()
    assert here[-2:] == [
        "ms cold help                20.0    30.0    +10.0",
        "x help                      2.00    3.00    +1.00",
    ]


def test_a_drop_as_large_as_is_let_pass_is_no_regression() -> None:
    before, after = (receipt(f"2026-01-0{day}T00:00:00+00:00", rows) for day, rows in
                     ((1, [row("a", 1.0)]), (2, [row("a", 0.75, rank=2)])))  # fmt: skip
    assert regressions(before, after, 0.25) == []
    (line,) = regressions(before, after, 0.2)
    assert line.startswith("nDCG@10 is 0.250 lower than on 2026-01-01")


def test_what_moved_is_told_of_a_run_and_its_baseline() -> None:
    assert changes([], 3) == "\nAgainst the baseline: nothing moved in 3 questions.\n"
    first, second = changes(moves(OLD, NEW), 2).strip().split("\n")
    figures = "1 worse, 0 better, 0 changed in other ways, of 2 questions."
    assert first == f"Against the baseline: {figures}"
    assert second.startswith("  -0.500  b ")
