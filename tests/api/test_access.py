"""What is used is counted where the user wants it, and weighs in the authority of it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memcli.api.memory import Memory
from memcli.search.authority import Authority
from tests.commands import printed
from tests.support import write

Asked = Callable[..., tuple[Any, str]]
PASS = ("search", "the pool", "--profile", "two-pass", "--json")


@pytest.fixture
def ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Asked:
    monkeypatch.setenv("MEMCLI_EMBEDDING_ENCODER", "none")
    monkeypatch.setenv("MEMCLI_STORE", str(tmp_path / "index" / "index.sqlite"))
    monkeypatch.setenv("MEMCLI_ACCESS_COUNT", "true")
    for name in "abc":
        write(tmp_path / "notes", f"{name}.md", f"# Note {name}\n\nThe pool.\n")
    monkeypatch.chdir(tmp_path)

    def told(*arguments: str, code: int = 0) -> tuple[Any, str]:
        place = ("-w", str(tmp_path / "notes"), "--now", "2026-03-01")
        out, err = printed(*arguments, *place, code=code)
        return (json.loads(out) if "--json" in arguments else out), err

    return told


def _order(record: dict[str, Any]) -> list[str]:
    return [each["path"] for each in record["results"]]


def test_frequency_is_worked_by_hand() -> None:
    """Undated, unsaid: 0.5 + 0.3 + 0.2 * log 2 / log 4 for one use of three at most."""
    made = Authority(uses={("memory", "a.md"): 3, ("memory", "b.md"): 1})
    found = [made.frequency_of(("memory", name)) for name in ("a.md", "b.md", "c.md")]
    assert found == pytest.approx([1.0, math.log(2) / math.log(4), 0.0])
    assert made.omega(None, None, found[1]) == pytest.approx(0.9)
    assert Authority().frequency_of(("memory", "a.md")) is None


def test_what_is_read_and_named_as_used_comes_first(ask: Asked, tmp_path: Path) -> None:
    assert _order(ask(*PASS)[0]) == ["a.md", "b.md", "c.md"]
    ask("get", "c.md")
    ask("search", "--used", "c.md", "--used", "b.md")
    assert _order(ask(*PASS)[0]) == ["c.md", "b.md", "a.md"]
    parts = ask("context", "--tail", "0", "--json")[0]["parts"]
    assert [part["path"] for part in parts] == ["c.md", "b.md", "a.md"]
    kept = tmp_path / "index" / "index.sqlite.access"
    assert (len(kept.read_text().split()), kept.stat().st_mode & 0o777) == (6, 0o600)
    with Memory.open(tmp_path / "notes") as memory:
        memory.get("a.md")
    assert kept.read_text().count("a.md") == 1


def test_the_uses_of_rules_leave_the_authority_of_the_rest_as_it_is(
    ask: Asked, tmp_path: Path
) -> None:
    write(tmp_path / "notes", "rules.md", "---\nalways: true\n---\n\nAsk first.\n")
    ask("get", "c.md")

    def authority() -> list[float]:
        parts = ask("context", "--tail", "0", "--json", "--explain")[0]["parts"]
        return [part["score"] for part in parts if part["path"] == "c.md"]

    before = authority()
    for _ in range(10):
        ask("get", "rules.md")
    assert before == authority() == [1.0]


def test_a_receipt_is_replayed_with_the_uses_of_its_time(ask: Asked, tmp_path: Path) -> None:
    ask("get", "b.md")
    ask(*PASS, "--trace", "before.json")
    for _ in range(3):
        ask("get", "c.md")
    assert json.loads(Path("before.json").read_text())["accesses"] == 1
    same, _ = ask("bench", "replay", "before.json", "--json")
    assert (same["same"], same["changed"]) == (True, [])
    (tmp_path / "index" / "index.sqlite.access").unlink()
    gone, _ = ask("bench", "replay", "before.json", "--json")
    assert (gone["same"], gone["changed"]) == (False, ["counted uses 1 -> 0"])


def test_nothing_is_counted_unless_it_is_wanted(
    ask: Asked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMCLI_ACCESS_COUNT", "false")
    ask("get", "c.md")
    assert "uses are not counted" in ask("search", "--used", "c.md", code=2)[1]
    assert not (tmp_path / "index" / "index.sqlite.access").exists()


def test_broken_lines_and_a_folder_that_cannot_be_written_harm_nothing(
    ask: Asked, tmp_path: Path
) -> None:
    ask("search", "--used", "c.md")
    kept = tmp_path / "index" / "index.sqlite.access"
    kept.write_bytes(kept.read_bytes() + b'\n["memory", "b\xff\n[1, 2]\n{}\n["memory"')
    ask("search", "--used", "c.md")
    assert _order(ask(*PASS)[0]) == ["c.md", "a.md", "b.md"]
    assert ask("search", "--used", "zzz.md", code=3)[1]
    kept.unlink()
    kept.mkdir()
    ask("get", "c.md")
    assert _order(ask(*PASS)[0]) == ["a.md", "b.md", "c.md"]
