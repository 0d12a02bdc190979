"""A process that writes, with little memory, few files, closed streams, no home and one core."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from memcli.errors import ExitCode
from tests.cli.test_scarcity import ENTRY, LIMITED
from tests.machine.verbs import COMPACT, NOTE, NOW, Place, notes

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(sys.platform != "linux", reason="limits are those of Linux"),
]

REPOSITORY = Path(__file__).resolve().parents[2]
ONE_CORE = """
import os
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
from memcli.cli.entry import main
main()
"""
# Kills itself where a full run has made its vectors and is about to put the new index in place.
KILLED = """
import os, signal, sys
sys.path.insert(0, sys.argv.pop(1))
from tests.hashing import register
register()
os.environ["MEMCLI_EMBEDDING_ENCODER"] = "hashing"
from memcli.store.sqlite.writer import ReplacementIndex
ReplacementIndex.publish = lambda side: os.kill(os.getpid(), signal.SIGKILL)
from memcli.cli.entry import main
main()
"""
EXPECTED = (ExitCode.OK, ExitCode.USAGE, ExitCode.NO_INDEX)
WRITING = (f"remember {NOTE!r}", COMPACT)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = Place(tmp_path / "place")
    notes(made)
    return made


def start(
    place: Place, program: str, *arguments: str, closed: str = ""
) -> subprocess.CompletedProcess[str]:
    words = [each for text in arguments for each in shlex.split(text)]
    environ = {**os.environ, **place.environ, "MEMCLI_EMBEDDING_ENCODER": "none"}
    shell = f'exec "$@" {" ".join(f"{each}>&-" for each in closed)}'
    return subprocess.run(
        ["/bin/sh", "-c", shell, "sh", sys.executable, "-c", program, *words],
        capture_output=True, text=True, check=False,
        cwd=place.notes, env=environ,
    )  # fmt: skip


def texts(place: Place) -> dict[str, str]:
    return {
        str(path.relative_to(place.notes)): path.read_text() for path in place.notes.rglob("*.md")
    }


@pytest.mark.parametrize("line", WRITING)
@pytest.mark.parametrize(("memory", "files"), [(8, 99), (20, 99), (32, 99), (4096, 4), (4096, 7)])
def test_what_is_too_little_is_said_and_nothing_is_half_written(
    place: Place, line: str, memory: int, files: int
) -> None:
    before = texts(place)
    done = start(place, LIMITED, str(memory), str(files), line)
    assert done.returncode in EXPECTED, done.stderr
    assert "Traceback" not in done.stderr
    if done.returncode:
        assert "\nTry: " in done.stderr
    for path, text in texts(place).items():
        assert text == before.get(path, text)
        assert text.endswith("\n")
    assert place.run(line).code in (ExitCode.OK, ExitCode.NEGATIVE)
    assert place.run("compact --verify").code == ExitCode.OK
    assert [path.name for path in place.root.rglob(".memcli-*")] == []


@pytest.mark.parametrize("closed", ["0", "1", "2", "12", "012"])
def test_closed_streams_neither_stop_a_note_nor_get_into_it(place: Place, closed: str) -> None:
    done = start(place, ENTRY, f"remember {NOTE!r} --now 2026-02-10", closed=closed)
    assert done.returncode == ExitCode.OK
    (made,) = set(texts(place)) - {"MEMORY.md", *(f"memory/2026-02-0{n}.md" for n in range(1, 5))}
    assert texts(place)[made].count(NOTE) == 1
    assert {line.partition(":")[0] for line in done.stderr.splitlines()} <= {
        "A related note",
        "If it replaces one",
    }


def test_one_core_gives_the_answers_of_many(place: Place) -> None:
    search, found = f"search pool --json --now {NOW}", []
    for program in (ENTRY, ONE_CORE):
        shutil.rmtree(place.home / "cache")
        assert start(place, program, "index").returncode == ExitCode.OK
        found.append(start(place, program, search).stdout)
    assert found[0] == found[1]
    assert json.loads(found[0])["results"]


def test_the_next_run_takes_away_what_a_killed_full_run_has_begun(place: Place) -> None:
    """Its text too: the index never knew the note that only it has read."""
    (store,) = place.home.rglob("index.sqlite")
    note = place.notes / "memory" / "2026-02-09.md"
    note.write_text("# A xylophone\n\nThe xylophone is out of tune.\n")
    done = start(place, KILLED, str(REPOSITORY), "index --full")
    assert done.returncode == -9, done.stderr
    assert b"xylophone" in Path(f"{store}.next-wal").read_bytes()
    note.unlink()
    assert place.run("index").code == ExitCode.OK
    left = {each.name for each in store.parent.iterdir()}
    assert not {name for name in left if ".next" in name}
    assert not [name for name in left if b"xylophone" in (store.parent / name).read_bytes()]
