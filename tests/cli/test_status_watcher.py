"""What `status` says of a watcher and of front matter, and when the index is out of date."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from memcli.store.lock import Watching
from memcli.store.lock import watching as watching_at
from memcli.store.run_records import WatchRecord
from tests.commands import NewWorkspace, record, say
from tests.support import write

LONG_AGO = "2020-01-01T09:00:00+00:00"
FAR_AWAY = "2999-01-01T09:00:00+00:00"


@pytest.fixture
def notes(
    workspaces: Path, workspace: NewWorkspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    monkeypatch.setenv("MEMCLI_STORE", str(tmp_path / "index.sqlite"))
    return workspace(workspaces / "engineer", index=True, encoder="hashing")


@pytest.fixture
def watching(notes: Path, tmp_path: Path) -> Iterator[Watching]:
    """This process watches the store."""
    with watching_at(str(tmp_path / "index.sqlite"), sleep=lambda seconds: None) as watch:
        yield watch


def _rows(word: str) -> list[str]:
    return [line for line in say("status")[1].splitlines() if line.startswith(word)]


def test_without_a_watcher_there_is_no_row(notes: Path) -> None:
    assert _rows("watcher") == []
    assert record("status")["watcher"] is None


def test_the_row_of_a_watcher(watching: Watching) -> None:
    told = WatchRecord(os.getpid(), LONG_AGO, "2020-01-01T09:30:00+00:00", 3, "polling", FAR_AWAY)
    watching.tell(told)
    assert _rows("watcher") == [
        f"watcher    pid {os.getpid()} since 2020-01-01T09:00:00+00:00,"
        " last sync 2020-01-01T09:30:00+00:00, backlog 3, polling"
    ]
    assert record("status")["watcher"] == told._asdict()
    assert _rows("warning") == []


def test_a_watcher_before_its_first_run(watching: Watching) -> None:
    assert _rows("watcher") == [f"watcher    pid {os.getpid()}, no sync yet, backlog 0"]


def test_a_watcher_that_is_stuck_or_failing_is_a_warning(watching: Watching) -> None:
    watching.tell(WatchRecord(os.getpid(), beat=LONG_AGO, failure="no space is left"))
    told = "\n".join(_rows("warning"))
    assert re.search(rf"pid {os.getpid()}\) has not reported since {LONG_AGO[:10]}", told)
    assert "the watcher's last run failed: no space is left" in told


def test_what_a_watcher_says_proves_nothing_of_the_files(notes: Path, watching: Watching) -> None:
    watching.tell(WatchRecord(os.getpid(), beat=FAR_AWAY, last_sync=FAR_AWAY))
    assert say("status", "--check", "-q")[0] == 0
    (notes / "memory" / "2026-02-18.md").write_text("# New\n\nA zebrafish.\n")
    assert say("status", "--check", "-q")[0] == 1
    assert record("status")["state"] == "out_of_date"


def test_an_index_by_keywords_alone_is_in_step_when_that_was_asked_for(
    notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (notes / "memory" / "2026-02-18.md").write_text("# New\n\nA zebrafish.\n")
    say("index", "-q", "--encoder", "none")
    assert record("status")["vectors"]["pending"] == 1
    assert say("status", "--check", "-q")[0] == 1, "a text waits for its vector"
    assert _rows("index")[0].endswith(", up to date, except for vectors")
    monkeypatch.setenv("MEMCLI_EMBEDDING_ENCODER", "none")
    assert say("status", "--check", "-q")[0] == 0
    assert _rows("index")[0].endswith(", up to date")


def test_a_folder_that_cannot_be_seen_is_not_known_to_be_in_step(
    notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "docs/a.md", "# Elsewhere\n")
    docs = f'[[source]]\nname = "docs"\npath = "{tmp_path}/docs"\n'
    write(tmp_path, "config/memcli/config.toml", docs)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    say("index", "-q")
    (tmp_path / "docs").rename(tmp_path / "away")
    shown = record("status")
    assert (shown["state"], shown["unlisted"]) == ("up_to_date", ["docs:."])
    assert say("status", "--check", "-q")[0] == 1


def test_broken_front_matter_is_named_until_it_is_mended(notes: Path) -> None:
    broken, mended = "---\ntags: [a, b\n---\nx\n", "---\ntags: [a, b]\n---\nx\n"
    for name in "abcd":
        (notes / f"{name}.md").write_text(broken)
    say("index", "-q")
    text = "the front matter is not valid YAML, so memcli reads it as text"
    for line in ("index", "status", "index --full", "status"):  # no run but the full one reads it
        _, out, told = say(*line.split())
        assert f"a.md:1, b.md:1, c.md:1 and 1 more: {text}. Try: memcli lint" in out + told
    (notes / "a.md").write_text(mended)
    (notes / "b.md").unlink()
    (notes / "c.md").write_bytes(b"\0")
    say("search", "x")
    assert _rows("warning")[0].startswith(f"warning    d.md:1: {text}. Try: memcli help")
    (notes / "d.md").write_text(mended)
    say("index", "-q")
    assert _rows("warning") == [
        "warning    c.md has bytes that are not text (UTF-8 without NUL);"
        " memcli shows � in their place"
    ]


def test_deep_runs_the_model_and_checks_the_file(notes: Path) -> None:
    code, out, _ = say("status", "--deep", "--json")
    assert (code, json.loads(out)["store"]["integrity"]) == (0, "ok")
    assert record("status")["store"]["integrity"] is None
