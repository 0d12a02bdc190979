"""Turn the signals that end a process into an end between two steps, or into one that tidies up."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

Handler = Callable[[int, FrameType | None], object]


class Stopped(Exception):
    """A signal asks for the end; not an error."""


class Stop:
    """The signal that asks for the end, if any; a second one does not wait."""

    def __init__(self, wake: Callable[[], None]) -> None:
        """Call `wake` so that a waiting loop looks up."""
        self.number = 0
        self._wake = wake

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Take a signal."""
        if self.number:
            raise KeyboardInterrupt
        self.number = number
        self._wake()

    def check(self) -> None:
        """Raise Stopped once a signal has come."""
        if self.number:
            raise Stopped


@contextmanager
def stopped_by_signals(stop: Stop) -> Iterator[None]:
    """Handle Ctrl-C, SIGTERM and SIGHUP, except those that the caller wants ignored (nohup)."""
    with _handled(("SIGINT", "SIGTERM", "SIGHUP"), stop):
        yield


class Terminated(KeyboardInterrupt):
    """SIGTERM or SIGHUP; unfinished work is undone on the way out, as after Ctrl-C."""


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Let SIGTERM and SIGHUP leave the block by an exception, and end the process after it."""
    came = 0

    def leave(number: int, frame: FrameType | None) -> None:
        nonlocal came
        if not came:  # a second one finds the tidying up begun
            came = number
            raise Terminated

    try:
        with _handled(("SIGTERM", "SIGHUP"), leave):
            yield
    finally:
        if came:
            signal.raise_signal(came)


@contextmanager
def unheeded(*names: str) -> Iterator[None]:
    """Let signals pass by, but not by a program that is started meanwhile."""
    with _handled(names, lambda number, frame: None):
        yield


@contextmanager
def _handled(names: Sequence[str], handler: Handler) -> Iterator[None]:
    """Handle those signals that are not ignored, and in the end as before."""
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    before = {n: signal.getsignal(n) for n in numbers if signal.getsignal(n) != signal.SIG_IGN}
    for number in before:
        signal.signal(number, handler)
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)
