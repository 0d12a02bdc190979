"""Several workspaces as one memory, from Python."""

from __future__ import annotations

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from memcli.api.memory import Memory
from memcli.api.several_workspaces import SeveralResults
from memcli.embedding.encoders import IndexModel
from memcli.errors import ConfigError, NotFoundError, UsageError
from memcli.record import plain
from tests.context.makers import put


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setenv("MEMCLI_EMBEDDING_ENCODER", "hashing")
    monkeypatch.chdir(tmp_path)
    put(tmp_path / "notes", {"memory/a.md": "# Pool\n\nThe pool ran dry.\n"})
    put(tmp_path / "work", {"memory/b.md": "# Courier\n\nThe courier waits at the pool.\n"})
    return [str(tmp_path / name) for name in ("notes", "work")]


def test_a_question_is_answered_from_all(folders: list[str]) -> None:
    with Memory.open(*folders) as memory:
        found = memory.search("why did the pool run dry")
        assert [passage.citation for passage in found.results] == [
            "notes:memory/a.md:1-3", "work:memory/b.md:1-3"
        ]  # fmt: skip
        assert [(p.workspace, p.source) for p in found.results] == [
            ("notes", "memory"), ("work", "memory")
        ]  # fmt: skip
        assert [(each.name, each.state) for each in found.freshness.workspaces] == [
            ("notes", "up_to_date"), ("work", "up_to_date")
        ]  # fmt: skip
        assert memory.get("work:memory/b.md:3").text == "The courier waits at the pool."
        assert memory.get("memory/a.md:3").text == "The pool ran dry."  # of the own one
        block = memory.context("courier")
        assert "work:memory/b.md:1-3" in [part.citation for part in block.parts]
    with Memory.open(folders[0]) as memory:
        found = memory.search("pool")
    assert (found.freshness.workspaces, found.results[0].workspace) == ((), None)


def test_threads_may_share_it(folders: list[str]) -> None:
    with Memory.open(*folders) as memory, ThreadPoolExecutor(4) as pool:
        expected = memory.search("pool courier").results
        found = pool.map(lambda _: memory.search("pool courier").results, range(12))
        assert all(results == expected for results in found)


def test_workspaces_that_are_read_together_are_counted_together(folders: list[str]) -> None:
    seen: list[tuple[str, int, int]] = []
    with Memory.open(*folders) as memory, memory.workspaces.showing(lambda *now: seen.append(now)):
        first, second = memory.workspaces.opened
        first.on_progress("reading", 3, 20)
        second.on_progress("reading", 4, 30)
        first.on_progress("embedding", 1, 9)
    assert seen == [("reading", 3, 20), ("reading", 7, 50), ("embedding", 1, 9)]


def test_workspaces_that_are_configured_alike_share_an_encoder(folders: list[str]) -> None:
    index = IndexModel(None, None)
    with Memory.open(*folders) as memory:
        first, second = memory.workspaces.opened
        assert first.open_encoder_of(index) is second.open_encoder_of(index)
    put(Path(folders[1]), {"memcli.toml": "[embedding]\nthreads = 1\n"})
    with Memory.open(*folders) as memory:
        first, second = memory.workspaces.opened
        assert first.open_encoder_of(index) is not second.open_encoder_of(index)


def test_what_one_cannot_tell_the_others_do(folders: list[str]) -> None:
    put(Path(folders[1]), {"memcli.toml": "nonsense"})
    with Memory.open(*folders) as memory:
        found = memory.search("pool")
        assert [passage.workspace for passage in found.results] == ["notes"]
        fault = found.freshness.workspaces[1]
        assert (fault.name, fault.state) == ("work", "failed")
        with pytest.raises(ConfigError, match="work: "):
            memory.get("work:memory/b.md")
    with pytest.raises(NotFoundError):
        Memory.open(*folders, "nowhere")


def test_several_are_indexed_and_describe_themselves(folders: list[str]) -> None:
    put(Path(folders[0]), {"memcli.toml": "nonsense"})
    with Memory.open(*folders) as memory:
        runs, status = memory.index(), memory.status()
    assert isinstance(runs, SeveralResults)
    assert isinstance(status, SeveralResults)
    failed, done = runs.workspaces
    assert (failed.name, failed.primary, failed.index_) == ("notes", True, None)
    assert failed.error is not None
    assert failed.error.code == "config"
    assert done.index_ is not None
    assert done.index_.files.added == ("memory/b.md",)
    assert [each.status and each.status.state for each in status.workspaces] == [None, "up_to_date"]
    assert status.is_behind
    assert plain(status)["workspaces"][1]["status"]["schema"] == "memcli.status/1"
    assert plain(runs)["workspaces"][1]["index"]["schema"] == "memcli.index/1"


def test_what_only_one_workspace_can_do_names_them(folders: list[str]) -> None:
    with Memory.open(*folders) as memory:
        for do in (memory.lint, memory.compact, memory.undo_remember):
            with pytest.raises(UsageError, match="several are open: notes, work"):
                do()
        assert memory.only("work").search("courier").results[0].citation == "work:memory/b.md:1-3"


@pytest.mark.parametrize(
    "named",
    [
        {"everywhere": True, "as_of": "2026-01-01"},
        {"everywhere": True, "shared": "team/ops"},
        {"as_of": "2026-01-01", "tenant": "team"},
        {"shared": "team/ops", "tenant": "team"},
    ],
)
def test_what_cannot_be_opened_together_is_an_error_without_options(named: dict[str, Any]) -> None:
    with pytest.raises(UsageError) as raised:
        Memory.open(**named)
    assert "--" not in raised.value.message


def test_every_way_to_name_folders_opens_the_same(
    folders: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    put(
        tmp_path,
        {"config/memcli/config.toml": '[workspaces]\nnotes = "~/notes"\nwork = "~/work"\n'},
    )
    with Memory.open("~/notes") as one, Memory.open("@notes") as same:
        assert one.config.workspace == same.config.workspace == folders[0]
    for several in (Memory.open("~/notes", "@work"), Memory.open(everywhere=True)):
        with several as memory:
            found = memory.search("pool", tags=[]).results
            assert {each.workspace for each in found} == {"notes", "work"}


def test_a_past_state_is_opened_by_its_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMCLI_EMBEDDING_ENCODER", "none")
    root = tmp_path / "notes"
    put(root, {"memory/a.md": "The pool ran dry.\n"})
    when = {"GIT_AUTHOR_DATE": "2026-01-10T12:00:00Z", "GIT_COMMITTER_DATE": "2026-01-10T12:00:00Z"}
    for line in ("init -q", "add .", "-c user.name=a -c user.email=a@b commit -qm first"):
        subprocess.run(["git", *line.split()], cwd=root, env={**os.environ, **when}, check=True)
    put(root, {"memory/a.md": "The pool is full.\n"})
    with Memory.open(root, as_of="2026-01-31") as memory:
        found = memory.search("pool")
        assert found.results[0].snippet == "The pool ran dry."
        assert found.freshness.state == "as_of"
        assert memory.documents().documents[0].path == "memory/a.md"
        assert memory.get("memory/a.md").text == "The pool ran dry."
