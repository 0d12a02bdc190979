"""What a client is told while the index is made for the first time."""

from __future__ import annotations

import os
from pathlib import Path
from queue import SimpleQueue
from threading import Thread

import pytest

from memcli.mcp.preparation import TEXTS
from tests.commands import NewWorkspace
from tests.mcp.clients import MODES, Served, serve, text_of

QUESTION = ("memory_search", {"query": "key number 7"})
NOTES = 40  # of a text each: two batches of what is embedded at once


READ = (NOTES - 1, NOTES, "files have been read")
EMBEDDED = (NOTES - 1 + 32, 2 * NOTES, "texts have been embedded")
Told = tuple[float, float | None, str | None]


@pytest.fixture
def notes(workspace: NewWorkspace) -> Path:
    return workspace({f"memory/{n}.md": f"The key number {n}.\n" for n in range(NOTES)})


class SearchRequest:
    """A question that a client waits for, and what it is told meanwhile."""

    def __init__(self, served: Served, *, wants_progress: bool = True) -> None:
        self.told: SimpleQueue[Told] = SimpleQueue()
        self.answer: SimpleQueue[str] = SimpleQueue()
        self._served = served
        ask = self._ask_and_watch if wants_progress else self._ask
        Thread(target=served.do, args=(ask,), daemon=True).start()

    async def _ask(self) -> None:
        self.answer.put(text_of(await self._served.client.call_tool(*QUESTION)))

    async def _ask_and_watch(self) -> None:
        found = await self._served.client.call_tool(*QUESTION, progress_callback=self._note)
        self.answer.put(text_of(found))

    async def _note(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        self.told.put((progress, total, message))

    def until(self, wanted: Told) -> None:
        """Wait until something is told; what is told before is less."""
        while (told := self.told.get(timeout=60)) != wanted:
            assert told[0] < wanted[0]


@pytest.mark.parametrize("mode", MODES)
def test_a_first_index_tells_how_far_it_is(notes: Path, tmp_path: Path, mode: str) -> None:
    slow = str(tmp_path / "slow")
    os.mkfifo(slow)
    environ = {"MEMCLI_TEST_SLOW": slow, "MEMCLI_SYNC_SEGMENTS": "200"}
    with serve(tmp_path, "-w", str(notes), mode=mode, **environ) as served:
        asking, silent = SearchRequest(served), SearchRequest(served, wants_progress=False)
        for told in (READ, EMBEDDED):
            asking.until(told)
            (tmp_path / "slow").write_text("")  # once a batch waits there
        assert "memory/7.md:1 | " in asking.answer.get(timeout=60)
        assert "memory/7.md:1 | " in silent.answer.get(timeout=60)
        assert silent.told.empty()
        again = SearchRequest(served)
        assert "memory/7.md:1 | " in again.answer.get(timeout=60)
        assert again.told.empty()


def test_texts_are_embedded_while_keywords_answer(notes: Path, tmp_path: Path) -> None:
    for number in range(TEXTS, NOTES):  # what is left is one batch
        (notes / "memory" / f"{number}.md").unlink()
    slow = str(tmp_path / "slow")
    os.mkfifo(slow)
    with serve(
        tmp_path, "-w", str(notes), MEMCLI_TEST_SLOW=slow, MEMCLI_SYNC_SEGMENTS="2"
    ) as served:
        text = served.text(*QUESTION[:1], **QUESTION[1])
        assert f"\nkeywords only: semantic search is being prepared: 0 of {TEXTS}\n" in text
        assert "memory/7.md:1 | " in text
        (tmp_path / "slow").write_text("")  # once a batch waits there
        while "keywords only" in served.text(*QUESTION[:1], **QUESTION[1]):
            pass


def test_a_server_indexes_however_much_there_is(notes: Path, tmp_path: Path) -> None:
    with serve(tmp_path, "-w", str(notes), MEMCLI_SYNC_FIRST="3") as served:
        assert "memory/7.md:1 | " in served.text(*QUESTION[:1], **QUESTION[1])
