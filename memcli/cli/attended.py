"""Run a program that a person attends to, an editor or a chooser, which has the terminal meanwhile.

Keys that send signals are that program's alone: Ctrl-C ends the one that takes it for an end. It
never outlives memcli: SIGTERM and SIGHUP end it first, and kindly, for it may hold what is unsaved.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from memcli.cli.stopping import ended_by_signals, unheeded

KIND_SECONDS = 5.0  # to save, and to put the terminal right


def attended(
    command: Sequence[str],
    *,
    given: str | None = None,
    **how: Any,  # noqa: ANN401
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end; `how` is for Popen. With `given` it reads that and is read.

    OSError where it cannot be run, KeyboardInterrupt where Ctrl-C has ended it.
    """
    pipe = None if given is None else subprocess.PIPE
    with _terminal_kept() as put_right, ended_by_signals(), unheeded("SIGINT", "SIGQUIT"):
        process = subprocess.Popen(command, stdin=pipe, stdout=pipe, encoding="utf-8", **how)
        try:
            out, _ = process.communicate(given)
        except BaseException:
            _end(process)
            raise
        finally:
            if process.returncode is None or process.returncode < 0:
                put_right()
    if process.returncode == -signal.SIGINT:
        raise KeyboardInterrupt
    return subprocess.CompletedProcess(command, process.returncode, out)


def _end(process: subprocess.Popen[str]) -> None:
    process.terminate()
    try:
        process.wait(KIND_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


@contextmanager
def _terminal_kept() -> Iterator[Callable[[], None]]:
    """Give what puts the terminal into the state that it has now."""
    try:
        import termios

        terminal = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY)
    except (ImportError, OSError):  # Windows, or nobody there
        yield lambda: None
        return
    state: list[Any] = []
    with suppress(termios.error):  # it was hung up
        state = termios.tcgetattr(terminal)

    def put_right() -> None:
        # Where a shell has the terminal back, it is the shell's to set.
        with suppress(OSError, termios.error):
            if state and os.tcgetpgrp(terminal) == os.getpgrp():
                termios.tcsetattr(terminal, termios.TCSADRAIN, state)

    try:
        yield put_right
    finally:
        os.close(terminal)
