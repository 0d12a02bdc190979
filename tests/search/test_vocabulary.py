"""A stage has one name, that of the table, wherever stages are spoken of."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from string import Formatter
from typing import Any

import pytest

import memcli
from memcli.bench.quality import ABLATIONS
from memcli.cli.program import page
from memcli.config.settings import load
from memcli.dates.find import find_dates
from memcli.embedding.encoders import Vector
from memcli.errors import Reason
from memcli.search.options import PROFILES, InternalOptions, SearchOptions, options_of
from memcli.search.pipeline import search
from memcli.search.query import parse
from memcli.search.ranked import RankedPassage
from memcli.search.stages import LOST, STAGES, SWITCH_OF, SWITCHES, TABLE
from memcli.search.why_not import Course, follow, why
from memcli.store.sqlite.reader import Reader
from memcli.types import Filters
from tests.commands import NewWorkspace, record

SCHEMAS = Path(memcli.__file__).parent / "schemas"
NAMES = [row.name for row in TABLE]


@pytest.fixture
def notes(workspace: NewWorkspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MEMCLI_STORE", str(tmp_path / "index.sqlite"))
    days = {
        f"memory/2026-02-{day:02}.md": f"# Day\n\nA pool, {day} wide.\n" for day in range(1, 15)
    }
    return workspace(days, index=True)


def _told(notes: Path, options: SearchOptions) -> list[tuple[str, Sequence[RankedPassage]]]:
    """Ask, and give what an observer was told."""
    text, course = "pool on 2026-02-03", Course()
    reader = Reader(str(notes.parent / "index.sqlite"))
    try:
        search(
            reader,
            parse(text),
            find_dates(text, date(2026, 2, 20)),
            options,
            embed_query=lambda text: Vector(None, "", Reason("off", "not asked for")),
            age_days=lambda day: 1,
            observe=course,
        )
    finally:
        reader.close()
    return course.stages


def _options(notes: Path, profile: str = "default", **inner: frozenset[str]) -> SearchOptions:
    flags = {"search.profile": profile, "search.mode": "keyword"}
    found = options_of(load(str(notes), {}, flags), filters=Filters())
    return found._replace(inner=InternalOptions(**inner))  # type: ignore[arg-type]


@pytest.mark.parametrize("profile", PROFILES)
def test_an_observer_is_told_each_stage_that_takes_part_in_the_order_of_the_table(
    notes: Path, profile: str
) -> None:
    # Nobody speaks in these notes, and nothing reads them once more.
    on = (PROFILES[profile].stages | {""}) - {"speaker", "rerank"}
    told = [stage for stage, _ in _told(notes, _options(notes, profile))]
    assert told == [stage for stage in STAGES if SWITCH_OF[stage] in on]


def test_with_expand_one_stage_more_takes_part(notes: Path) -> None:
    told = [stage for stage, _ in _told(notes, _options(notes, also=frozenset({"spread"})))]
    assert told == [stage for stage in STAGES if stage not in ("score", "speaker", "cut", "rerank")]


@pytest.mark.parametrize("switch", SWITCHES)
def test_what_is_switched_off_takes_no_part(notes: Path, switch: str) -> None:
    options = _options(notes, without=frozenset({switch}))
    told = {stage for stage, _ in _told(notes, options)}
    assert {stage for stage in told if SWITCH_OF[stage] == switch} == set()
    assert not options.has(switch)


def test_a_name_that_is_none_is_an_error(notes: Path) -> None:
    with pytest.raises(KeyError):
        _options(notes).has("mnr")


@pytest.mark.parametrize("profile", PROFILES)
def test_a_trace_names_stages_in_their_order(notes: Path, profile: str) -> None:
    for _, passages in _told(notes, _options(notes, profile)):
        for passage in passages:
            places = [STAGES.index(step.stage) for step in passage.trace]
            assert places == sorted(set(places))


def test_the_table_is_sound() -> None:
    assert len(set(NAMES)) == len(NAMES)
    assert all(row.name.split(".")[0] in STAGES for row in TABLE)
    assert {SWITCH_OF[name] for name in NAMES} - {""} == set(SWITCHES)


def test_a_stage_that_says_what_it_loses_can_lose_and_no_other_does(notes: Path) -> None:
    """Lines that vanish at a stage are explained with numbers; each field is one `why` knows."""
    passage = _told(notes, _options(notes))[0][1][0]
    for name in STAGES:
        course = Course()
        course("recall", [passage])
        course(name, [])
        trail = follow(course, (passage.about.document, passage.start_line, passage.end_line))
        assert trail.lost_at == name
        said = why(trail, _options(notes))
        assert bool(said) == bool(LOST[name])
        assert "{" not in said
    fields = {field for text in LOST.values() for _, field, _, _ in Formatter().parse(text)}
    assert "before" in fields


def test_variants_of_the_bench_are_named_by_what_they_leave_out() -> None:
    left_out = [(v.name, v.without) for v in ABLATIONS if v.without]
    assert [name for name, _ in left_out] == [f"without {next(iter(w))}" for _, w in left_out]
    assert {name for _, without in left_out for name in without} <= set(SWITCHES)


def test_the_topic_explains_every_stage_in_order_and_every_part() -> None:
    text = page("ranking")
    assert re.findall(r"^\| `([\w.]+)` \| ", text.partition("## The")[0], re.MULTILINE) == [
        row.name for row in TABLE
    ]
    measured = re.findall(r"^\| without (\S+) ", text, re.MULTILINE)
    assert measured
    assert set(measured) <= set(SWITCHES)


@pytest.mark.parametrize("name", ["bench-quality", "bench-compare"])
def test_a_receipt_of_the_bench_may_name_every_stage_that_lost_something(name: str) -> None:
    """`rank` stands in receipts of earlier versions."""
    lists = list(_lists(json.loads((SCHEMAS / f"memcli.{name}.1.json").read_text("utf-8"))))
    may_lose = [n for n in NAMES if "." not in n or LOST[n]]
    assert lists
    assert all(found == ["", "files", *may_lose, "rank"] for found in lists)


def _lists(schema: Any) -> Any:
    """Find what each `stage` of a row may be."""
    if isinstance(schema, dict):
        if "enum" in schema.get("stage", {}):
            yield schema["stage"]["enum"]
        for value in schema.values():
            yield from _lists(value)


def test_the_explanation_of_a_search_speaks_of_stages(notes: Path) -> None:
    found = record("search", "pool", "--explain", "-n", "1", "-w", str(notes))
    trace = found["results"][0]["trace"]
    assert [step["stage"] for step in trace] == ["fuse", "focus", "decay", "mmr"]
    assert trace[0]["method"] == "scaled"
