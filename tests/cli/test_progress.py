"""The progress line: after a moment, on a terminal, and gone at the end."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest

from memcli.cli.options import Options
from memcli.cli.progress import SAY_AFTER_SECONDS, SHOW_AFTER_SECONDS, WAITING, Progress, Stopwatch
from memcli.cli.terminal import Terminal
from tests.commands import Screen, typed
from tests.support import write


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def terminal(err: io.StringIO, *, color: str = "auto", quiet: bool = False) -> Terminal:
    environ = {"TERM": "xterm"}
    return Terminal(io.StringIO(), err, environ, Options(color=color, quiet=quiet))


def drawn(err: io.StringIO, seconds: float, *, color: str = "auto", quiet: bool = False) -> str:
    clock = Clock()
    with Progress(terminal(err, color=color, quiet=quiet), clock) as progress:
        progress.update("reading", 1, 20)
        clock.now += seconds
        progress.update("embedding", 7, 20)
    return err.getvalue()


@pytest.fixture(autouse=True)
def _a_known_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("TERM", "xterm"), ("COLUMNS", "40"), ("LINES", "20")):
        monkeypatch.setenv(name, value)
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)


def test_nothing_is_drawn_in_the_first_moment() -> None:
    assert drawn(Screen(), SHOW_AFTER_SECONDS - 0.01) == ""


def test_then_the_stage_is_drawn_and_cleared_at_the_end() -> None:
    shown = drawn(Screen(), SHOW_AFTER_SECONDS + 0.01)
    assert "embedding" in shown
    assert "7/20" in shown
    assert "left" in shown
    assert shown.endswith("\x1b[2K")  # the line is erased
    assert "reading" not in shown


def test_it_says_how_many_are_done_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    clock, err = Clock(), Screen()
    with Progress(terminal(err), clock) as progress:
        clock.now += 1
        progress.update("embedding", 10, 1000)
        clock.now += 4
        progress.update("embedding", 90, 1000)
    assert "20 per second" in err.getvalue()


def test_pipes_and_quiet_runs_are_silent() -> None:
    assert drawn(io.StringIO(), 60.0) == ""
    assert drawn(Screen(), 60.0, quiet=True) == ""


def test_colour_is_left_out_where_nobody_wants_it() -> None:
    assert "\x1b[32m" in drawn(Screen(), 1.0)
    assert "\x1b[3" not in drawn(Screen(), 1.0, color="never")


def test_a_stopwatch_adds_up_the_stages() -> None:
    watch = Stopwatch(iter([10.0, 10.5, 10.75, 12.0, 12.25]).__next__)
    for stage in ("reading", "embedding", "reading"):
        watch.mark(stage)
    assert watch.line() == "Took 2.250 s: reading 1.750, embedding 0.250"
    assert Stopwatch(iter([1.0, 1.5]).__next__).line() == "Took 0.500 s"


def test_v_says_how_long_each_stage_took(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMCLI_EMBEDDING_ENCODER", "hashing")
    monkeypatch.setenv("MEMCLI_WORKSPACE", str(tmp_path))
    write(tmp_path, "MEMORY.md", "# Pool\n\nThe pool ran dry.\n")
    for command, stages in (
        ("index", {"reading"}),
        ("search pool", {"recall", "fuse"}),
        ("context pool", {"recall", "fuse"}),
        ("status", set()),
    ):
        _, out, err = typed(f"{command} -v")
        (line,) = [each for each in err.splitlines() if each.startswith("Took ")]
        assert stages <= set(re.findall(r"([a-z]+) \d+\.\d{3}", line)), line
        assert "Took" not in out
        assert "Took" not in typed(command)[2]


def test_a_search_in_a_pipe_says_once_that_it_reads_for_long_or_waits() -> None:
    clock, err = Clock(), io.StringIO()
    progress = Progress(terminal(err), clock, of_search=True)
    progress.update("reading", 1, 2000)
    clock.now += SAY_AFTER_SECONDS
    for done in (2, 3):
        progress.update("reading", done, 2000)
        progress.update("waiting", done, 2000)
    progress.close()
    assert err.getvalue().splitlines() == [
        "memcli: reading 2,000 files, which takes some time at first",
        f"memcli: {WAITING}",
    ]
