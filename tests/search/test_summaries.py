"""What each view searches, and what stands behind a summary."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from memcli.config.settings import load
from memcli.language.tokens import estimate
from memcli.search.ranked import RankedPassage
from memcli.search.summaries import apply_quality, behind
from memcli.search.validity import scope_of
from memcli.store.documents import with_chunks
from memcli.store.open import open_store
from memcli.types import Filters, SegmentScore, SourceLines
from tests.commands import NewWorkspace, record
from tests.compaction.support import write_level_two
from tests.records import make_candidate
from tests.support import FAR_FUTURE_NS

SUMMARY = "memory/summaries/2025-03-03--2025-04-08.md"


def _json(*arguments: str) -> Any:
    return record(*arguments, "--now", "2026-02-20")


@pytest.fixture
def notes(compacted: Path, workspace: NewWorkspace) -> Path:
    return workspace(compacted, encoder="hashing")


def _paths(notes: Path, *arguments: str) -> list[str]:
    record = _json("search", *arguments, "-w", str(notes), "--mode", "keyword", "-n", "100")
    return [result["path"] for result in record["results"]]


def _active(notes: Path) -> set[str]:
    """Give every document with a chunk in the active view."""
    store = open_store(load(str(notes), {}, {}), os.environ, lambda: FAR_FUTURE_NS)
    with store.snapshot() as snapshot:
        scope = scope_of(Filters(view="active"), snapshot.supports())
        found = {document.path for document in with_chunks(snapshot.documents(scope))}
    store.close()
    return found


def test_the_raw_view_knows_no_summaries(notes: Path) -> None:
    assert _paths(notes, "MySQL", "--kind", "summary") != []
    assert _paths(notes, "MySQL", "--kind", "summary", "--view", "raw") == []
    assert "memory/2025-03-03.md" in _paths(notes, "MySQL", "--view", "raw")


def test_the_active_view_has_summaries_in_place_of_their_lines(notes: Path) -> None:
    found = _paths(notes, "MySQL", "--view", "active")
    assert SUMMARY in found
    assert "memory/2025-03-03.md" not in found
    assert "MEMORY.md" in _paths(notes, "the", "--view", "active")  # evergreen
    assert "memory/2026-02-16.md" in _paths(notes, "2026-02-16", "--view", "active")  # the tail


@pytest.mark.parametrize(
    "flags",
    [
        ("--kind", "log"),
        ("--tag", "decision"),
        ("--path", "memory/2025-03-03.md"),
        ("--on", "2025-03-03"),
    ],
)
def test_a_summary_that_a_filter_leaves_out_stands_for_no_lines(
    notes: Path, flags: tuple[str, ...]
) -> None:
    raw = _paths(notes, "MySQL", "--view", "raw", *flags)
    assert "memory/2025-03-03.md" in raw
    assert _paths(notes, "MySQL", "--view", "active", *flags) == raw
    both = ("--view", "active", "--path", "memory/*")
    assert _paths(notes, "MySQL", *both) == _paths(notes, "MySQL", "--view", "active")


def test_every_record_is_in_the_active_view_or_behind_it(notes: Path) -> None:
    _json("index", "-w", str(notes))
    shown = _active(notes)
    covered = {
        source["path"]
        for summary in _json("compact", "-w", str(notes), "--verify")["summaries"]
        for source in summary["sources"]
    }
    raw = {
        file.relative_to(notes).as_posix()
        for file in notes.rglob("memory/**/2*.md")
        if "summaries" not in file.parts
    }
    assert raw - covered <= shown
    assert covered <= raw


def test_a_log_that_is_gone_leaves_its_neighbours_raw(notes: Path) -> None:
    (notes / "memory" / "2025-03-10.md").unlink()
    found = _paths(notes, "MySQL", "--view", "active")
    assert "memory/2025-03-03.md" in found
    assert SUMMARY not in found


def test_a_forged_lineage_hides_nothing(notes: Path) -> None:
    real = notes / SUMMARY
    forged = real.read_text().replace("memory/2025-03-03.md", "MEMORY.md")
    real.write_text(forged)
    assert "MEMORY.md" in _paths(notes, "the", "--view", "active")
    assert "memory/2025-03-03.md" in _paths(notes, "MySQL", "--view", "active")
    elsewhere = notes / "memory" / "notes" / real.name
    elsewhere.parent.mkdir()
    elsewhere.write_text(forged)
    assert _paths(notes, "MySQL", "--kind", "summary", "--path", "memory/notes/**") == []


def test_expand_adds_the_lines_behind_and_changes_no_score(notes: Path) -> None:
    query = ("search", "why MySQL", "-w", str(notes), "--view", "active", "-n", "2", "-v")
    plain, expanded = _json(*query), _json(*query, "--expand")
    assert [r["score"] for r in expanded["results"]][:1] == [plain["results"][0]["score"]]
    first = expanded["expanded"][0]
    assert first["summary"] in {result["path"] for result in expanded["results"]}
    assert first["path"] in (notes / first["summary"]).read_text()
    lines = (notes / first["path"]).read_text().split("\n")
    for each in expanded["expanded"]:
        lines = (notes / each["path"]).read_text().split("\n")
        assert each["text"] == "\n".join(lines[each["start_line"] - 1 : each["end_line"]])
    assert sum(each["tokens"] for each in expanded["expanded"]) <= 1500
    small = _json(*query, "--expand", "--budget", "1200")
    assert small["results"]
    assert estimate(json.dumps(small, ensure_ascii=False)) <= 1200


def test_what_is_added_does_not_depend_on_the_limit(notes: Path) -> None:
    query = ("search", "why MySQL", "-w", str(notes), "--view", "active", "--expand")
    five, one = _json(*query, "-n", "5"), _json(*query, "-n", "1")
    assert one["results"] == five["results"][:1]
    added = [each["citation"] for each in one["expanded"]]
    assert [c["citation"] for c in five["expanded"]] == [c for c in added]


def test_get_expand_walks_to_the_raw_lines(notes: Path) -> None:
    text = (notes / SUMMARY).read_text().split("\n")
    number = next(n for n, line in enumerate(text, 1) if line.startswith("- We will use MySQL"))
    record = _json("get", f"{SUMMARY}:{number}", "-w", str(notes), "--expand")
    raw = "\n".join((notes / "memory" / "2025-03-03.md").read_text().split("\n")[8:17])
    assert [(e["path"], e["start_line"], e["text"], e["changed"]) for e in record["expanded"]] == [
        ("memory/2025-03-03.md", 9, raw, False)
    ]
    whole = _json("get", SUMMARY, "-w", str(notes), "--expand")["expanded"]
    assert [e["path"] for e in whole][:2] == ["memory/2025-03-03.md", "memory/2025-03-10.md"]
    log = notes / "memory" / "2025-03-03.md"
    log.write_text(log.read_text().replace("MySQL 8.0", "MySQL 9.1"))
    record = _json("get", f"{SUMMARY}:{number}", "-w", str(notes), "--expand")
    assert record["expanded"][0]["changed"] is True


def test_get_expand_goes_through_summaries_of_summaries(notes: Path) -> None:
    _json("compact", "-w", str(notes), "--undo")
    below = _json("compact", "-w", str(notes), "--tail", "0", "--tail-days", "0", "--cluster", "2",
                  "--ratio", "0.9", "--apply")["summaries"][:2]  # fmt: skip
    top = write_level_two(notes, [each["path"] for each in below])
    wanted = sorted((s["path"], s["start_line"]) for b in below for s in b["sources"])
    found = _json("get", top, "-w", str(notes), "--expand")["expanded"]
    assert sorted((each["path"], each["start_line"]) for each in found) == wanted
    _json("index", "-w", str(notes))
    shown = _active(notes)
    assert top in shown
    assert {each["path"] for each in below}.isdisjoint(shown)
    assert top in _paths(notes, "schema review", "--view", "active")


def _passage(
    path: str, kind: str, score: float, text: str = "- said (memory/a.md:3)"
) -> RankedPassage:
    part = SegmentScore(1, 1, 0, len(text), None)
    candidate = make_candidate(path=path, text=text, tokens=9, kind=kind, segments=(part,))
    return RankedPassage(candidate, 0, 0, score, None, 0.0)


def test_quality_by_hand() -> None:
    """0.8 * (1 - 0.5 * (1 - 0.4)) = 0.56, which falls behind 0.6."""
    passages = [_passage("s.md", "summary", 0.8), _passage("a.md", "log", 0.6)]
    ranked = apply_quality(passages, {"s.md": 0.4})
    assert [(h.about.path, round(h.score, 6)) for h in ranked] == [("a.md", 0.6), ("s.md", 0.56)]
    assert dict(ranked[1].trace[-1].inputs) == {"confidence": 0.4, "factor": 0.7}
    assert apply_quality(passages, {}) == passages


def test_a_line_leads_to_all_that_its_summary_covers_of_the_document() -> None:
    leaves = [SourceLines("memory/a.md", 1, 9, b""), SourceLines("memory/b.md", 1, 9, b"")]
    assert behind(_passage("s.md", "summary", 1.0), leaves) == leaves[:1]
    assert behind(_passage("s.md", "summary", 1.0, "# heading"), leaves) == leaves
