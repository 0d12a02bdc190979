"""Several workspaces as one memory, from Python."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from memcli.api.memory import Memory
from memcli.embedding.encoders import Remembered
from memcli.errors import ConfigError, NotFoundError
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
            ("notes", "fresh"), ("work", "fresh")
        ]  # fmt: skip
        assert memory.get("work:memory/b.md:3").text == "The courier waits at the pool."
        assert memory.get("memory/a.md:3").text == "The pool ran dry."  # of the own one
        block = memory.context("courier")
        assert "work:memory/b.md:1-3" in [part.citation for part in block.parts]


def test_one_workspace_tells_of_no_others(folders: list[str]) -> None:
    with Memory.open(folders[0]) as memory:
        found = memory.search("pool")
    assert found.freshness.workspaces == ()
    assert found.results[0].workspace is None


def test_threads_may_share_it(folders: list[str]) -> None:
    with Memory.open(*folders) as memory, ThreadPoolExecutor(4) as pool:
        expected = memory.search("pool courier").results
        found = pool.map(lambda _: memory.search("pool courier").results, range(12))
        assert all(results == expected for results in found)


def test_workspaces_that_are_configured_alike_share_an_encoder(folders: list[str]) -> None:
    index = Remembered(None, None)
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
