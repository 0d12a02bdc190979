"""A first search in a folder that is not embedded yet."""

from __future__ import annotations

from pathlib import Path

import pytest

from memcli.api.memory import Memory
from memcli.api.sync import IndexRun
from memcli.api.workspace import SYSTEM_CLOCK
from memcli.search.retrievers import RetrieverUse, missing_vectors
from tests.support import reason_text, write

QUESTION = "how long are the backups kept"
NOISE = 12


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    write(tmp_path, "memory/a.md", "# Retention\n\nBackups are deleted after ninety days.\n")
    for number in range(NOISE):
        write(tmp_path, f"memory/n{number}.md", f"# Kept {number}\n\nA long walk, nothing kept.\n")
        for tea in ("green", "black"):
            write(tmp_path, f"memory/{tea}{number}.md", f"# Tea {number}\n\nThe {tea} leaves.\n")
    return tmp_path


def opened(root: Path) -> Memory:
    still = SYSTEM_CLOCK._replace(monotonic=lambda: 0.0)  # so that the time is never over
    return Memory.open(root, settings={"sync.segments": 1}, clock=still)


def semantic(memory: Memory, *, sync: bool | None = None) -> RetrieverUse:
    return memory.search(QUESTION, sync=sync).retrievers.semantic


def test_the_best_keyword_matches_are_embedded_and_kept(notes: Path) -> None:
    with opened(notes) as memory:
        first = semantic(memory)
        assert first.ran
        assert 0 < first.embedded < first.total
        again = semantic(memory)
        assert again.embedded == first.embedded
    assert reason_text(missing_vectors(first)) == (
        "semantic search over the best keyword matches; 35 % of the folder is embedded."
        " Try: memcli index"
    )


def test_an_index_that_may_not_change_embeds_nothing(notes: Path) -> None:
    with opened(notes) as memory:
        memory.search("zebra")  # reads the files; nothing matches
        assert not semantic(memory, sync=False).ran
        with memory.workspaces.lead.store.locked(wait_seconds=0.0, sleep=lambda _: None):
            assert not semantic(memory).ran
        assert semantic(memory).ran


def test_the_rest_follows_with_the_next_run(notes: Path) -> None:
    with opened(notes) as memory:
        found = semantic(memory)
        done = memory.index()
        assert isinstance(done, IndexRun)
        assert done.pending == 0
        assert done.embedded == found.total - found.embedded
        assert missing_vectors(semantic(memory)) is None
