"""Passages read once more: in every form of the answer, from receipts, and when it fails."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memcli import Memory
from memcli.cli.main import run
from tests.commands import NewWorkspace, checked, printed, record, valid
from tests.embedding.cross_model import make_cross_encoder
from tests.embedding.loopback import loopback, ranked
from tests.support import write

NOTES = {
    "memory/2025-06-12.md": "# Pool\n\nThe pool is for swimming.\n\nWe ran to the dry cleaner.\n",
    "memory/2025-06-13.md": "# Pump\n\nNo water was left in the basin: the pump had failed.\n",
    "memory/2025-06-14.md": "# Car\n\nThe car pool meets on Mondays.\n",
}
QUESTION = "is there water in the pool"
Ask = Callable[..., tuple[dict[str, Any], str]]


@pytest.fixture
def notes(workspace: NewWorkspace) -> Path:
    return workspace(NOTES, index=True, encoder="bundled")


@pytest.fixture
def ask(notes: Path) -> Ask:
    """Search the notes; give the record of the JSON and what is said."""

    def asked(*arguments: str, question: str = QUESTION) -> tuple[dict[str, Any], str]:
        line = ("search", question, *arguments, "--json", "--more", "--now", "2025-07-01")
        out, err = printed(*line)
        return checked("memcli.search", out), err

    return asked


def test_parts_are_compared_by_their_tokens(ask: Ask) -> None:
    plain, _ = ask("--explain")
    assert "rerank" not in plain
    found, said = ask("--rerank", "tokens", "--explain")
    assert said == ""
    read = found["rerank"]["read"]
    assert found["rerank"] == {"by": "tokens", "ran": True, "read": read}
    assert read >= 3
    assert {r["citation"] for r in found["results"]} == {r["citation"] for r in plain["results"]}
    steps = [step for r in found["results"] for step in r["trace"] if step["stage"] == "rerank"]
    assert steps
    for step in steps:
        assert step["by"] == "tokens"
        assert -1 <= step["read"] <= 1
    # What is more like the question than the others is lifted above what it was.
    before = {r["citation"]: r["score"] for r in plain["results"]}
    for result in found["results"]:
        lift = next(s["lift"] for s in result["trace"] if s["stage"] == "rerank")
        if len(result["trace"]) and lift > 0.05:
            assert result["score"] > before[result["citation"]]


def test_what_a_reranker_adds_to_a_score_does_not_make_an_answer_good(
    notes: Path, ask: Ask
) -> None:
    write(notes, "memory/2026-01-31.md", "# Day\n\nThe keeper poured tea.\n")
    for day in range(1, 15):
        text = f"# Day\n\nThe keeper has poured tea {day}.\n"
        write(notes, f"memory/2026-01-{day:02}.md", text)
    assert run(["index", "-q"]) == 0
    plain, _ = ask("-v", question="the keeper poured tea")
    read, _ = ask("--rerank", "tokens", "-v", question="the keeper poured tea")
    leads = [r["results"][0]["score"] - r["results"][9]["score"] for r in (plain, read)]
    assert leads[0] < 0.04 < leads[1]
    assert plain["match"] == read["match"] == "weak"
    assert plain["match_reason"] == read["match_reason"]


def test_nothing_is_read_and_nothing_said_where_the_first_is_far_ahead(ask: Ask) -> None:
    question = "when does the pool meet"
    plain, _ = ask(question=question)
    found, said = ask("--rerank", "tokens", question=question)
    reason = "the first passage is far ahead of the next"
    assert found.pop("rerank") == {"by": "tokens", "ran": False, "read": 0, "reason": reason}
    assert (found, said) == (plain, "")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--mode", "keyword"), "it adds to cosines, and vectors take no part"),
        (("--profile", "convex"), "the profile ranks by a formula of its own"),
    ],
)
def test_the_answer_stays_where_tokens_cannot_be_compared(
    ask: Ask, arguments: tuple[str, ...], reason: str
) -> None:
    plain, before = ask(*arguments)
    found, said = ask(*arguments, "--rerank", "tokens")
    assert said == f"{before}memcli: not reranked by tokens: {reason}\n"
    assert found.pop("rerank") == {"by": "tokens", "ran": False, "read": 0, "reason": reason}
    assert found == plain


def test_vectors_of_another_model_say_nothing_of_tokens(
    ask: Ask, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMCLI_EMBEDDING_ENCODER", "hashing")
    assert run(["index", "-q"]) == 0
    found, said = ask("--rerank", "tokens")
    reason = "the index has no vectors of the bundled model"
    told = f"memcli: not reranked by tokens: {reason}. Try: memcli help ranking\n"
    assert said == told
    assert found["rerank"]["reason"] == reason


def test_a_cross_encoder_gives_the_order(
    ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make_cross_encoder(tmp_path / "cross")
    monkeypatch.setenv("MEMCLI_RERANK_FOLDER", str(folder))
    question = "when does the pool meet"
    plain, _ = ask(question=question)
    assert ask("--rerank", "onnx", "--mode", "keyword")[0]["rerank"]["ran"]
    found, said = ask("--rerank", "onnx", "--explain", question=question)
    assert "not ranked anew" not in said
    steps = [next(s for s in r["trace"] if s["stage"] == "rerank") for r in found["results"]]
    assert [step["read"] for step in steps] == sorted((s["read"] for s in steps), reverse=True)
    assert found["results"][0]["path"] == "memory/2025-06-13.md"
    assert plain["results"][0]["path"] != found["results"][0]["path"]
    (folder / "tokenizer.json").unlink()
    again, said = ask("--rerank", "onnx", question=question)
    reason = f"{folder} has no tokenizer.json"
    assert said == f"memcli: not reranked by onnx: {reason}. Try: set rerank.folder\n"
    assert again.pop("rerank") == {
        "by": "onnx", "ran": False, "read": 0, "reason": reason, "hint": "set rerank.folder",
    }  # fmt: skip
    assert again == plain


def test_a_server_gives_the_order(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    plain, _ = ask()
    with loopback(lambda _, texts: ranked(texts)) as server:
        monkeypatch.setenv("MEMCLI_RERANK_URL", server.url)
        found, _ = ask("--rerank", "endpoint")
        assert server.asked[0]["query"] == QUESTION
        assert server.batches[0] == [r["snippet"] for r in plain["results"]]
    assert found["rerank"] == {"by": "endpoint", "ran": True, "read": len(plain["results"])}
    words = [len(result["snippet"].split()) for result in found["results"]]
    assert words == sorted(words, reverse=True)
    gone, said = ask("--rerank", "endpoint")
    assert "memcli: not reranked by endpoint: 127.0.0.1:" in said
    assert gone["results"] == plain["results"]
    assert not gone["rerank"]["ran"]


def test_nothing_is_asked_of_a_server_that_is_not_configured(ask: Ask) -> None:
    found, said = ask("--rerank", "endpoint")
    reason = "rerank.url is not set in your own configuration"
    assert found["rerank"]["reason"] == reason
    assert said == (f"memcli: not reranked by endpoint: {reason}. Try: memcli help ranking\n")


def test_a_search_that_was_ranked_anew_is_replayed(ask: Ask, notes: Path, tmp_path: Path) -> None:
    file = tmp_path / "receipt.json"
    found, _ = ask("--rerank", "tokens", "--trace", str(file))
    receipt = checked("memcli.search-trace", file.read_text())
    assert receipt["flags"] == {"search.rerank": "tokens"}
    assert receipt["rerank"] == {"reason": "", **found["rerank"]}
    same = valid(record("bench", "replay", str(file)), "memcli.bench-replay")
    assert (same["same"], same["changed"]) == (True, [])
    assert any("rerank" in passage["stages"] for passage in same["passages"])
    written = json.loads(file.read_text())
    written["rerank"]["ran"] = False
    file.write_text(json.dumps(written))
    assert record("bench", "replay", str(file))["changed"] == ["rerank by tokens: it runs now"]


def test_a_context_is_ranked_anew_too(notes: Path, tmp_path: Path) -> None:
    file = tmp_path / "receipt.json"
    found = record("context", QUESTION, "--rerank", "tokens", "--trace", str(file))
    valid(found, "memcli.context")
    assert found["rerank"]["ran"]
    assert checked("memcli.context-trace", file.read_text())["rerank"]["ran"]


def test_the_bench_measures_it(notes: Path, tmp_path: Path) -> None:
    questions = tmp_path / "questions.jsonl"
    relevant = [{"path": "memory/2025-06-13.md"}]
    questions.write_text(json.dumps({"id": "q", "query": QUESTION, "relevant": relevant}) + "\n")
    line = ("bench", "quality", str(questions), "--rerank", "tokens")
    found = valid(record(*line), "memcli.bench-quality")
    assert found["settings"]["search.rerank"] == "tokens"
    assert "not reranked by tokens" in printed(*line, "--mode", "keyword")[1]


def test_a_memory_keeps_what_ranks_anew(notes: Path) -> None:
    with Memory.open(notes, settings={"search.rerank": "tokens"}) as memory:
        first = memory.search(QUESTION)
        assert first.reranked is not None
        assert first.reranked.ran
        kept = memory.workspaces.lead._reranker
        assert memory.search(QUESTION).results == first.results
        assert memory.workspaces.lead._reranker is kept
        assert memory.workspaces.having(lambda config: config).lead._reranker is kept
        other = memory.workspaces.having(lambda config: config.having({"search.rerank": "none"}))
        plain = Memory(other)
        assert plain.search(QUESTION).reranked is None
    assert memory.workspaces.lead._reranker is None
