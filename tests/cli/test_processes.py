from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.cli.processes import COMMAND, on_terminal, run
from tests.commands import NewWorkspace
from tests.support import write

pytestmark = pytest.mark.skipif(os.name != "posix", reason="pipes, signals, pseudo-terminals")


@pytest.fixture
def notes(workspaces: Path, workspace: NewWorkspace) -> Path:
    return workspace(workspaces / "engineer", encoder="hashing")


@pytest.mark.parametrize("form", ["text", "json", "jsonl"])
def test_a_reader_that_goes_away_is_success_without_noise(tmp_path: Path, form: str) -> None:
    folder = tmp_path / "many"
    for number in range(300):
        text = f"# Note {number}\n\n" + "The heron waits near the water. " * 40
        write(folder, f"memory/note-{number}.md", text)
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


def test_no_sync_leaves_the_index_as_it_is(notes: Path) -> None:
    store = Path(json.loads(run("index", "--json", "-w", str(notes)).stdout)["store"])
    (notes / "memory" / "2026-02-18.md").write_text("# New\n\nA zebrafish.\n")
    before = store.read_bytes()
    run("search", "pool", "--no-sync", "-w", str(notes))
    assert store.read_bytes() == before
