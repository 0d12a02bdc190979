"""A lineage is read whole or not at all, and a seal shows every edit."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.compaction.compose import document
from memcli.markdown.lineage import cited_lines, lines_hash, locate, log_name, read_lineage, seal_of
from memcli.markdown.parse import parse
from memcli.types import Lineage, SourceLines

LINES = ("a", "b", "c")
SOURCE = SourceLines("memory/it's 50% [done] & #1.md", 1, 2, lines_hash(LINES, 1, 2))
LINEAGE = Lineage(
    (SOURCE,), (), "2025-03-01", "2025-03-02", "2026-02-20T00:00:00+01:00", "extractive", 0.5, 1,
    90, 30, "",
)  # fmt: skip
TEXT = document(LINEAGE, "# 2025-03-01\n- said (memory/a.md:1)\n")


def test_what_is_written_is_read_back() -> None:
    metadata = parse(TEXT).front_matter
    found = read_lineage(metadata)
    assert found is not None
    assert found._replace(seal="") == LINEAGE
    assert found.seal == seal_of(TEXT)
    assert metadata["date"] == "2025-03-02"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("schema", "memcli.summary/2"),
        ("lineage", []),
        ("lineage", [{"path": "a.md", "lines": "2-1", "hash": "0" * 32}]),
        ("lineage", [{"path": "a.md", "lines": "0-1", "hash": "0" * 32}]),
        ("lineage", [{"path": "a.md", "lines": "1-2", "hash": "xyz"}]),
        ("lineage", ["a.md"]),
        ("lineage", "a.md"),
        ("confidence", 2),
        ("confidence", "high"),
        ("level", 0),
        ("level", True),
        ("parents", ["memory/other.md"]),
        ("parents", "x"),
        ("tokens", {"sources": "many", "summary": 1}),
        ("earliest", "yesterday"),
        ("seal", None),
    ],
)
def test_a_front_matter_that_does_not_fit_is_no_lineage(key: str, value: Any) -> None:
    assert read_lineage({**parse(TEXT).front_matter, key: value}) is None


@given(at=st.integers(0, len(TEXT) - 1), by=st.sampled_from("xé\n0"))
def test_every_change_breaks_the_seal(at: int, by: str) -> None:
    edited = TEXT[:at] + by + TEXT[at + 1 :]
    lineage = read_lineage(parse(edited).front_matter)
    if edited != TEXT and lineage is not None:
        assert lineage.seal != seal_of(edited)


def test_lines_are_found_until_one_of_them_changes() -> None:
    assert locate([SOURCE], LINES) == [SOURCE]
    assert locate([SOURCE], ("a", "b", "changed")) == [SOURCE]
    assert locate([SOURCE], ("a", "B", "c")) == [None]
    assert locate([SOURCE], ("a",)) == [None]


def test_lines_that_have_moved_are_found_nearest_to_where_they_would_be() -> None:
    def at(first: int) -> SourceLines:
        return SOURCE._replace(start_line=first, end_line=first + 1)

    assert locate([SOURCE], ("new", *LINES)) == [at(2)]
    assert locate([SOURCE], ("new", "a", "b", "new", "a", "b")) == [at(2)]
    assert locate([SOURCE, at(4)], ("x", "a", "b", "c", "a", "b")) == [at(2), at(5)]
    assert locate([at(7)], LINES) == [at(1)]


@given(
    lines=st.lists(st.sampled_from("abc"), min_size=1, max_size=9),
    above=st.lists(st.sampled_from("abc"), max_size=9),
    data=st.data(),
)
def test_lines_are_found_below_whatever_is_put_above_them(
    lines: list[str], above: list[str], data: st.DataObject
) -> None:
    first = data.draw(st.integers(1, len(lines)))
    last = data.draw(st.integers(first, len(lines)))
    source = SourceLines("a.md", first, last, lines_hash(lines, first, last))
    now = [*above, *lines]
    place = locate([source], now)[0]
    assert place is not None
    assert lines_hash(now, place.start_line, place.end_line) == source.hash


def test_the_last_brackets_of_a_line_are_its_citation() -> None:
    text = "- a note (memory/x.md:9) of ours (memory/a b.md:3-5)\n- none\n- one (2025-03-03:7)"
    cites = [tuple(cite[1:]) for _, cite in cited_lines(text)]
    assert cites == [("memory/a b.md", 3, 5), ("memory/2025-03-03.md", 7, 7)]


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("memory/2025-03-03.md", "2025-03-03"),
        ("memory/archive/2025-03-03-call.md", "archive/2025-03-03-call"),
        ("memory/v1.2.md", "memory/v1.2.md"),
        ("memory/2025-03-03.txt", "memory/2025-03-03.txt"),
        ("2025-03-03.md", "2025-03-03.md"),
        ("memory/my day.md", ""),
        ("LOG", ""),
    ],
)
def test_a_heading_names_a_log_for_the_lines_below_it(path: str, name: str) -> None:
    assert log_name(path) == name
    above = f"- before (:1)\n## {name or 'x'} Call\n"
    text = f"{above}- said (:9-14)\n### Why\n- for (:16)\n- x ({path}:2)"
    below = [(3, (path, 9, 14)), (5, (path, 16, 16)), (6, (path, 2, 2))][0 if name else 2 :]
    cites = [(number, tuple(cite[1:])) for number, cite in cited_lines(text)]
    assert [each for each in cites if each[1][0] == path] == below
    part = cited_lines("said (:9)\n- for (:16)", (f"{name} Call", "Why"))
    assert not name or [cite.path for _, cite in part] == [path, path]
