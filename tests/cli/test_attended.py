"""An editor or a chooser that is running when a signal comes, at a terminal of its own."""

from __future__ import annotations

import os
import pty
import shlex
import signal
import subprocess
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.cli.processes import COMMAND
from tests.context.makers import put

pytestmark = pytest.mark.timeout(60)
TERM, HUP = signal.SIGTERM, signal.SIGHUP
# Takes the terminal over as an editor does, says so, and is at its end when its pipe is closed.
EDITOR = """\
import os, signal, sys, tty
for name in os.environ.get("UNMOVED", "").split():
    signal.signal(getattr(signal, name), lambda *_: os.write(alive.fileno(), b"came"))
for name in os.environ.get("DIES", "").split():
    signal.signal(getattr(signal, name), signal.SIG_DFL)
if "RAW" in os.environ:
    tty.setraw(os.open("/dev/tty", os.O_RDWR))
alive = open(os.environ["ALIVE"], "w")
alive.write("!")
alive.flush()
with open(os.environ["GO"]) as go:
    go.read()
"""
# Makes the terminal that stdin is the one that its keys send signals from.
AT_TERMINAL = "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); \
os.execv(sys.argv[1], sys.argv[1:])"
SUMMARIZED = "import sys; from memcli.compaction.external_summarizer import program; \
print(program([sys.executable, '-c', sys.argv[1]]).rewrite('- a line'))"
ASKS = "print('heard', open('/dev/tty').readline())"
SEARCH = ("search", "pool", "--mode", "keyword", "--open")
SHORT = "from memcli.cli import editor; editor.KIND_SECONDS = 0.1; import runpy, sys; \
sys.argv.pop(0); runpy.run_path(sys.argv[0], run_name='__main__')"


class Desk(NamedTuple):
    """A process at a terminal, with an editor that runs."""

    process: subprocess.Popen[str]
    ours: int  # where keys are typed
    theirs: int
    alive: int  # what is read here ends with the editor

    def is_cooked(self) -> bool:
        return bool(termios.tcgetattr(self.theirs)[3] & termios.ICANON)

    def editor_has_ended(self) -> bool:
        return os.read(self.alive, 9) == b""


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = put(tmp_path / "notes", {"MEMORY.md": "# Rules\n\nThe pool never runs dry.\n"})
    put(tmp_path / "bin", {"fzf": f"#!{sys.executable}\n{EDITOR}", "editor.py": EDITOR})
    (tmp_path / "bin" / "fzf").chmod(0o755)
    for name in ("alive", "go"):
        os.mkfifo(tmp_path / name)
        monkeypatch.setenv(name.upper(), str(tmp_path / name))
    monkeypatch.setenv("EDITOR", shlex.join([sys.executable, str(tmp_path / "bin" / "editor.py")]))
    monkeypatch.setenv("MEMCLI_EMBEDDING_ENCODER", "none")
    monkeypatch.delenv("MEMCLI_EDITOR", raising=False)
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.chdir(folder)
    return folder


@contextmanager
def desk(
    *arguments: str, program: tuple[str, ...] = COMMAND, asks: bool = False, **environ: str
) -> Iterator[Desk]:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", AT_TERMINAL, *program, *arguments],
        stdin=theirs, stdout=theirs, stderr=theirs if asks else subprocess.PIPE, text=True,
        start_new_session=True, env={**os.environ, **environ},
    )  # fmt: skip
    alive = os.open(os.environ["ALIVE"], os.O_RDONLY)
    try:
        assert os.read(alive, 1) == b"!"
        yield Desk(process, ours, theirs, alive)
    finally:
        process.kill()
        process.communicate()
        for each in (ours, theirs, alive):
            os.close(each)


@pytest.mark.parametrize("number", [TERM, HUP])
def test_an_editor_ends_with_the_search_and_leaves_the_terminal_as_it_was(
    notes: Path, number: signal.Signals
) -> None:
    with desk(*SEARCH, RAW="1") as at:
        assert not at.is_cooked()
        at.process.send_signal(number)
        _, err = at.process.communicate(timeout=30)
        assert (at.process.returncode, err) == (-number, "")
        assert at.editor_has_ended()
        assert at.is_cooked()


def test_a_chooser_ends_with_the_pick_and_leaves_the_terminal_as_it_was(notes: Path) -> None:
    path = f"{notes.parent}/bin:{os.environ['PATH']}"
    with desk("pick", "pool", "-f", "{file}", asks=True, RAW="1", PATH=path) as at:
        at.process.send_signal(TERM)
        at.process.communicate(timeout=30)
        assert at.process.returncode == -TERM
        assert at.editor_has_ended()
        assert at.is_cooked()


def test_ctrl_c_is_the_editors_own(notes: Path) -> None:
    """As in `less`, where it ends a search and not the program."""
    with desk(*SEARCH, UNMOVED="SIGINT") as at:
        os.write(at.ours, b"\x03")
        assert os.read(at.alive, 9) == b"came"
        Path(os.environ["GO"]).write_text("on")
        _, err = at.process.communicate(timeout=30)
        assert (at.process.returncode, err) == (0, "")
        assert at.editor_has_ended()


def test_ctrl_c_that_ends_the_editor_ends_the_search(notes: Path) -> None:
    with desk(*SEARCH, DIES="SIGINT") as at:
        os.write(at.ours, b"\x03")
        _, err = at.process.communicate(timeout=30)
        assert at.process.returncode == 130
        assert err == "memcli: interrupted\n"
        assert at.editor_has_ended()


def test_an_editor_that_does_not_end_is_made_to(notes: Path) -> None:
    short = (COMMAND[0], "-c", SHORT, *COMMAND[1:])
    with desk(*SEARCH, program=short, RAW="1", UNMOVED="SIGTERM") as at:
        at.process.send_signal(TERM)
        at.process.communicate(timeout=30)
        assert at.process.returncode == -TERM
        assert os.read(at.alive, 9) == b"came"
        assert at.editor_has_ended()
        assert at.is_cooked()


def test_a_summarizer_may_ask_at_the_terminal() -> None:
    ours, theirs = pty.openpty()
    os.write(ours, b"a word\n")
    done = subprocess.run(
        [sys.executable, "-c", AT_TERMINAL, sys.executable, "-c", SUMMARIZED, ASKS],
        stdin=theirs, capture_output=True, text=True, start_new_session=True, timeout=30,
        check=False,
    )  # fmt: skip
    os.close(ours)
    os.close(theirs)
    assert (done.stdout, done.stderr) == ("heard a word\n\n\n", "")
