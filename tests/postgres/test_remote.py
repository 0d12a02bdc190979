"""A workspace of the shared index is searched and read where its files are not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.mcp.clients import serve_here
from tests.postgres.conftest import Memcli, make_notes, sql
from tests.support import write

ROOT = Path(__file__).parents[2]
NAME = "--workspace-name team/ops"


@pytest.fixture
def stored(memcli: Memcli, url: str, tmp_path: Path) -> Path:
    """A folder that holds nothing, while another one's index is in the store."""
    notes = make_notes(tmp_path / "notes")
    assert memcli("store attach team/ops", notes).code == 0
    assert memcli("index", notes).code == 0
    empty = tmp_path / "empty"
    empty.mkdir()
    return empty


def test_passages_are_those_of_the_folder_that_writes(memcli: Memcli, stored: Path) -> None:
    line = "search pool --json --more --now 2025-03-01"
    there = json.loads(memcli(line, stored.parent / "notes").out)
    told = memcli(f"{line} {NAME}", stored)
    here = json.loads(told.out)
    assert here["freshness"]["state"] == "remote"
    assert here["freshness"]["reason"].startswith("as stored at revision ")
    assert here["freshness"]["reason"].endswith(f":{stored.parent / 'notes'}")
    assert told.err == f"memcli: {here['freshness']['reason']}\n"
    assert len(here["results"]) > 2
    for found, expected in zip(here["results"], there["results"], strict=True):
        assert found.pop("file") is None
        assert found == expected


def test_notes_that_another_version_has_cut(memcli: Memcli, url: str, stored: Path) -> None:
    assert "another version of memcli" not in memcli(f"search pool {NAME}", stored).err
    sql(url, "update memcli.workspaces set meta ="
        " (meta::jsonb || '{\"chunking\": \"8:400:0:256\"}')::text")  # fmt: skip
    told = memcli(f"search pool {NAME}", stored)
    assert told.code == 0
    assert "; another version of memcli has cut its notes into chunks\n" in told.err


def test_lines_are_read_as_they_are_stored(memcli: Memcli, stored: Path) -> None:
    write(stored, "MEMORY.md", "# Another\n\nfile of this folder\n")
    told = memcli(f"get MEMORY.md:1-3 {NAME}", stored)
    assert told.out == "# Rules\n\nThe pool has 20 connections.\n"
    assert told.err.startswith("memcli: as stored at revision ")
    assert memcli(f"get memory/2025-02-03.md#Later {NAME}", stored).out.startswith("# Later\n")
    assert memcli(f"get nosuch.md {NAME}", stored).code == 3
    assert memcli(f"get MEMORY.md --expand {NAME}", stored).code == 2


def test_documents_and_context(memcli: Memcli, stored: Path) -> None:
    listed = json.loads(memcli(f"ls --json {NAME}", stored).out)
    assert [each["path"] for each in listed["documents"]][:1] == ["MEMORY.md"]
    assert listed["freshness"]["state"] == "remote"
    told = memcli(f"context pool {NAME}", stored)
    assert "The pool ran dry at noon." in told.out
    assert "as stored at revision" in told.err


def test_what_is_refused_or_read_writes_nothing(memcli: Memcli, url: str, stored: Path) -> None:
    before = sql(url, "select revision, epoch, changed_at from memcli.workspaces")
    for line, code in (
        (f"search pool --sync {NAME}", 2), (f"search pool -w . {NAME}", 2),
        (f"search pool --everywhere {NAME}", 2), ("search pool --workspace-name ../notes", 2),
        ("search pool --workspace-name team/nosuch", 4), ("search pool --workspace-name ops", 4),
        (f"search pool --source nosuch {NAME}", 2),
    ):  # fmt: skip
        told = memcli(line, stored)
        assert (told.code, told.out) == (code, ""), line
        assert "Try: " in told.err, line
    for line in ("search pool", "context", "get MEMORY.md", "ls"):
        assert memcli(f"{line} {NAME}", stored).code == 0
    assert sql(url, "select revision, epoch, changed_at from memcli.workspaces") == before


