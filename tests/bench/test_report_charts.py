"""The charts as drawn by the library of the extra [report]."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest

from memcli.bench.report import report
from memcli.bench.report_html import POLICY, charts, page
from tests.bench.makers import receipt, row, with_quality

RUNS = [
    receipt(f"2026-01-0{day}T03:00:00+00:00", [row("a", day / 10)]) for day in range(1, 4)
]  # fmt: skip
SCHEMES = ("dark", "light")  # in Chromium's order
# What the browser makes of the page, in pixels and colours.
MEASURES = """<script>
const style = getComputedStyle(document.body), root = document.documentElement;
const texts = [...document.querySelectorAll("svg text")].filter(each => each.textContent);
root.dataset.found = JSON.stringify({
  wide: root.scrollWidth, window: innerWidth, paper: style.backgroundColor, ink: style.color,
  smallest: Math.min(...texts.map(each => each.getBoundingClientRect().height)),
});
</script>"""


def test_charts_are_closed_drawings_in_the_colours_of_the_page() -> None:
    drawn = charts(report(RUNS))
    assert set(drawn) == {"quality", "categories", "latency"}
    for name, svg in drawn.items():
        root = ElementTree.fromstring(svg)
        assert root.tag.endswith("svg")
        assert root.get("id") == f"chart-{name}"
        assert "<script" not in svg
        assert "//kozea" not in svg
        assert "var(--series-1)" in svg


def test_times_are_drawn_where_any_run_of_this_machine_has_some() -> None:
    there = receipt("2026-01-04T03:00:00+00:00", [row("a", 1.0)], machine="m2")
    assert "latency" in charts(report([*RUNS, there]))


def test_equal_figures_are_drawn_alike() -> None:
    assert charts(report(RUNS)) == charts(report(RUNS))


def test_a_trend_names_its_days_and_metrics() -> None:
    svg = charts(report(RUNS))["quality"]
    for shown in ("2026-01-01", "2026-01-03", "nDCG@10", "Hit@5"):
        assert f">{shown}<" in svg


def test_a_long_trend_names_eight_of_its_days() -> None:
    many = [
        receipt(f"2026-01-{day:02}T03:00:00+00:00", [row("a", day / 40)]) for day in range(1, 31)
    ]
    svg = charts(report(many))["quality"]
    assert re.findall(r"<text[^>]*>(2026-[^<]*)<", svg) == [
        "2026-01-01", "2026-01-05", "2026-01-09", "2026-01-13", "2026-01-17", "2026-01-21",
        "2026-01-25", "2026-01-30",
    ]  # fmt: skip


@pytest.mark.parametrize("runs", [7, 8, 9, 12, 15, 40])
def test_the_days_below_a_trend_have_room(runs: int) -> None:
    many = [receipt(f"2026-01-01T03:{at:02}:00+00:00", [row("a", 0.5)]) for at in range(runs)]
    svg = charts(report(many))["quality"]
    at = [float(x) for x in re.findall(r'<text[^>]* x="([\d.]+)"[^>]*>2026-', svg)]
    assert len(at) > 3
    assert min(b - a for a, b in pairwise(at)) > 80


def _browsed(page: Path, width: int, scheme: str, *how: str) -> subprocess.CompletedProcess[str]:
    """Open a page in a browser without a screen; its console is on stderr."""
    names = ("chromium", "chromium-browser", "google-chrome")
    browser = next(filter(None, map(shutil.which, names)), None)
    assert browser, "this test needs a browser: apt-get install chromium"
    return subprocess.run(
        [
            browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
            "--disable-background-networking", "--disable-component-update", "--disable-sync",
            "--enable-logging=stderr", f"--user-data-dir={page.parent / 'browser'}",
            f"--blink-settings=preferredColorScheme={SCHEMES.index(scheme)}",
            f"--window-size={width},1000", *how, page.as_uri(),
        ],
        capture_output=True, text=True, check=True, timeout=100,
    )  # fmt: skip


@pytest.mark.nightly
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", [400, 1400])
def test_a_browser_shows_the_page_as_it_is_meant(tmp_path: Path, width: int, scheme: str) -> None:
    shown = page(report(RUNS * 4), charts(report(RUNS * 4)))
    plain, measured = tmp_path / "plain.html", tmp_path / "measured.html"
    plain.write_text(shown, "utf-8")
    measured.write_text(shown.replace(POLICY, "") + MEASURES, "utf-8")
    picture = tmp_path / "page.png"
    assert "CONSOLE" not in _browsed(plain, width, scheme, f"--screenshot={picture}").stderr
    assert picture.stat().st_size > 10_000
    dom = _browsed(measured, width, scheme, "--dump-dom").stdout
    found = json.loads(re.findall(r'data-found="([^"]*)"', dom)[0].replace("&quot;", '"'))
    assert found["wide"] <= found["window"]
    assert found["smallest"] >= 8
    assert found["paper"] == {"dark": "rgb(15, 19, 24)", "light": "rgb(255, 255, 255)"}[scheme]
    assert found["ink"] != found["paper"]


def test_the_page_holds_the_charts_and_nothing_it_would_fetch() -> None:
    shown = page(report(RUNS), charts(report(RUNS)))
    assert shown.count('<svg role="img" aria-label="') == 3
    assert set(re.findall(r"https?://[^\s\"'<>]+", shown)) == {"http://www.w3.org/2000/svg"}
    assert "<script" not in shown


def test_drawing_leaves_the_import_system_as_it_was() -> None:
    charts(report(RUNS))
    assert [finder for finder in sys.meta_path if "pygal" in type(finder).__module__] == []


def test_names_with_control_characters_and_half_surrogates_are_drawn_visibly() -> None:
    evil = row("e", 0.5)._replace(query="a\x1b\u202e\ud800")
    held = receipt("2026-01-01T03:00:00+00:00", [evil])
    categories = held.quality.categories
    held = with_quality(held, categories={**categories, "c\x01\ud800<i>": categories["-"]})
    shown = page(report([held]), charts(report([held])))
    assert "c␁&lt;U+D800&gt;&lt;i&gt;" in shown
    assert "a␛&lt;U+202E&gt;&lt;U+D800&gt;" in shown
    shown.encode("utf-8")
