"""`index --watch` as a process: what it says, what it survives, how it ends.

Nothing here sleeps: each step waits for the line that the watcher writes next.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memcli.store.lock import writer_lock
from tests.cli.processes import COMMAND, run
from tests.commands import NewWorkspace, checked
from tests.embedding.loopback import DIMENSION, MODEL, Loopback, Reply, loopback

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals")
TIME = re.compile(r"^\d\d:\d\d:\d\d ", re.MULTILINE)
SECONDS = re.compile(r"\d+\.\d s")


class Watching:
    """A watcher of a folder, as JSON lines."""

    def __init__(self, notes: Path, *options: str) -> None:
        self.notes = notes
        self.process = subprocess.Popen(
            [*COMMAND, "index", "--watch", "--json", "--debounce", "50", "-w", str(notes),
             *options],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8",
        )  # fmt: skip

    def next(self, event: str, **wanted: object) -> dict[str, Any]:
        """Read lines up to the one that is wanted; each is as its schema says."""
        assert self.process.stdout
        for line in self.process.stdout:
            record = checked("memcli.watch", line)
            if record["event"] == event and wanted.items() <= record.items():
                return record
        raise AssertionError(f"it ended: {self.process.communicate()[1]}")

    def end(self, number: int) -> tuple[int, str, str]:
        self.process.send_signal(number)
        out, err = self.process.communicate()
        return self.process.returncode, out, err


@pytest.fixture
def notes(workspaces: Path, workspace: NewWorkspace) -> Path:
    return workspace(workspaces / "engineer", encoder="hashing")


@pytest.fixture
def watching(notes: Path) -> Iterator[Watching]:
    found = Watching(notes)
    yield found
    found.process.kill()
    found.process.communicate()


def note(notes: Path, name: str, text: str) -> Path:
    file = notes / "memory" / name
    file.write_text(f"# Note\n\n{text}\n")
    return file


def status(notes: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run("status", "--json", "-w", str(notes)).stdout)
    return found


def test_what_changes_is_indexed_told_and_shown_by_status(notes: Path, watching: Watching) -> None:
    started = watching.next("started")
    assert started["pid"] == watching.process.pid
    first = watching.next("synced", reason="start")
    assert len(first["files"]["added"]) == 33
    assert watching.next("embedded")["pending"] == 0

    note(notes, "2026-02-18.md", "A zebrafish.")
    change = watching.next("synced", reason="change")
    assert change["files"]["added"] == ["memory/2026-02-18.md"]
    assert change["pending"] == 0
    (notes / "memory" / "2026-02-18.md").rename(notes / "memory" / "2026-02-19.md")
    moved = watching.next("synced", reason="change")["files"]["moved"]
    assert moved == [{"from": "memory/2026-02-18.md", "to": "memory/2026-02-19.md"}]

    shown = status(notes)
    assert shown["state"] == "up_to_date"
    watcher = shown["watcher"]
    assert watcher["pid"] == watching.process.pid
    assert (watcher["backlog"], watcher["mode"], watcher["failure"]) == (0, "events", "")
    assert watcher["since"] <= watcher["last_sync"] <= watcher["beat"]
    assert "zebrafish" in run("search", "zebrafish", "--no-sync", "-w", str(notes)).stdout

    second = run("index", "--watch", "--json", "-w", str(notes))
    assert (second.returncode, second.stdout) == (5, "")
    error = json.loads(second.stderr)
    assert (error["code"], error["hint"]) == ("busy", f"memcli status -w {notes}")
    assert f"(pid {watching.process.pid}) watches this workspace" in error["message"]

    code, out, err = watching.end(signal.SIGTERM)
    assert (code, err) == (0, "")
    assert json.loads(out.splitlines()[-1])["signal"] == "SIGTERM"
    assert status(notes)["watcher"] is None


def test_ctrl_c_ends_it_with_130_and_says_so(notes: Path) -> None:
    process = subprocess.Popen(
        [*COMMAND, "index", "--watch", "--debounce", "50", "-w", str(notes)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stderr
    lines = [process.stderr.readline() for _ in range(3)]
    note(notes, "2026-02-18.md", "A zebrafish.")
    lines.append(process.stderr.readline())
    process.send_signal(signal.SIGINT)
    out, rest = process.communicate()
    told = TIME.sub("", SECONDS.sub("# s", "".join(lines) + rest))
    assert (process.returncode, out) == (130, "")
    assert told == (
        f"watching {notes} (pid {process.pid}); Ctrl-C ends it\n"
        "33 added: MEMORY.md, USER.md, memory/2025-03-03.md, ..."
        " (128 texts embedded, 1 text still without a vector, # s)\n"
        "embedded (1 text embedded, # s)\n"
        "added memory/2026-02-18.md (1 text embedded, # s)\n"
        "stopped by SIGINT; finished work is kept\n"
    )


def test_a_killed_watcher_leaves_nothing_in_the_way(notes: Path, watching: Watching) -> None:
    watching.next("synced")
    watching.end(signal.SIGKILL)
    assert status(notes)["watcher"] is None
    again = Watching(notes)
    again.next("synced", reason="start")
    assert status(notes)["watcher"]["pid"] == again.process.pid
    assert again.end(signal.SIGTERM)[0] == 0


def test_another_writer_is_waited_for(notes: Path, watching: Watching) -> None:
    store = watching.next("started")["store"]
    watching.next("embedded")
    with writer_lock(store, wait_seconds=5.0, sleep=lambda seconds: None):
        note(notes, "2026-02-18.md", "A zebrafish.")
        failed = watching.next("failed", code="busy")
        assert failed["retry_seconds"] == 1.0
        assert "is writing the index" in status(notes)["watcher"]["failure"]
    done = watching.next("synced", reason="retry")
    assert done["files"]["added"] == ["memory/2026-02-18.md"]
    assert status(notes)["watcher"]["failure"] == ""


def test_a_deleted_index_is_built_again(notes: Path, watching: Watching) -> None:
    store = Path(watching.next("started")["store"])
    watching.next("embedded")
    shutil.rmtree(store.parent)
    assert "gone" in watching.next("notice")["message"]
    assert len(watching.next("synced", reason="change")["files"]["added"]) == 33
    assert status(notes)["watcher"]["pid"] == watching.process.pid, "it holds the lock again"
    assert run("index", "--watch", "-w", str(notes)).returncode == 5


def test_a_workspace_that_is_away_loses_nothing(notes: Path, watching: Watching) -> None:
    watching.next("embedded")
    away = notes.rename(notes.with_name("away"))
    assert "its index stays" in watching.next("failed")["message"]
    note(away, "2026-02-18.md", "A zebrafish.")
    away.rename(notes)
    files = watching.next("synced", reason="retry")["files"]
    assert (files["added"], files["removed"]) == (["memory/2026-02-18.md"], [])
    note(notes, "2026-02-19.md", "Another.")
    assert watching.next("synced")["files"]["added"] == ["memory/2026-02-19.md"]


def test_broken_files_and_settings_are_survived(notes: Path, watching: Watching) -> None:
    watching.next("embedded")
    (notes / "memory" / "2026-02-17.md").write_bytes(b"\x00\x01\x02" * 200)
    assert "not-text" in watching.next("notice")["message"]
    (notes / "memory" / "evil.md").write_text("---\na: !!bool x\n---\n# E\n")
    assert watching.next("synced")["files"]["added"] == ["memory/evil.md"]
    (notes / "memcli.toml").write_text("[search\n")
    assert watching.next("failed", code="config")["message"].startswith(str(notes))
    (notes / "memcli.toml").write_text('[files]\nexclude = ["memory/2026-02-18.md"]\n')
    watching.next("synced", reason="retry")
    note(notes, "2026-02-18.md", "Left out.")
    note(notes, "2026-02-19.md", "A zebrafish.")
    assert watching.next("synced")["files"]["added"] == ["memory/2026-02-19.md"]


def test_what_cannot_be_written_at_the_start_is_an_error(notes: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    store = str(tmp_path / "file" / "index.sqlite")
    done = run("index", "--watch", "-w", str(notes), MEMCLI_STORE=store)
    assert done.returncode == 4
    assert "cannot be written" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_endpoint_that_dies_and_comes_back(
    notes: Path, watching_endpoint: tuple[Watching, Loopback]
) -> None:
    watching, server = watching_endpoint
    watching.next("embedded", pending=0)
    server.close()
    note(notes, "2026-03-01.md", "The lighthouse was painted.")
    synced = watching.next("synced", reason="change")
    assert (synced["embedded"], synced["pending"] > 0) == (0, True)
    told = watching.next("notice")
    assert told["message"].startswith("vectors are off: 127.0.0.1:")
    assert "cannot be reached" in told["message"]
    assert told["message"].endswith("; searches use keywords only")
    assert told["hint"]
    assert "memory/2026-03-01.md" in run("search", "lighthouse", "-w", str(notes)).stdout
    with loopback(port=server.port):
        assert watching.next("notice")["message"] == "vectors are made again"
        done = watching.next("embedded", pending=0)
    assert done["embedded"] == synced["pending"]
    assert status(notes)["vectors"]["pending"] == 0


def test_ctrl_c_does_not_wait_for_a_busy_server(
    notes: Path, watching_endpoint: tuple[Watching, Loopback]
) -> None:
    watching, server = watching_endpoint
    watching.next("synced", reason="start")
    busy = threading.Event()

    def refuse(*_: object) -> Reply:
        busy.set()
        return Reply(429, headers=(("Retry-After", "59"),))

    server.behave = refuse
    note(notes, "2026-03-01.md", "The lighthouse was painted.")
    assert busy.wait(30)
    assert watching.end(signal.SIGINT)[0] == 130


@pytest.fixture
def watching_endpoint(
    notes: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Watching, Loopback]]:
    """A watcher whose vectors come from a server that can misbehave."""
    monkeypatch.setenv("MEMCLI_EMBEDDING_ENCODER", "openai")
    with loopback() as server:
        monkeypatch.setenv("MEMCLI_OPENAI_URL", server.url)
        monkeypatch.setenv("MEMCLI_OPENAI_MODEL", MODEL)
        monkeypatch.setenv("MEMCLI_OPENAI_DIMENSION", str(DIMENSION))
        found = Watching(notes)
        yield found, server
        found.process.kill()
        found.process.communicate()
