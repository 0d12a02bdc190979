"""A context is written down by --trace and made again by `bench replay`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.commands import NewWorkspace, checked, printed
from tests.context.makers import context, put, record

FILES = {
    "MEMORY.md": "# Memory\n\nHerons eat fish, see [ponds](memory/ponds.md).\n",
    "memory/ponds.md": "# Ponds\n\nThree of them.\n",
    "memory/rules.md": "---\nalways: true\n---\nNever feed a heron.\n",
    "memory/2026-02-01.md": "# First\n\nA heron came.\n",
    "memory/2026-02-02.md": "# Second\n\nA heron left.\n",
}


@pytest.fixture
def notes(workspace: NewWorkspace) -> Path:
    return workspace(FILES, index=True, encoder="hashing")


def replay(file: Path, root: Path) -> tuple[dict[str, Any], str]:
    line = ("bench", "replay", str(file), "-w", str(root))
    return checked("memcli.bench-replay", printed(*line, "--json")[0]), printed(*line)[0]


@pytest.mark.parametrize("query", ["what do herons eat", ""])
def test_a_receipt_holds_what_is_shown_and_what_had_no_room(
    notes: Path, tmp_path: Path, query: str
) -> None:
    file = tmp_path / "receipt.json"
    asked = [query, "--budget", "110", "--tail", "1"]
    shown = record(notes, *asked, "--trace", str(file))
    kept = checked("memcli.context-trace", file.read_text("utf-8"))
    assert kept["query"] == shown["query"] == (query or None)
    assert kept["flags"] == {"context.budget": 110, "context.tail": 1}
    assert kept["settings"]["context.soft_share"] == 0.1
    assert kept["tokens"] == shown["tokens"]
    assert len(kept["omitted"]) == shown["omitted"] > 0
    names = ("section", "ref", "citation", "text")
    assert [{n: p[n] for n in names} for p in kept["passages"]] == [
        {n: p[n] for n in names} for p in shown["parts"]
    ]
    assert [p["rank"] for p in kept["passages"]] == list(range(1, len(kept["passages"]) + 1))
    assert kept["retrievers"]["keyword"]["ran"] is bool(query)
    assert bool(kept["fused"]) is bool(query)
    found = [p for p in kept["passages"] if p["section"] == "passages"]
    assert all(bool(p["trace"]) is bool(query) for p in found if not p["via"])
    assert all(p["trace"][-1]["score"] == p["score"] for p in found if p["trace"])

    same, text = replay(file, notes)
    assert (same["same"], same["changed"], same["query"]) == (True, [], query or None)
    assert "The passages are the same" in text


def test_what_moved_is_told_with_the_reason(notes: Path, tmp_path: Path) -> None:
    file = tmp_path / "receipt.json"
    assert context(notes, "heron", "--budget", "400", "--trace", str(file))[0] == 0
    put(notes, {"memory/rules.md": "---\nalways: true\n---\n" + "Never feed a heron. " * 64})
    moved, text = replay(file, notes)
    assert not moved["same"]
    assert moved["changed"][0].startswith("index revision ")
    why = {p["before"]["citation"]: p["why"] for p in moved["passages"] if p["after"] is None}
    assert why["MEMORY.md:1-3"] == "it does not fit now"
    assert "memory/rules.md:4  its text changed" in text

    (notes / "memory/rules.md").unlink()
    reasons = [passage["why"] for passage in replay(file, notes)[0]["passages"]]
    assert "it is not a rule and not one of the newest entries now" in reasons


def test_the_receipt_of_nothing(tmp_path: Path) -> None:
    (tmp_path / "notes" / "memory").mkdir(parents=True)
    for query in ("heron", ""):
        file = tmp_path / "receipt.json"
        assert context(tmp_path / "notes", query, "--trace", str(file))[:2] == (0, "")
        assert checked("memcli.context-trace", file.read_text("utf-8"))["passages"] == []
        assert replay(file, tmp_path / "notes")[0]["same"]
