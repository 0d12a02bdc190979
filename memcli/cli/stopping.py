"""Turn the signals that end a process into an end between two steps."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


class Stopped(Exception):
    """A signal has asked for the end: no error."""


class Stop:
    """Which signal asked for the end, if any; a second one does not wait."""

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
    names = ("SIGINT", "SIGTERM", "SIGHUP")
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    before = {n: signal.getsignal(n) for n in numbers if signal.getsignal(n) != signal.SIG_IGN}
    for number in before:
        signal.signal(number, stop)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
