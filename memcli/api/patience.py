"""Wait if a server asks for it, without the writer lock.

An encoder that has to wait calls `ask` instead of sleeping, and so leaves the work unfinished. The
writer releases the lock, calls `wait`, and starts the work again. Finished work is kept, so the
run continues from there.
"""

from __future__ import annotations

from collections.abc import Callable

from memcli.checking import TYPE_CHECKING
from memcli.errors import AskedToWaitError, RetrieverError

if TYPE_CHECKING:
    from typing import NoReturn

MOST_WAITS = 4  # without an answer in between


class Patience:
    """How often in a row a server has asked to wait, and how long."""

    def __init__(self, sleep: Callable[[float], None]) -> None:
        """Take the sleep that is meant."""
        self._sleep = sleep
        self._asked = 0
        self._seconds: float | None = None

    @property
    def is_asked(self) -> bool:
        """Tell that a server wants to be waited for."""
        return self._seconds is not None

    def ask(self, seconds: float) -> NoReturn:
        """Note the request and leave the work; RetrieverError after too many of them."""
        if self._asked == MOST_WAITS:
            self._asked = 0
            raise RetrieverError(
                f"the endpoint stays busy: it has asked to wait {MOST_WAITS} times in a row",
                hint="memcli index, later",
            )
        self._seconds = max(seconds, 2.0**self._asked)  # each time at least twice as long
        self._asked += 1
        raise AskedToWaitError

    def wait(self) -> None:
        """Wait as long as the server was given."""
        seconds, self._seconds = self._seconds, None
        self._sleep(seconds or 0.0)

    def rewarded(self) -> None:
        """Take note that the server has answered."""
        self._asked = 0
