"""Wait for work that may never end, such as an exchange with a server, no longer than so long.

The work goes on in a thread that nobody heeds any more, until its own limits end it or the
process does: nothing else can interrupt the look-up of a name, a handshake that drips, or a
header that never ends.
"""

from __future__ import annotations

from collections.abc import Callable
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TypeVar

from memcli.errors import MORE_MEMORY, LegMissingError

Made = TypeVar("Made")


def within(seconds: float, work: Callable[[], Made]) -> Made:
    """Give what `work` gives or raise what it raises; TimeoutError where it takes longer.

    LegMissingError where the system gives no thread.
    """
    made: SimpleQueue[Made] = SimpleQueue()
    failed: list[BaseException] = []

    def run() -> None:
        try:
            made.put(work())
        except BaseException as error:  # raised again below, where somebody waits for it
            failed.append(error)
            made.put(None)  # type: ignore[arg-type]

    try:
        Thread(target=run, daemon=True).start()
    except RuntimeError as error:
        raise LegMissingError(
            f"no thread can be started for the endpoint: {error}", hint=MORE_MEMORY
        ) from error
    try:
        found = made.get(timeout=seconds)
    except Empty:
        raise TimeoutError(f"no answer within {seconds:g} s") from None
    if failed:
        raise failed.pop()  # kept by nothing here, so that what it held is closed with it
    return found