def test_without_a_store_there_is_none_to_name(
    memcli: Memcli, stored: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MEMCLI_STORE_URL")
    told = memcli(f"search pool {NAME}", stored)
    assert told.code == 2
    assert "store.url in your own configuration is empty" in told.err


def test_status_says_what_is_stored(memcli: Memcli, stored: Path) -> None:
    told = memcli(f"status {NAME}", stored)
    assert (told.code, told.err) == (0, "")
    assert told.out.startswith("workspace  team/ops (named by --workspace-name)\n")
    assert ", as stored at revision " in told.out
    there = json.loads(memcli("status --json", stored.parent / "notes").out)
    here = json.loads(memcli(f"status --json --check {NAME}", stored).out)
    assert (here["state"], here["warnings"]) == ("remote", [])
    same = ("documents", "chunks", "first_date", "last_date")
    for one, other in zip(here["sources"], there["sources"], strict=True):
        assert {key: one[key] for key in same} == {key: other[key] for key in same}
    assert here["vectors"]["embedded"] == there["vectors"]["embedded"] > 0


def test_status_of_a_tenant(memcli: Memcli, stored: Path) -> None:
    told = memcli("status --tenant team", stored)
    assert told.code == 0
    assert told.out.startswith("==> team/ops <==\nworkspace  team/ops (named by --tenant)\n")
    (one,) = json.loads(memcli("status --tenant team --json", stored).out)["workspaces"]
    assert one["status"]["state"] == "remote"


def test_changes_are_those_of_the_stored_logs(memcli: Memcli, stored: Path) -> None:
    line = "changes --json --since 2025-02-01 --until 2025-03-01"
    there = json.loads(memcli(line, stored.parent / "notes").out)
    here = json.loads(memcli(f"{line} {NAME}", stored).out)
    assert here["days"] == there["days"] != []
    nothing = memcli(f"changes --now 2025-06-01 {NAME}", stored)
    assert "the newest one before is 2025-02" in nothing.err
    assert memcli(f"changes --since HEAD~2 {NAME}", stored).code == 2


def test_the_first_documents_of_a_list(memcli: Memcli, stored: Path) -> None:
    for order in ("path", "date", "newest"):
        every = json.loads(memcli(f"ls --json --sort {order} {NAME}", stored).out)["documents"]
        first = json.loads(memcli(f"ls --json --sort {order} -n 2 {NAME}", stored).out)
        assert first["documents"] == every[:2]
        assert first["more"] == len(every) - 2


def test_an_agent_asks_by_mcp_without_files(url: str, stored: Path, tmp_path: Path) -> None:
    connections = "select count(*) from pg_stat_activity where application_name ~ '^memcli '"
    for options in (["--workspace-name", "team/ops"], ["--tenant", "team"], ["--everywhere"]):
        base = tmp_path / options[0].strip("-")
        base.mkdir()
        with serve_here(base, *options, cwd=str(stored)) as served:
            found = served.text("memory_search", query="why did the pool run dry")
            assert "The pool ran dry at noon." in found
            assert "as stored at revision" in found
            place = next(line.split()[0] for line in found.split("\n") if "2025-01-02.md:" in line)
            assert "ran dry" in served.text("memory_get", path=place.rstrip(":|,"))
            assert int(sql(url, connections)) <= 2


def test_hooks_lists_and_neighbours_without_files(
    memcli: Memcli, stored: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for options in (NAME, "--tenant team"):  # which has no rules of its own
        asked = json.dumps({"prompt": "why did the pool run dry", "session_id": "s", "cwd": "/"})
        answer = hook(f"{asked}\n".encode(), "session-start", *options.split(), cwd=stored)
        assert ("The pool has 20 connections." in answer) == (options == NAME)
        assert "Try:" not in answer
    listed = json.loads(memcli("ls --json --tenant team", stored).out)["documents"]
    assert [each["path"] for each in listed if "Outage" in each["title"]] == [
        "memory/2025-01-02.md"
    ]
    told = memcli(f"related memory/2025-01-02.md --json {NAME}", stored)
    assert told.code == 0, told.err
    assert json.loads(told.out)["results"][0]["path"] == "memory/2025-02-03.md"
    assert memcli(f"related nosuch.md {NAME}", stored).code == 3


def test_python_asks_without_files(stored: Path) -> None:
    import memcli as package

    with package.Memory.open(shared="team/ops") as memory:
        assert memory.search("pool ran dry").results[0].path == "memory/2025-01-02.md"
    with package.Memory.open(tenant="team") as memory:
        assert memory.search("pool").results


def hook(data: bytes, *arguments: str, cwd: Path) -> str:
    done = subprocess.run(
        [sys.executable, str(ROOT / "tests" / "hook" / "patient.py"), "hook", *arguments],
        input=data, capture_output=True, cwd=cwd, check=True,
        env={**os.environ, "MEMCLI_EMBEDDING_ENCODER": "none"},
    )  # fmt: skip
    return done.stdout.decode() + done.stderr.decode()
