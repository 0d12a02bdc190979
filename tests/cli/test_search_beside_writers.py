"""Searches go on while another process writes: no error, and no document that was there is lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memcli.store.lock import show_work, writer_lock
from memcli.store.run_records import Work
from tests.cli.processes import start
from tests.commands import record

DOCUMENTS = 50  # a search shows all of them


class Searches:
    """One workspace and the searches of this process in it."""

    def __init__(self, root: Path) -> None:
        self.root = str(root)
        for number in range(DOCUMENTS):
            file = root / "memory" / f"note-{number}.md"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"# Note {number}\n\nThe fox of day {number}.\n\n- a train\n- a pool\n")

    def answer(self, *flags: str) -> dict[str, Any]:
        line = ("search", "fox", "-v", "-n", "100", "--more", "-w", self.root, *flags)
        found: dict[str, Any] = record(*line)
        return found

    def related(self) -> dict[str, Any]:
        """Compare the first document that is found."""
        place = self.answer()["results"][0]["citation"]
        found: dict[str, Any] = record("related", place, "-w", self.root)
        return found

    def count(self, *flags: str) -> int:
        return len({result["path"] for result in self.answer(*flags)["results"]})


@pytest.fixture
def searches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Searches:
    monkeypatch.setenv("MEMCLI_EMBEDDING_ENCODER", "hashing")
    return Searches(tmp_path / "ws")


def test_during_a_first_index_documents_only_come(searches: Searches) -> None:
    process = start("index", "-w", searches.root)
    counts = [0]
    while process.poll() is None:
        counts.append(searches.count("--mode", "keyword"))
    assert process.communicate()[1].count("Indexed") == 1
    assert counts == sorted(counts)
    assert searches.count() == DOCUMENTS


def test_during_a_full_run_everything_is_found_at_every_moment(searches: Searches) -> None:
    assert searches.count("--sync") == DOCUMENTS
    process = start("index", "--full", "-w", searches.root)
    seen: list[tuple[int, bool]] = []
    while process.poll() is None:
        found = searches.answer()
        seen.append(
            (len({r["path"] for r in found["results"]}), found["retrievers"]["semantic"]["ran"])
        )
    assert process.wait() == 0, process.communicate()
    process.communicate()
    assert set(seen) == {(DOCUMENTS, True)}


def test_during_a_switch_of_the_model_the_old_vectors_answer_or_words_do(
    searches: Searches, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The old encoder's searches use vectors to the last, the new one's from the first."""
    assert searches.count("--sync") == DOCUMENTS
    process = start("index", "-w", searches.root, MEMCLI_EMBEDDING_ENCODER="bundled")
    ran: dict[str, list[bool]] = {"hashing": [], "bundled": []}
    while process.poll() is None:
        for encoder, seen in ran.items():
            monkeypatch.setenv("MEMCLI_EMBEDDING_ENCODER", encoder)
            found = searches.answer()
            assert len({r["path"] for r in found["results"]}) == DOCUMENTS
            semantic = found["retrievers"]["semantic"]
            assert semantic["ran"] or semantic["reason"].endswith("vectors of another model")
            assert semantic["ran"] or semantic["hint"] == "memcli index"
            seen.append(semantic["ran"])
    process.communicate()
    assert ran["hashing"][0]
    assert ran["hashing"] == sorted(ran["hashing"], reverse=True)
    assert ran["bundled"] == sorted(ran["bundled"])
    monkeypatch.setenv("MEMCLI_EMBEDDING_ENCODER", "bundled")
    semantic = searches.answer("--no-sync")["retrievers"]["semantic"]
    assert (semantic["ran"], semantic["embedded"]) == (True, semantic["total"])


def test_searches_that_start_together_in_a_new_folder_all_answer(searches: Searches) -> None:
    line = ("search", "fox", "--json", "-n", "100", "--more", "-w", searches.root)
    processes = [start(*line) for _ in range(4)]
    answers = [process.communicate() for process in processes]
    assert [process.returncode for process in processes] == [0] * 4, answers
    found = [{each["path"] for each in json.loads(out)["results"]} for out, _ in answers]
    assert [len(paths) for paths in found] == [DOCUMENTS] * 4


def test_a_search_beside_a_run_says_how_far_that_is(
    searches: Searches, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "index.sqlite"
    monkeypatch.setenv("MEMCLI_STORE", str(path))
    monkeypatch.setenv("MEMCLI_SYNC_SEGMENTS", "0")
    assert searches.answer()["retrievers"]["semantic"]["hint"] == "memcli index"
    with writer_lock(str(path), wait_seconds=0, sleep=lambda seconds: None):
        show_work(str(path), Work("embedding", 14_882, 67_275, 361.0))
        semantic = searches.answer()["retrievers"]["semantic"]
        assert (
            semantic["reason"]
            == "indexing: 14,882 of 67,275 vectors, 145 per second, about 6 minutes left"
        )
        assert "hint" not in semantic
        assert searches.related()["retrievers"]["semantic"]["reason"] == semantic["reason"]
    assert searches.answer()["retrievers"]["semantic"]["hint"] == "memcli index"
