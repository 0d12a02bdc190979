from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

from memcli.store.lock import writer_lock
from tests.cli.processes import COMMAND, on_terminal, run, start
from tests.commands import NewWorkspace

pytestmark = pytest.mark.skipif(os.name != "posix", reason="pipes, signals, pseudo-terminals")
UNSAFE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e]")
OUR_COLOURS = re.compile(r"\x1b\[(?:1|2|35|1;31|0)m")


@pytest.fixture
def notes(workspaces: Path, workspace: NewWorkspace) -> Path:
    return workspace(workspaces / "engineer", encoder="hashing")


def _many_files(folder: Path, count: int) -> Path:
    (folder / "memory").mkdir(parents=True)
    for number in range(count):
        text = f"# Note {number}\n\n" + "The heron waits near the water. " * 40
        (folder / "memory" / f"note-{number}.md").write_text(text)
    return folder


@pytest.mark.parametrize("form", ["text", "json", "jsonl"])
def test_a_reader_that_goes_away_is_success_without_noise(tmp_path: Path, form: str) -> None:
    folder = _many_files(tmp_path / "many", 300)
    assert run("index", "--encoder", "none", "-w", str(folder)).returncode == 0
    command = ("search", "heron", "-n", "100", "--full", "--mode", "keyword", "-f", form)
    with subprocess.Popen(
        [*COMMAND, *command, "-w", str(folder)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.read(10)
        process.stdout.close()
        # What is said of the answer is said before the passages, and nothing after it.
        assert process.stderr.read() == b""
    assert process.returncode == 0


def _never(seconds: float) -> None:
    raise AssertionError("a lock that is free at once waits for nothing")


def test_ctrl_c_keeps_what_is_done(tmp_path: Path) -> None:
    folder = _many_files(tmp_path / "many", 1000)
    environ = {"MEMCLI_EMBEDDING_ENCODER": "hashing"}
    process = start("index", "--json", "-w", str(folder), **environ)
    store = None
    while store is None or not store.exists() or store.stat().st_size < 200_000:
        store = next(Path(os.environ["XDG_CACHE_HOME"]).rglob("index.sqlite"), None)
        with pytest.raises(subprocess.TimeoutExpired):  # it is still at work
            process.wait(0.01)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    assert (process.returncode, out) == (130, "")
    assert json.loads(err) == {
        "schema": "memcli.error/1", "code": "interrupted",
        "message": "interrupted; finished work is kept", "hint": ""
    }  # fmt: skip
    again = json.loads(run("index", "--json", "-w", str(folder), **environ).stdout)
    assert again["files"]["unchanged"] > 0
    assert again["files"]["unchanged"] + len(again["files"]["added"]) == 1000
    assert again["pending"] == 0


def _store_of(notes: Path) -> str:
    return str(json.loads(run("index", "--json", "-w", str(notes)).stdout)["store"])


def test_a_second_writer_waits_its_turn_or_is_told_at_once(notes: Path) -> None:
    store = _store_of(notes)
    with writer_lock(store, wait_seconds=0, sleep=_never):
        second = start("index", "-w", str(notes))
        done = run("index", "--wait", "0", "--json", "-w", str(notes))
        assert (done.returncode, done.stdout) == (5, "")
        error = json.loads(done.stderr)
        assert error["code"] == "busy"
        assert f"(pid {os.getpid()}, since 20" in error["message"]
        with pytest.raises(subprocess.TimeoutExpired):
            second.wait(1.0)
    _, err = second.communicate()
    assert second.returncode == 0
    assert "33 unchanged" in err


def test_a_terminal_receives_no_escape_but_our_colours(workspaces: Path) -> None:
    folder = str(workspaces / "hostile")
    assert run("index", "-w", folder).returncode == 0  # which would show a bar here
    for query in ("zerofact", "fact", "terminal escape", "bidi"):
        shown = on_terminal("search", query, "--full", "-n", "50", "-w", folder)
        assert shown
        rest = OUR_COLOURS.sub("", shown)
        assert not UNSAFE.search(rest)


def test_a_terminal_gets_get_and_status_made_safe(workspaces: Path) -> None:
    folder = str(workspaces / "hostile")
    names = json.loads(run("status", "--json", "-w", folder).stdout)["changes"]["added"]
    for arguments in [("status",), *(("get", name) for name in names[:12])]:
        shown = on_terminal(*arguments, "--color", "never", "-w", folder)
        assert "\x1b" not in shown


def test_a_pipe_and_json_get_the_exact_text(workspaces: Path) -> None:
    name, folder = "memory/2025-01-05-terminal.md", workspaces / "hostile"
    exact = (folder / name).read_bytes().decode().rstrip("\n")
    done = json.loads(run("get", name, "--json", "-w", str(folder)).stdout)
    assert done["text"] == exact
    piped = subprocess.run(
        [*COMMAND, "get", name, "-w", str(folder)], capture_output=True, check=True
    )
    assert piped.stdout == exact.encode() + b"\n"


def test_colour_is_for_terminals_and_can_be_turned_off(notes: Path) -> None:
    search = ("search", "OPS-417", "-n", "1", "-q", "-w", str(notes))
    assert "\x1b[" in on_terminal(*search)
    assert "\x1b[" not in on_terminal(*search, NO_COLOR="1")
    assert "\x1b[" not in on_terminal(*search, TERM="dumb")
    assert "\x1b[" not in run(*search).stdout
    assert "\x1b[" in run(*search, "--color", "always").stdout
    assert "\x1b[" in run(*search, FORCE_COLOR="1").stdout


@pytest.mark.parametrize("locale", [{"LC_ALL": "C"}, {"PYTHONIOENCODING": "ascii"}])
def test_any_locale_prints_utf_8(workspaces: Path, locale: dict[str, str]) -> None:
    search = ("search", "東京", "-q", "-n", "1", "-w", str(workspaces / "cjk"))
    done = run(*search, **locale)
    assert done.returncode == 0
    assert "東京" in done.stdout


def test_a_closed_stdout_is_no_bug() -> None:
    closed = subprocess.run(["sh", "-c", '"$@" >&-', "sh", *COMMAND, "--help"], check=False)
    assert closed.returncode == 0


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")  # noqa: PTH110
@pytest.mark.parametrize("form", [(), ("--json",)])
def test_a_full_disk_is_said_in_one_line(notes: Path, form: tuple[str, ...]) -> None:
    with open("/dev/full", "w") as full:  # noqa: PTH123
        done = subprocess.run(
            [*COMMAND, "get", "MEMORY.md", *form, "-w", str(notes)],
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.returncode == 2
    if form:
        error = json.loads(done.stderr)
        assert (error["code"], error["message"][:13]) == ("write", "cannot write:")
    else:
        told = b"memcli: cannot write: No space left on device\n"
        assert done.stderr == told + b"Try: make room, then the same command\n"


def test_the_store_can_stand_in_a_file_of_its_own(notes: Path, tmp_path: Path) -> None:
    store = tmp_path / "elsewhere" / "index.sqlite"
    assert run("index", "-w", str(notes), MEMCLI_STORE=str(store)).returncode == 0
    assert store.exists()


def test_a_store_that_cannot_be_written_is_a_clear_error(notes: Path, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    done = run("index", "-w", str(notes), MEMCLI_STORE=str(blocked / "index.sqlite"))
    assert done.returncode == 4
    assert done.stderr.startswith("memcli: the index folder ")
    assert "\nTry: set MEMCLI_STORE" in done.stderr
    assert "Traceback" not in done.stderr


def test_no_sync_leaves_the_index_as_it_is(notes: Path) -> None:
    store = Path(_store_of(notes))
    (notes / "memory" / "2026-02-18.md").write_text("# New\n\nA zebrafish.\n")
    before = store.read_bytes()
    run("search", "pool", "--no-sync", "-w", str(notes))
    assert store.read_bytes() == before
