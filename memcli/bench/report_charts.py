"""The charts of the HTML report as SVG. Only this module needs pygal.

Colours are variables of the page, so one drawing serves light, dark and paper. Scripts and the
library's comments (with the date of drawing) are removed, so the page fetches nothing, and equal
figures give equal bytes.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree

from memcli.bench.report import ReportContents, Series
from memcli.bench.rows import HEADLINE
from memcli.errors import UsageError, install_extra
from memcli.render.sanitize import visible_line

LABELS = 8  # dates below a trend
COLOURS = tuple(f"var(--series-{number})" for number in range(1, 6))
WIDTH, HEIGHT = 820, 300
SHARES = (0.0, 1.0)
BAR_HEIGHT = 34  # per category


def charts(report: ReportContents) -> dict[str, str]:
    """Draw every chart that the report has figures for, by name."""
    pygal = _library()
    drawn = {
        "quality": _line(
            pygal, "quality", report.when, report.quality, value_range=SHARES, form="{:.3f}"
        ),
        "categories": _bars(pygal, report),
    }
    if any(value is not None for value in report.latency.values):
        drawn["latency"] = _line(pygal, "latency", report.when, [report.latency], form="{:.1f}")
    if report.ratios:
        drawn["ratios"] = _line(pygal, "ratios", report.when, report.ratios, form="{:.2f}")
    return drawn


def _days(when: Sequence[str]) -> list[str]:
    """Name the days below a trend: all of a few runs, else evenly spread ones; "" for others."""
    last = len(when) - 1
    steps = last if last < LABELS else min(LABELS - 1, last // 2)
    named = {step * last // steps for step in range(steps + 1)} if steps else {0}
    return [moment[:10] if at in named else "" for at, moment in enumerate(when)]


def _library() -> Any:  # noqa: ANN401  # the library has no types
    try:
        import pygal
    except ImportError:
        raise UsageError(
            "the HTML report draws with pygal, which is not installed",
            hint=f"{install_extra('report')}; or, in the terminal: memcli bench report",
        ) from None
    # pygal installs a plug-in finder that memcli does not need; Python 3.11 warns of it.
    sys.meta_path[:] = [f for f in sys.meta_path if type(f).__module__ != pygal.__name__]
    return pygal


def _settings(pygal: Any, height: int) -> dict[str, Any]:  # noqa: ANN401
    style = pygal.style.Style(
        background="transparent",
        plot_background="transparent",
        foreground="var(--muted)",
        foreground_strong="var(--ink)",
        foreground_subtle="var(--rule)",
        colors=COLOURS,
        guide_stroke_color="var(--rule)",
        major_guide_stroke_color="var(--rule)",
        guide_stroke_dasharray="none",
        major_guide_stroke_dasharray="none",
        opacity="1",
        font_family="inherit",
        label_font_size=13,
        major_label_font_size=13,
        value_font_size=13,
        value_label_font_size=13,
        legend_font_size=14,
        title_font_size=15,
        value_colors=("var(--paper)",) * len(COLOURS),
    )
    return {
        "style": style,
        "js": [],
        "width": WIDTH,
        "height": height,
        "margin": 8,
        "margin_right": 48,  # half of the last date
        "show_y_guides": True,
        "disable_xml_declaration": True,
    }


def _line(
    pygal: Any,  # noqa: ANN401
    name: str,
    when: Sequence[str],
    series: Sequence[Series],
    *,
    form: str,
    value_range: tuple[float, float] | None = None,
) -> str:
    chart = pygal.Line(
        **_settings(pygal, HEIGHT),
        range=value_range,
        include_x_axis=True,
        dots_size=2.5,
        stroke_style={"width": 2},
        legend_at_bottom=True,
        legend_at_bottom_columns=len(series),
        show_legend=len(series) > 1,
        legend_box_size=12,
        truncate_label=-1,  # the labels are those of `_days`; "" where a day is not named
        value_formatter=lambda value: form.format(value),
    )
    if value_range == SHARES:
        chart.y_labels = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    chart.x_labels = _days(when)
    for each in series:
        chart.add(each.name, list(each.values))
    return _svg(chart, name)


def _bars(pygal: Any, report: ReportContents) -> str:  # noqa: ANN401
    rows = list(report.categories.items())
    chart = pygal.HorizontalBar(
        **_settings(pygal, 60 + BAR_HEIGHT * len(rows)),
        range=SHARES,
        show_legend=False,
        print_values=True,
        print_values_position="center",
        value_formatter=lambda value: f"{value:.3f}",
    )
    chart.x_labels = [
        f"{visible_line(name)} ({int(row['queries'])})" for name, row in reversed(rows)
    ]
    chart.add(HEADLINE, [row.get(HEADLINE, 0.0) for _, row in reversed(rows)])
    return _svg(chart, "categories")


def _svg(chart: Any, name: str) -> str:  # noqa: ANN401
    """Write a chart as an element for a page: a fixed id, no script, no comment."""
    chart.uuid = name
    root = ElementTree.fromstring(
        chart.render(), parser=ElementTree.XMLParser(target=ElementTree.TreeBuilder())
    )
    for parent in list(root.iter()):
        for child in list(parent):
            if str(child.tag).endswith("script"):
                parent.remove(child)
    ElementTree.register_namespace("", "http://www.w3.org/2000/svg")
    return ElementTree.tostring(root, encoding="unicode")
