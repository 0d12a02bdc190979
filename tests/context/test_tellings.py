"""A context shows whole entries, and tells no line twice: raw lines, summaries, soft rules."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.cli.main import run
from memcli.compaction.entries import DatedLog, cut
from memcli.context.tail import entries
from memcli.markdown.chunker import chunk_document
from memcli.markdown.lineage import cited_lines
from memcli.markdown.parse import parse
from memcli.types import Limits
from memcli.workspace.dating import heading_days
from tests.commands import NewWorkspace
from tests.context.makers import context, put, record
from tests.records import make_excerpt
from tests.support import count_tokens

BIRDS = ("herons", "geese", "swans")
SOFT = (
    "---\nsoft: true\n---\n# Manners\n\nGreet people.\n\n## Thanks\n\n" + "Say thanks often. " * 30
)


@pytest.fixture
def notes(workspace: NewWorkspace) -> Path:
    return workspace({"memory/.keep": ""})


def test_the_tail_holds_a_question_with_its_answer(notes: Path) -> None:
    put(notes, {
        "memcli.toml": "[chunk]\ntokens = 32\n",
        "memory/2026-02-01.md": "# Day\n\nWe walked around the pond again, as every day.\n\n"
        "What do the herons of the upper pond eat in a winter that is as hard as the last one?\n\n"
        "Fish from the carp tank, and bread that visitors throw from the new bridge.\n",
    })  # fmt: skip
    (recent,) = record(notes, "--budget", "200", "--tail", "1")["parts"][:1]
    assert recent["section"] == "recent"
    assert "What do the herons" in recent["text"]
    assert "Fish from the carp tank" in recent["text"]


def test_a_record_is_cut_out_of_a_chunk_and_the_rest_is_found(notes: Path) -> None:
    day = f"# Day\n\n{'The heron came. ' * 80}\n\n{'The heron left. ' * 80}\n"
    put(notes, {"memory/2026-02-01.md": day, "memcli.toml": "[chunk]\ntokens = 2000\n"})
    cuts = [r.start_line for r in cut(DatedLog("", "", "", tuple(day.split("\n"))))]
    assert cuts == [1, 5]
    found = record(notes, "--budget", "1000", "--tail", "1")["parts"]
    assert [(p["section"], p["start_line"], p["end_line"]) for p in found] == [
        ("recent", 5, 5),
        ("passages", 1, 3),
    ]


def test_a_record_begins_at_the_headings_without_a_body_above_it(notes: Path) -> None:
    put(notes, {
        "memcli.toml": "[context]\ntail_share = 0.0\n",
        "memory/2026-02-01.md": "# Log\n\n# Day\n\nThe heron came.\n",
    })  # fmt: skip
    (recent,) = record(notes, "--budget", "200", "--tail", "1")["parts"]
    assert (recent["section"], recent["citation"]) == ("recent", "memory/2026-02-01.md:1-5")
    assert recent["text"] == "# Log\n\n# Day\n\nThe heron came."


def test_a_list_larger_than_a_record_is_cut_between_its_items() -> None:
    items = [f"- Item {n} is about {'herons and carps ' * 5}" for n in range(60)]
    items[55] = "- What does the heron eat?"
    chunks = [
        make_excerpt(
            chunk_id=at, path="memory/2026-02-01.md", text="\n".join(items[first : first + 20]),
            start_line=first + 1, end_line=first + 20, ordinal=at, start_byte=10000 * at,
            end_byte=10000 * at + 9000,
        )
        for at, first in enumerate(range(0, 60, 20))
    ]  # fmt: skip
    places = [(found[0].lines[0], found[-1].lines[1]) for found in entries(reversed(chunks))]
    assert places[0][1] == 60
    assert [last for _, last in places[1:]] == [first - 1 for first, _ in places[:-1]]
    assert places[-1][0] == 1
    assert 57 not in [first for first, _ in places]  # the answer is not without its question
    assert all(last - first < 20 for first, last in places)


WORDS = ("heron", "pond?", "carp:", "# Day", "## Eve", "---", "===", "- item", "```", "", "> quote")


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=14))
def test_a_tail_has_the_records_of_compaction(lines: list[str]) -> None:
    text = "\n".join(["# Log", "", *lines]) + "\n"
    limits = Limits(48, 0, 256, count_tokens)
    parsed = parse(text)
    chunks = chunk_document(parsed, title="Log", limits=limits, heading_days=heading_days)
    excerpts = [
        make_excerpt(
            chunk_id=at, path="memory/2026-02-01.md", text=chunk.text, ordinal=at,
            start_line=chunk.start_line, end_line=chunk.end_line, start_byte=chunk.start_byte,
            end_byte=chunk.end_byte, heading_path=chunk.heading_path,
        )
        for at, chunk in enumerate(chunks)
    ]  # fmt: skip
    found = [(spans[0].lines[0], spans[-1].lines[1]) for spans in entries(reversed(excerpts))]
    cuts = cut(DatedLog("", "", "", tuple(text.split("\n"))))
    wanted = [_solid(text, entry.start_line, entry.end_line) for entry in cuts]
    shown = [_solid(text, *place) for place in reversed(found)]
    assert [*filter(None, shown)] == [*filter(None, wanted)]


def _solid(text: str, first: int, last: int) -> list[int]:
    """Give the numbers of the lines that chunks hold: rules between paragraphs say nothing."""
    lines = text.split("\n")
    return [n for n in range(first, last + 1) if lines[n - 1].strip(" -=")]


@pytest.mark.parametrize("question", ["", "the carp of herons"])
def test_raw_lines_and_their_summary_never_both_appear(notes: Path, question: str) -> None:
    walk = "The keeper walked around pond {0} and counted {1}; the weather was {2} all day long."
    put(notes, {
        f"memory/2026-01-{day:02}.md": f"# Day {day}\n\nWe decided to feed herons carp {day}.\n\n"
        + "\n\n".join(walk.format(day, bird, sky) for bird in BIRDS for sky in ("grey", "fine"))
        + "\n"
        for day in range(1, 9)
    })  # fmt: skip
    folder = ("-w", str(notes), "--now", "2026-02-20")
    line = "compact --apply --tail 0 --tail-days 0 --ratio 0.9 --cluster 2 -q"
    assert run([*line.split(), *folder]) == 0
    for tail in ("0", "1", "3"):
        found = record(notes, question, "--budget", "3000", "--tail", tail)["parts"]
        raw = {(p["path"], n) for p in found for n in range(p["start_line"], p["end_line"] + 1)}
        summed = {place for p in found for place in _cited(p)}
        assert summed.isdisjoint(raw)
        assert summed or question
        days = {path for path, _ in summed | raw}
        assert days >= {f"memory/2026-01-{day:02}.md" for day in range(1, 9)} or question


def _cited(part: dict[str, Any]) -> set[tuple[str, int]]:
    cites = [cite for _, cite in cited_lines(part["text"], part["heading_path"])]
    return {(cite.path, line) for cite in cites for line in range(cite.first, cite.last + 1)}


def test_soft_rules_that_were_cut_come_back_only_where_they_are_asked_for(notes: Path) -> None:
    put(notes, {"memory/soft.md": SOFT, "MEMORY.md": "# Memory\n\nHerons eat fish, people say.\n"})
    for question, section in (("", "soft"), ("what do herons eat, people", "passages")):
        found = record(notes, question, "--budget", "300")
        places = [(part["section"], part["path"]) for part in found["parts"]]
        assert sorted(places) == sorted([(section, "MEMORY.md"), ("soft", "memory/soft.md")])
        assert "rules are cut" in context(notes, question, "--budget", "300")[2]
    asked = record(notes, "say thanks often", "--budget", "300")["parts"]
    assert ("passages", "memory/soft.md") in [(part["section"], part["path"]) for part in asked]
