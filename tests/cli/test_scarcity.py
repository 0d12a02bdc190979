"""Little memory, few open files, no threads: a search goes by words, or an error says why."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from memcli import system
from memcli.cli.main import run as run_here
from memcli.embedding.encoders import IndexModel, Vector
from memcli.embedding.query import QueryEncoder
from memcli.embedding.session import memory_shortage
from memcli.errors import MORE_FILES, MORE_MEMORY, NO_MEMORY, ExitCode, Reason, RetrieverError
from memcli.search.retrievers import QueryVector
from memcli.store.sqlite.driver import connect, translated
from memcli.threads import within
from tests.commands import NewWorkspace
from tests.support import by_night

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits are read from /proc")

MEGA = 1 << 20
# Starts the command as its console script does, with so many MB of memory and files left.
LIMITED = """
import resource, sys
taken = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
memory, files = int(sys.argv.pop(1)), int(sys.argv.pop(1))
resource.setrlimit(resource.RLIMIT_AS, (taken + (memory << 20), -1))
resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
from memcli.cli.entry import main
main()
"""
ENTRY = "from memcli.cli.entry import main; main()"
WITHOUT_THREADS = f"""
import threading
def refuse(*arguments):
    raise RuntimeError("can't start new thread")
threading.Thread.start = refuse
{ENTRY}
"""
REFUSED = "memcli: the system reports: "
TRY = f"Try: {MORE_MEMORY}"
BY_WORDS = (
    r"memcli: keywords only: the model takes [0-9]+ MB of memory, and the limit leaves [0-9]+\."
    rf" {TRY}\n"
)


def start(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False
    )


@pytest.fixture
def notes(workspace: NewWorkspace) -> Path:
    return workspace(
        {"memory/a.md": "# A\n\n- The pool is dry.\n- Nobody knows why.\n"}, encoder="bundled"
    )


@pytest.mark.parametrize("memory", [8, 28, *by_night(12, 16, 20, 24, 36, 48, 64)])
def test_next_to_no_memory_is_no_bug(notes: Path, memory: int) -> None:
    run_here(["index", "-q"])
    for command in ("index --full", "search pool", "context", "search why --json"):
        done = start(LIMITED, str(memory), "99", *command.split())
        # Python itself may say that it lacks the memory to tell of a thread that ended.
        told = [line for line in done.stderr.splitlines() if "unraisablehook" not in line]
        assert done.returncode in (ExitCode.OK, ExitCode.USAGE), (command, told)
        assert len(told) <= 2, told
        if done.returncode == ExitCode.USAGE:
            if "--json" in command:
                assert MORE_MEMORY in json.loads(told[0])["hint"]
            else:
                assert told[0].startswith(REFUSED)
                assert told[1].startswith(TRY)
    assert run_here(["index", "-q"]) == 0


@pytest.mark.parametrize("memory", [64, 112, *by_night(88, 100, 125, 138)])
def test_too_little_memory_for_the_model_leaves_the_words(notes: Path, memory: int) -> None:
    limits = (str(memory), "99")
    first = start(LIMITED, *limits, "index")
    assert first.returncode == 0
    assert first.stderr.startswith("memcli: vectors are off: the model takes ")
    assert first.stderr.endswith("Indexed: 1 added; 1 chunk, 0 texts embedded.\n")
    run_here(["index", "-q"])
    by_words = start(LIMITED, *limits, "search", "pool", "--mode", "keyword")
    found = start(LIMITED, *limits, "search", "pool")
    assert (found.returncode, found.stdout) == (0, by_words.stdout)
    assert re.fullmatch(BY_WORDS, found.stderr)
    required = start(LIMITED, *limits, "search", "pool", "--require-semantic")
    assert required.returncode == ExitCode.NO_RETRIEVER


@pytest.mark.parametrize("files", [5, 10, *by_night(4, 6, 7, 8, 12)])
def test_too_few_open_files_are_named(notes: Path, files: int) -> None:
    run_here(["index", "-q"])
    commands = "index --full", "search pool", "get memory/a.md", "context", "status", "compact"
    for command in commands:
        done = start(LIMITED, "4096", str(files), *command.split())
        told = done.stderr
        assert "Traceback" not in told, (command, told)
        if done.returncode:
            assert done.returncode in (ExitCode.USAGE, ExitCode.NOT_FOUND, ExitCode.NO_INDEX)
            assert "Too many open files" in told, (command, told)
            has_own_hint = done.returncode == ExitCode.NOT_FOUND or command == "compact"
            assert "\nTry: " in told if has_own_hint else told.endswith(f"Try: {MORE_FILES}\n")
    assert run_here(["index", "-q"]) == 0


def test_without_threads_the_question_is_embedded_all_the_same(notes: Path) -> None:
    run_here(["index", "-q"])
    done = start(WITHOUT_THREADS, "search", "why dry", "--require-semantic")
    assert done.returncode == 0, done.stderr
    assert done.stdout == start(ENTRY, "search", "why dry", "--require-semantic").stdout


def test_without_threads_a_server_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("threading.Thread.start", refuse)
    with pytest.raises(RetrieverError, match="no thread can be started for the endpoint"):
        within(1.0, lambda: 1)


def test_a_question_that_takes_too_much_memory_is_answered_by_words() -> None:
    class Greedy(QueryEncoder):
        def __init__(self) -> None:
            pass

        def encode_query(self, text: str, index: IndexModel) -> Vector:
            raise MemoryError

    vector = QueryVector(Greedy, "pool", IndexModel(None, None))
    vector.start()
    assert vector.result("pool").reason == Reason("memory", NO_MEMORY, MORE_MEMORY)


def test_sqlite_without_memory_is_no_damage(tmp_path: Path) -> None:
    connection = connect(str(tmp_path / "index.sqlite"), write=True).connection
    apsw.hard_heap_limit(apsw.memory_used())
    try:
        with pytest.raises(MemoryError), translated("x"):
            connection.execute("SELECT randomblob(10000000)").fetchall()
    finally:
        apsw.hard_heap_limit(0)
    connection.close()


LIMITS = "Limit   Soft Limit  Hard Limit  Units\nMax address space  {}  unlimited  bytes\n"


@pytest.mark.parametrize(
    ("limit", "left"),
    [("unlimited", None), (str(300 * MEGA), 300 * MEGA), (str(-1 * MEGA), None), ("0", 0)],
)
def test_what_the_limit_leaves_is_what_is_not_taken(
    tmp_path: Path, limit: str, left: int | None
) -> None:
    taken = 25 * MEGA
    (tmp_path / "limits").write_text(LIMITS.format(limit))
    (tmp_path / "statm").write_text(f"{taken // os.sysconf('SC_PAGE_SIZE')} 1 2 3\n")
    assert system.memory_left(str(tmp_path)) == (max(0, left - taken) if left is not None else None)
    assert system.memory_left(str(tmp_path / "nowhere")) is None


def test_a_process_without_a_limit_lacks_nothing() -> None:
    assert memory_shortage(1 << 60) == ""
    assert not system.is_short_of_memory()
