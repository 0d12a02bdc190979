"""The memory that a server answers from: opened by whoever needs it first, kept for all others."""

from __future__ import annotations

from threading import Lock

from memcli.checking import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from memcli.api.memory import Memory

_ANY_QUESTION = "memory"


class HeldMemory:
    """A memory that threads share, and that may not be there yet."""

    def __init__(self, open: Callable[[], Memory]) -> None:
        """Take what opens it; it is asked again as long as it fails."""
        self._open = open
        self._opening, self._warming = Lock(), Lock()
        self._memory: Memory | None = None
        self._is_warm = False

    def opened(self) -> Memory:
        """Give the memory; the errors of `Memory.open` where it cannot be opened yet."""
        with self._opening:
            if self._memory is None:
                self._memory = self._open()
            return self._memory

    def warm(self) -> Memory:
        """Give the memory with its index in step and its model loaded, by a first question.

        Whatever is wrong with that is wrong with any question.
        """
        memory = self.opened()
        with self._warming:
            if not self._is_warm:
                memory.search(_ANY_QUESTION, limit=1)
                self._is_warm = True
        return memory
