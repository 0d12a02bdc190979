"""Commands that are ended while they wait for a server or a program, or embed: real processes."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest

from memcli.cli.main import run as run_here
from memcli.errors import IncompleteError
from memcli.indexing.indexer import EMBED_BATCH
from memcli.store.sqlite.reader import Reader
from memcli.workspace.atomic_write import BEGUN
from tests.cli.processes import run, start
from tests.embedding.loopback import DIMENSION, MODEL, Loopback, Reply, embedded, loopback
from tests.store_check import assert_sound, dump
from tests.support import by_night, write

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals")
TERM, HUP, INT = signal.SIGTERM, signal.SIGHUP, signal.SIGINT
NOTE = "The pool of api-7 holds 60 connections"
# Opens what tells that it runs, and is at its end when it no longer does; then works for long.
SUMMARIZER = "import signal, sys; alive = open(sys.argv[1], 'w'); alive.write('!'); alive.flush(); \
signal.pause()"


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for day in (1, 2):
        text = "".join(f"- Case {day}{n} of the pool was looked at, slowly.\n" for n in range(9))
        write(tmp_path / "notes", f"memory/2025-03-0{day}.md", f"# Day {day}\n\n{text}")
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("MEMCLI_WORKSPACE", str(tmp_path / "notes"))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    return tmp_path / "notes"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Loopback]:
    with loopback() as made:
        for name, value in (("URL", made.url), ("MODEL", MODEL), ("DIMENSION", DIMENSION)):
            monkeypatch.setenv(f"MEMCLI_OPENAI_{name}", str(value))
        monkeypatch.setenv("MEMCLI_EMBEDDING_ENCODER", "openai")
        yield made


def texts(notes: Path) -> dict[str, str]:
    return {str(path): path.read_text() for path in notes.rglob("*") if path.is_file()}


def ended(process_told: tuple[int, str, str], number: signal.Signals) -> bool:
    if number == INT:
        return process_told == (130, "", "memcli: interrupted\n")
    return process_told == (-number, "", "")


@pytest.mark.parametrize(
    ("line", "number"),
    [(("index", "--full"), HUP), (("search", "why dry"), TERM), (("remember", NOTE), HUP)],
    ids=lambda given: given.name if isinstance(given, signal.Signals) else given[0],
)
def test_who_waits_for_a_server_ends_and_leaves_all_whole(
    notes: Path, server: Loopback, line: tuple[str, ...], number: signal.Signals
) -> None:
    assert run_here(["index", "-q"]) == 0
    before, asked = texts(notes), Event()
    write(notes, "memory/2025-03-03.md", "# Day 3\n\nA heron at the pool.\n")

    def silent(_: int, given: list[str]) -> Reply:
        asked.set()
        return server.silent(_, given)

    server.behave = silent
    process = start(*line)
    assert asked.wait(60)
    process.send_signal(number)
    told = process.communicate(timeout=60)
    assert ended((process.returncode, *told), number), told
    left = texts(notes)
    assert left.pop(str(notes / "memory" / "2025-03-03.md"))
    assert left == before
    assert [*(notes.parent / "tmp").iterdir()] == []

    server.behave = lambda _, given: embedded(given)
    server.released.set()
    assert run_here(["index", "-q"]) == 0
    assert run_here(["status", "--check", "-q"]) == 0


@pytest.mark.parametrize("number", [TERM, HUP, INT])
def test_a_program_that_writes_summaries_ends_with_the_run(
    notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    os.mkfifo(tmp_path / "alive")
    monkeypatch.setenv("MEMCLI_EMBEDDING_ENCODER", "none")
    program = shlex.join((sys.executable, "-c", SUMMARIZER, str(tmp_path / "alive")))
    # A shell that waits for it ends, and it too, which the shell would leave behind.
    words = ", ".join(map(json.dumps, ("/bin/sh", "-c", f"{program}; true")))
    table = f"[compact]\ncommand = [{words}]\n"
    write(Path(os.environ["XDG_CONFIG_HOME"]), "memcli/config.toml", table)
    before = texts(notes)
    line = "compact --apply --summarizer command --tail 0 --tail-days 0 --cluster 2 --ratio 0.9"
    process = start(*line.split())
    with (tmp_path / "alive").open() as alive:  # once it runs
        assert alive.read(1) == "!"
        process.send_signal(number)
        told = process.communicate(timeout=60)
        assert alive.read() == ""
    assert ended((process.returncode, *told), number), told
    assert texts(notes) == before
    assert not any(BEGUN in path.name for path in tmp_path.rglob("*"))


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
        told = {"code": "interrupted", "message": "interrupted; finished work is kept"}
        assert json.loads(err) == {"schema": "memcli.error/1", **told, "hint": ""}
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
