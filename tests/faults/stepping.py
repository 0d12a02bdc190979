"""A writer in a process of its own that goes on step by step, and can be killed between two."""

from __future__ import annotations

import contextlib
import multiprocessing
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NamedTuple

from memcli.errors import BusyError
from memcli.indexing import indexer
from memcli.indexing.indexer import embed, index
from memcli.indexing.rebuild import rebuild
from memcli.store.open import store_at
from memcli.store.port import Change
from memcli.store.run_records import AWAITED_SECONDS
from tests.hashing import HashingEncoder
from tests.support import FAR_FUTURE_NS, make_settings

WAIT_SECONDS = 60.0
# A server that has loaded all this and opened nothing: its children begin in milliseconds.
_START = multiprocessing.get_context("forkserver")
_START.set_forkserver_preload([__name__])


class Job(NamedTuple):
    """What a writer is to do, and what it commits at once: a file or all it can."""

    root: str
    store: str
    full: bool
    group_bytes: int
    waits: bool  # for another writer


class Stepping:
    """A writer that waits before each file, each batch of vectors, and each look at the lock."""

    def __init__(self, job: Job) -> None:
        """Start it; it takes no step yet."""
        self._here, there = _START.Pipe()
        self._process = _START.Process(target=_work, args=(job, there), daemon=True)
        self._process.start()
        there.close()
        self.told = ""

    def step(self) -> bool:
        """Let it go on to its next step; tell whether it goes on after that."""
        self._here.send("")
        self.told = self._here.recv()
        if self.told in ("reading", "embedding", "waiting"):
            return True
        self._process.join()
        self._here.close()
        return False

    def kill(self) -> None:
        """End it where it is."""
        self._process.kill()
        self._process.join()
        self._here.close()


def _work(job: Job, line: Connection) -> None:
    """Do a job in this process; the last word on the line says how it ended."""
    indexer.GROUP_BYTES = job.group_bytes
    indexer.EMBED_BATCH = 2
    line.recv()

    def pause(stage: str, done: int = 0, total: int = 0) -> None:
        line.send(stage)
        line.recv()

    def embed_into(change: Change) -> None:
        embed(change, HashingEncoder(), on_progress=pause)

    def wait(seconds: float) -> None:
        pause("waiting")

    settings = make_settings(Path(job.root))
    wait_seconds = WAIT_SECONDS if job.waits else 0.0
    with contextlib.closing(line):
        try:
            store = store_at(job.store, lambda: FAR_FUTURE_NS)
            with store.change(wait_seconds=wait_seconds, sleep=wait) as change:
                if job.full:
                    rebuild(change, settings, embed_into=embed_into, on_progress=pause)
                else:
                    change.drop_rebuild(awaited_seconds=AWAITED_SECONDS)
                    index(change, settings, on_progress=pause)
                    embed_into(change)
            line.send(f"done {change.notices or ''}".strip())
        except BusyError:
            line.send("busy")
        except Exception as error:
            line.send(repr(error))
