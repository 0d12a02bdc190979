"""Runs that end while several threads embed, as real processes with the model that is shipped."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from memcli.errors import IncompleteError
from memcli.indexing.indexer import EMBED_BATCH
from memcli.store.sqlite.reader import Reader
from tests.cli.processes import run, start
from tests.store_check import assert_sound, dump
from tests.support import by_night

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals")
NOTES, LINES = 12, 20
THREADS = {"MEMCLI_EMBEDDING_THREADS": "4"}
BIRDS = ("heron", "crane", "stork", "egret", "bittern")


def notes_in(folder: Path) -> Path:
    """Write notes of which each line is a text of its own to embed."""
    (folder / "memory").mkdir(parents=True)
    for note in range(NOTES):
        lines = "\n\n".join(
            f"- Line {note * LINES + at}: the {BIRDS[at % 5]} waits near water {at} of pond {note}."
            for at in range(LINES)
        )
        (folder / "memory" / f"note-{note}.md").write_text(f"# Pond {note}\n\n{lines}\n")
    return folder


def counted(store: Path) -> tuple[int, int]:
    """Count the texts that have a vector, and all; of an index that is being made, none."""
    try:
        reader = Reader(str(store))
    except IncompleteError:
        return 0, 0
    try:
        counts = reader.counts()
    finally:
        reader.close()
    return counts.embedded, counts.segments


@pytest.mark.parametrize("number", [signal.SIGINT, *by_night(signal.SIGTERM, signal.SIGKILL)])
def test_threads_that_are_stopped_leave_whole_batches(tmp_path: Path, number: int) -> None:
    folder, store = notes_in(tmp_path / "notes"), tmp_path / "store" / "index.sqlite"
    environ = {**THREADS, "MEMCLI_STORE": str(store)}
    process = start("index", "--json", "-w", str(folder), **environ)
    while not store.exists() or not counted(store)[0]:
        with pytest.raises(subprocess.TimeoutExpired):  # it is still at work
            process.wait(0.01)
    process.send_signal(number)
    out, err = process.communicate(timeout=30)
    if number == signal.SIGINT:
        assert (process.returncode, out) == (130, "")
        assert json.loads(err)["message"] == "interrupted; finished work is kept"
    else:
        assert (process.returncode, out, err) == (-number, "", "")
    assert_sound(str(store))
    kept, total = counted(store)
    assert 0 < kept < total
    assert kept % EMBED_BATCH == 0

    again = json.loads(run("index", "--json", "-w", str(folder), **environ).stdout)
    assert (again["embedded"], again["pending"]) == (total - kept, 0)
    whole = tmp_path / "whole" / "index.sqlite"
    alone = {"MEMCLI_EMBEDDING_THREADS": "1", "MEMCLI_STORE": str(whole)}
    assert run("index", "-w", str(folder), **alone).returncode == 0
    assert dump(str(store)) == dump(str(whole))
