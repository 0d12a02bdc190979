"""The bench on documents behind links, and on two sources that hold the same paths."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.commands import printed
from tests.context.makers import put

TWO = '[[source]]\nname = "handbook"\npath = "handbook"\n'
TWINS = {
    "MEMORY.md": "# Heron\n\nThe heron stands in the pond.\n",
    "memory/2026-02-05.md": "# Otter\n\nThe otter sleeps on its back.\n",
    "handbook/MEMORY.md": "# Badger\n\nThe badger digs in the wood.\n",
    "handbook/memory/2026-02-05.md": "# Beaver\n\nThe beaver fells a birch.\n",
    "memcli.toml": TWO,
}


def _bench(*arguments: str) -> str:
    return printed("bench", *arguments)[0]


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MEMCLI_EMBEDDING_ENCODER", "hashing")
    monkeypatch.setenv("MEMCLI_SEARCH_MODE", "keyword")
    (tmp_path / "notes").mkdir()
    monkeypatch.chdir(tmp_path / "notes")
    return tmp_path / "notes"


def _quality(notes: Path, *lines: str, more: tuple[str, ...] = ()) -> dict[str, Any]:
    """Ask the judged questions and give the record, its rows by question."""
    file = notes.parent / "questions.jsonl"
    file.write_text("".join(f"{line}\n" for line in lines))
    record = json.loads(_bench("quality", str(file), "--json", *more))
    return {**record, "rows": {row["query"]: row for row in record["queries"]}}


@pytest.fixture
def linked(notes: Path) -> Path:
    """A memory whose one document is a link to a file beside it."""
    put(notes, {
        "archive/heron.md": "# The grey heron\n\nWe decided to leave the heron in peace.\n",
        "memcli.toml": '[files]\nscope = "memory"\nfollow_symlinks = true\n',
    })  # fmt: skip
    (notes / "memory").mkdir()
    (notes / "memory" / "heron.md").symlink_to("../archive/heron.md")
    return notes


def test_what_a_link_leads_to_counts_by_its_tokens(linked: Path) -> None:
    record = _quality(linked, "heron -> memory/heron.md")
    scores = record["rows"]["heron"]["scores"]
    assert {scores[name] for name in ("Hit@1", "Recall@500tok", "Recall@1000tok")} == {1.0}


def test_init_drafts_questions_of_what_a_link_leads_to(linked: Path) -> None:
    _bench("init", "-q")
    drafts = (linked / ".memcli" / "questions.jsonl").read_text().splitlines()
    assert {json.loads(line)["relevant"][0]["path"] for line in drafts} == {"memory/heron.md"}


def test_a_judged_path_is_not_hit_by_another_source(notes: Path) -> None:
    put(notes, TWINS)
    record = _quality(notes, "badger -> MEMORY.md", "beaver -> handbook:memory/2026-02-05.md")
    badger, beaver = record["rows"]["badger"], record["rows"]["beaver"]
    assert (badger["rank"], badger["scores"]["nDCG@10"], badger["stage"]) == (None, 0.0, "recall")
    assert (beaver["rank"], beaver["scores"]["Recall@500tok"]) == (1, 1.0)
    (notes / "MEMORY.md").unlink()
    gone = _quality(notes, "badger -> MEMORY.md")["rows"]["badger"]
    assert (gone["rank"], gone["why"]) == (None, "MEMORY.md is not in the workspace")


def test_a_source_may_stand_beside_the_path(notes: Path) -> None:
    put(notes, TWINS)
    judged = {"query": "badger", "relevant": [{"path": "MEMORY.md", "source": "handbook"}]}
    assert _quality(notes, json.dumps(judged))["rows"]["badger"]["rank"] == 1


def test_run_lines_name_other_sources_alone_and_serve_as_baseline(notes: Path) -> None:
    put(notes, TWINS)
    questions = ("heron OR badger -> handbook:MEMORY.md", "otter -> memory/2026-02-05.md")
    run_file = notes.parent / "run.jsonl"
    _quality(notes, *questions, more=("--run", str(run_file)))
    first, second = map(json.loads, run_file.read_text().splitlines())
    found = [{name: r.get(name) for name in ("path", "source")} for r in first["results"]]
    assert sorted(found, key=str) == [
        {"path": "MEMORY.md", "source": "handbook"}, {"path": "MEMORY.md", "source": None}
    ]  # fmt: skip
    assert second["results"] == [{"path": "memory/2026-02-05.md", "start_line": 1, "end_line": 3}]
    again = _quality(notes, *questions, more=("--baseline", str(run_file)))
    assert (again["baseline"]["queries"], again["baseline"]["moved"]) == (2, [])


def test_every_draft_is_answered_by_its_own_document(notes: Path) -> None:
    put(notes, TWINS)
    _bench("init", "-q")
    drafted = (notes / ".memcli" / "questions.jsonl").read_text()
    paths = [json.loads(line)["relevant"][0]["path"] for line in drafted.splitlines()]
    assert paths == ["MEMORY.md", "handbook:MEMORY.md", "handbook:memory/2026-02-05.md",
                     "memory/2026-02-05.md"]  # fmt: skip
    record = _quality(notes, *drafted.replace('"draft": true', '"draft": false').splitlines())
    assert {row["rank"] for row in record["queries"]} == {1}


def test_a_judged_path_that_leads_outside_is_not_in_the_memory(notes: Path) -> None:
    put(notes, TWINS)
    (notes.parent / "outside.md").write_text("# Outside\n\nThe lynx.\n")
    row = _quality(notes, "lynx -> ../outside.md")["rows"]["lynx"]
    assert (row["stage"], row["why"]) == ("files", "../outside.md is not in the workspace")
