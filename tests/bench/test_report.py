"""Reports as characters and as a page, from receipts made by hand."""

from __future__ import annotations

import re
from typing import Any

from memcli.bench.quality_text import table, worst_cases
from memcli.bench.report import report, text
from memcli.bench.report_html import POLICY, page
from memcli.bench.traces import GoalResult, HintRate, IndexState
from memcli.render.width import columns
from tests.bench.makers import receipt, row, speed, with_quality

HISTORY = [
    receipt("2026-01-01T03:00:00+00:00", [row("a", 1.0), row("b", 0.5, rank=2)], revision=1),
    receipt("2026-01-02T03:00:00+00:00", [row("a", 1.0), row("b", 0.0, rank=None, stage="recall")],
            revision=2),
]  # fmt: skip


def test_the_terminal_report_shows_trend_categories_worst_and_changes() -> None:
    lines = text(report(HISTORY)).splitlines()
    assert lines[0] == "2 runs, 2026-01-01 to 2026-01-02"
    assert "nDCG@10        0.750 ▇▅ 0.500" in lines
    assert "p95 ms         2.0 ██ 2.0" in lines
    assert "  all     2  0.500 ████████████████████" in lines
    assert '  0.000  b "b?" (not found, lost at recall: why)' in lines
    assert "  2026-01-02T03:00  index 1 -> 2" in lines
    assert "Speed, as ratios" not in lines


def test_both_reports_show_the_goals_of_speed_that_a_run_has() -> None:
    held = receipt("2026-01-01T03:00:00+00:00", [row("a", 1.0)])
    goal = GoalResult("hybrid", 2.5, 1.8, at_least=False, met=False)
    made = report([held._replace(speed=speed(ratios={"hybrid": 2.5}, goals=(goal,)))])
    assert "Speed, as ratios\n  hybrid       2.50  goal <= 1.8  MISSED\n" in text(made)
    assert '<td class="number">≤ 1.8</td><td class="why">missed</td>' in page(made, {})


def test_latency_of_another_machine_is_left_out() -> None:
    there = receipt("2026-01-03T03:00:00+00:00", [row("a", 1.0)], machine="m2")
    made = report([*HISTORY, there])
    assert made.latency.values == (None, None, 2.0)
    assert "p95 ms         2.0   █ 2.0" in text(made).splitlines()


def test_the_page_escapes_memory_text_and_can_fetch_nothing() -> None:
    evil = row("x", 0.0, rank=None)._replace(query="<img src=http://evil onerror=alert(1)>")
    shown = page(report([receipt("2026-01-01T03:00:00+00:00", [evil])]), {})
    assert "&lt;img src=http://evil onerror=alert(1)&gt;" in shown
    assert "<img" not in shown
    assert f'content="{POLICY}"' in shown
    assert not re.search(r"<(?:script|link|iframe)\b|\b(?:src|href)=|@import|url\(", shown.replace(
        "src=http://evil", ""))  # fmt: skip
    for scheme in ("prefers-color-scheme: dark", "@media print"):
        assert scheme in shown


def test_the_page_escapes_the_figures_of_a_receipt_that_somebody_else_made() -> None:
    made = receipt("2026-01-01T03:00:00+00:00", [row("1", 1.0)])
    script: Any = ["<script>"] * 6
    evil = with_quality(made, index_=IndexState(*script), hints=HintRate(*script[:4]))
    assert "<script>" not in page(report([evil]), {})


def test_the_page_shows_an_ablation_that_a_receipt_holds() -> None:
    held = receipt("2026-01-01T03:00:00+00:00", [row("a", 1.0)])
    held = with_quality(held, ablation=({"without": "dense", "nDCG@10": 0.25},))
    assert '<td class="text">dense</td><td class="number">0.250</td>' in page(report([held]), {})
    assert "  dense    0.250" in text(report([held]))


def test_the_page_tells_what_got_worse_and_where_the_worst_stood() -> None:
    shown = page(report(HISTORY), {})
    assert '<td class="text">b?</td><td class="number">-</td>' in shown.replace("\n", "")
    when = '<td class="text">2026-01-02T03:00</td><td class="why">index 1 -&gt; 2</td>'
    assert when in shown
    worse = [HISTORY[0], HISTORY[1]._replace(regressions=("nDCG@10 is <lower>", "b is missed"))]
    notices = re.findall(r'<p class="notice">(.*?)</p>', page(report(worse), {}))
    assert notices == ["nDCG@10 is &lt;lower&gt;", "b is missed"]


def test_the_page_shows_the_fifteen_worst_and_what_hints_mended() -> None:
    rows = [row(f"q{n}", 0.0, rank=None) for n in range(20)]
    held = receipt("2026-01-01T03:00:00+00:00", rows)
    held = with_quality(held, hints=HintRate(4, 2, 1, 0.25))
    made = report([held])
    assert len(made.worst) == 15
    assert "<li><b>1 of 4</b><span>answered only with hints</span></li>" in page(made, {})


def test_a_long_id_stays_next_to_its_score() -> None:
    shown = worst_cases([row("x" * 80, 0.0), row("y", 0.5)])
    why = " " * 9 + f'"{"x" * 80}?"'
    assert shown.splitlines()[:4] == ["", "Worst:", f"  0.000  {'x' * 80}", why]
    assert shown.splitlines()[-1].startswith('  0.500  y "y?" (')


def test_columns_line_up_under_wide_signs() -> None:
    lines = table({"中文": {"queries": 1}, "all": {"queries": 1}}).splitlines()
    assert [columns(line) for line in lines] == [columns(lines[0])] * 3


def test_the_page_shows_how_far_the_last_run_moved() -> None:
    shown = page(report(HISTORY), {})
    assert '<b>0.500</b><span>nDCG@10 <span class="worse">-0.250</span></span>' in shown
    again = [*HISTORY, HISTORY[-1]._replace(now="2026-01-03T03:00:00+00:00")]
    assert "<b>0.500</b><span>nDCG@10 ±0</span>" in page(report(again), {})
    up = page(report([HISTORY[-1], HISTORY[0]._replace(now="2026-01-03T03:00:00+00:00")]), {})
    assert '<span class="better">+0.250</span>' in up
