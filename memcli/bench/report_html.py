"""A report as one HTML page without other files; pure.

Note text is escaped. The page's own policy forbids scripts and fetching. It is readable in light
and dark mode and on paper.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from html import escape as escape_markup
from typing import Any
from xml.etree import ElementTree

from memcli.bench.metrics import HEADLINE, NAMES
from memcli.bench.quality_text import shortened
from memcli.bench.report import ReportContents, Series, ablation_rows
from memcli.errors import UsageError, install_extra
from memcli.render.sanitize import visible_line
from memcli.render.text import counted

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
STYLE = """
:root { color-scheme: light dark; --paper: #fff; --ink: #1b1f24; --muted: #59636e;
  --rule: #d8dee4; --wash: #f6f8fa; --bad: #b3261e; --good: #1a7f37;
  --series-1: #0b62c4; --series-2: #b3540c; --series-3: #1a7f37; --series-4: #8a3ab9;
  --series-5: #59636e; }
@media (prefers-color-scheme: dark) { :root { --paper: #0f1318; --ink: #e6eaef;
  --muted: #9aa4af; --rule: #2d343c; --wash: #171c23; --bad: #ff8a80; --good: #5ec47a;
  --series-1: #6cb0ff; --series-2: #f0a35e; --series-3: #5ec47a; --series-4: #c69cf0;
  --series-5: #9aa4af; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2rem 1.25rem 4rem; max-width: 58rem; background: var(--paper);
  color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; margin: 0 0 .25rem; } h2 { font-size: 1.15rem; margin: 2.5rem 0 .5rem; }
p.lead { color: var(--muted); margin: 0; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: .75rem;
  margin: 1.5rem 0 0; padding: 0; list-style: none; }
.cards li { border: 1px solid var(--rule); border-radius: .5rem; padding: .6rem .8rem;
  background: var(--wash); }
.cards b { display: block; font-size: 1.5rem; font-variant-numeric: tabular-nums; }
.cards span { color: var(--muted); font-size: .85rem; }
.cards span .worse { color: var(--bad); } .cards span .better { color: var(--good); }
figure { margin: 0; overflow-x: auto; }
figure svg { width: 100%; min-width: 40rem; height: auto; display: block; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { text-align: left; padding: .35rem .6rem .35rem 0; border-bottom: 1px solid var(--rule);
  vertical-align: top; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
td:first-child { white-space: nowrap; }
td.why { color: var(--muted); overflow-wrap: anywhere; }
.wide { overflow-x: auto; }
.notice { border-left: 4px solid var(--bad); padding: .4rem .8rem; background: var(--wash);
  margin: 1.25rem 0 0; overflow-wrap: anywhere; }
@media print { :root { color-scheme: light; --paper: #fff; --ink: #000; --muted: #444;
  --rule: #bbb; --wash: #fff; --bad: #a00; --good: #060; --series-1: #0b62c4;
  --series-2: #b3540c; --series-3: #1a7f37; --series-4: #8a3ab9; --series-5: #444; }
  h2 { break-after: avoid; } tr, figure, .notice { break-inside: avoid; }
  figure, .wide { overflow: visible; } figure svg { min-width: 0; } }
"""


def escape(text: str) -> str:
    """Make note text harmless for a page: no markup, no control or bidi characters."""
    return escape_markup(visible_line(text))


def page(report: ReportContents, charts: Mapping[str, str]) -> str:
    """Write the page; `charts` maps names to SVG."""
    parts = [_head(report), _notice(report), _cards(report)]
    parts.append(_figure("Trend", "Quality over the runs", charts.get("quality")))
    parts.append(_figure(f"{HEADLINE} by category", "Bars by category", charts.get("categories")))
    parts += [_categories(report), _worst(report), _ablation(report)]
    machine = report.last.machine
    latency = f"p95 of a warm search in milliseconds, only on {machine.cpu}, {machine.cores} cores."
    parts.append(_figure("Latency", "p95 of a warm search", charts.get("latency"), latency))
    ratios = "Ratios to a baseline of the same run; lower is faster, except for embedding."
    parts.append(_figure("Speed", "Ratios to the baselines", charts.get("ratios"), ratios))
    parts += [_goals(report), _events(report)]
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>memcli bench</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        + "".join(parts)
        + "</body>\n</html>\n"
    )


def _head(report: ReportContents) -> str:
    runs = counted(len(report.when), "run")
    index = report.last.index_
    return (
        "<h1>Does search find things?</h1>\n"
        f'<p class="lead">{runs}, the last {escape(report.when[-1])}; index revision '
        + escape(
            f"{index.revision}: {index.documents} documents, {index.chunks} chunks, "
            f"{index.embedded} of {index.segments} texts embedded."
        )
        + "</p>\n"
    )


def _notice(report: ReportContents) -> str:
    last = report.events[-1] if report.events else None
    if last is None or last.when != report.when[-1] or not last.regressions:
        return ""
    return "".join(f'<p class="notice">{escape(line)}</p>\n' for line in last.regressions)


def _cards(report: ReportContents) -> str:
    cards = []
    for series in report.quality:
        value = series.values[-1]
        before = series.values[-2] if len(series.values) > 1 else None
        if value is None:
            continue
        delta = "" if before is None else _delta(value - before)
        cards.append(f"<li><b>{value:.3f}</b><span>{series.name} {delta}</span></li>")
    hints = report.last.hints
    if hints.rate is not None:
        rate = escape(f"{hints.mended} of {hints.queries}")
        cards.append(f"<li><b>{rate}</b><span>answered only with hints</span></li>")
    return f'<ul class="cards">{"".join(cards)}</ul>\n'


def _delta(delta: float) -> str:
    text = f"{delta:+.3f}"
    if not float(text):
        return "±0"
    kind = "better" if delta > 0 else "worse"
    return f'<span class="{kind}">{text}</span>'


def _figure(title: str, label: str, svg: str | None, note: str = "") -> str:
    if svg is None:
        return ""
    caption = f'<p class="lead">{escape(note)}</p>' if note else ""
    labelled = svg.replace("<svg ", f'<svg role="img" aria-label="{escape(label)}" ', 1)
    return f"<section><h2>{escape(title)}</h2>{caption}<figure>{labelled}</figure></section>\n"


def _table(
    title: str, heads: Sequence[str], rows: Sequence[Sequence[str]], numbers: set[int]
) -> str:
    if not rows:
        return ""

    def kind(at: int, cells: Sequence[str]) -> str:
        return "number" if at in numbers else "why" if at == len(cells) - 1 else "text"

    def line(cells: Sequence[str], tag: str) -> str:
        return "".join(
            f'<{tag} class="{kind(at, cells)}">{escape(value)}</{tag}>'
            for at, value in enumerate(cells)
        )

    body = "".join(f"<tr>{line(row, 'td')}</tr>\n" for row in rows)
    return (
        f'<section><h2>{escape(title)}</h2><div class="wide"><table><thead><tr>'
        f"{line(heads, 'th')}</tr></thead>\n<tbody>{body}</tbody></table></div></section>\n"
    )


def _categories(report: ReportContents) -> str:
    rows = [
        [name, str(row["queries"]), *(f"{row.get(metric, 0.0):.3f}" for metric in NAMES)]
        for name, row in report.last.categories.items()
    ]
    heads = ["", "n", *map(shortened, NAMES)]
    return _table("All figures", heads, rows, set(range(1, len(heads))))


def _worst(report: ReportContents) -> str:
    rows = [
        [
            row.id,
            row.query,
            "-" if row.rank is None else str(row.rank),
            f"{row.scores[HEADLINE]:.3f}",
            f"{row.stage}: {row.why}" if row.stage else "",
        ]
        for row in report.worst
    ]
    return _table("Worst cases", ["id", "question", "rank", HEADLINE, "lost at"], rows, {2, 3})


def _ablation(report: ReportContents) -> str:
    columns, *rows = ablation_rows(report.last.ablation or ())
    return _table("Ablation", columns, rows, set(range(1, len(columns))))


def _goals(report: ReportContents) -> str:
    rows = [
        [
            goal.name,
            f"{goal.ratio:.2f}",
            f"{'≥' if goal.at_least else '≤'} {goal.goal:g}",
            "met" if goal.met else "missed",
        ]
        for goal in report.goals
    ]
    return _table("Speed goals", ["ratio", "now", "goal", ""], rows, {1, 2})


def _events(report: ReportContents) -> str:
    rows = [
        [event.when[:16], "; ".join((*event.changed, *event.regressions))]
        for event in reversed(report.events)
    ]
    return _table("What changed when", ["run", "changes"], rows, set())


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
    rows = list(report.last.categories.items())
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
    root = ElementTree.fromstring(chart.render())
    for parent in list(root.iter()):
        for child in list(parent):
            if str(child.tag).endswith("script"):
                parent.remove(child)
    ElementTree.register_namespace("", "http://www.w3.org/2000/svg")
    return ElementTree.tostring(root, encoding="unicode")
