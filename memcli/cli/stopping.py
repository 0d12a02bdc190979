"""Handle signals that end the process: stop between two steps, or clean up first."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from types import FrameType

Handler = Callable[[int, FrameType | None], object]


class Stopped(Exception):
    """A signal ended the work; this is not an error."""


class Stop:
    """Remembers a signal that asks to stop; a second signal ends the process at once."""

    def __init__(self, wake: Callable[[], None]) -> None:
        self.number = 0
        self._wake = wake

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Handle a signal."""
        if self.number:
            raise KeyboardInterrupt
        self.number = number
        self._wake()

    def check(self) -> None:
        """Raise Stopped if a signal has arrived."""
        if self.number:
            raise Stopped


def stopped_by_signals(stop: Stop) -> AbstractContextManager[None]:
    """Handle Ctrl-C, SIGTERM and SIGHUP, except those that the caller wants ignored (nohup)."""
    return _handled(("SIGINT", "SIGTERM", "SIGHUP"), stop)


class Terminated(KeyboardInterrupt):
    """SIGTERM or SIGHUP: unfinished work is undone before the end, as after Ctrl-C."""


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Turn SIGTERM and SIGHUP into an exception in the block, and end the process afterwards."""
    came = 0

    def leave(number: int, frame: FrameType | None) -> None:
        nonlocal came
        if not came:  # a second signal finds that cleaning up has begun
            came = number
            raise Terminated

    try:
        with _handled(("SIGTERM", "SIGHUP"), leave):
            yield
    finally:
        if came:
            signal.raise_signal(came)


def unheeded(*names: str) -> AbstractContextManager[None]:
    """Ignore signals here, but not in a program that is started meanwhile."""
    return _handled(names, lambda number, frame: None)


@contextmanager
def _handled(names: Sequence[str], handler: Handler) -> Iterator[None]:
    """Handle the signals that are not ignored, and restore their handlers at the end."""
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    before = {n: signal.getsignal(n) for n in numbers if signal.getsignal(n) != signal.SIG_IGN}
    for number in before:
        signal.signal(number, handler)
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)
