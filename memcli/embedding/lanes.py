"""Do work on several things at once and give what comes of it in order.

A model that is run in C lets other threads run meanwhile, and so does a server that is asked: so
threads are enough, and whoever takes the results does so while the next are made.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from threading import Condition, Thread
from typing import Generic, TypeVar

Thing = TypeVar("Thing")
Made = TypeVar("Made")

# Once nobody wants more, threads may finish what they are at: the text of a model takes 0.3 s at
# most. What takes longer, as a server can, is no longer waited for.
FAREWELL_SECONDS = 2.0


def in_order(
    work: Callable[[Thing], Made], things: Sequence[Thing], threads: int, *, ahead: int
) -> Generator[Made]:
    """Give what `work` makes of each thing, in order, from so many threads.

    At most `ahead` things are begun that were not asked for yet. What `work` raises is raised
    in its turn, behind the results before it, and nothing more is begun. With one thread, or
    where the system gives none, the caller's own does the work.
    """
    if threads > 1 and len(things) > 1:
        lanes = _Lanes(work, things, max(ahead, threads))
        try:
            if lanes.start(min(threads, len(things))):
                yield from lanes
                return
        finally:
            lanes.stop()
    yield from map(work, things)


class _Lanes(Generic[Thing, Made]):
    """Things that wait for a thread, and results that wait to be taken."""

    def __init__(self, work: Callable[[Thing], Made], things: Sequence[Thing], ahead: int) -> None:
        self._work, self._things, self._ahead = work, things, ahead
        self._begun = self._taken = 0
        self._made: dict[int, Made] = {}
        self._failed: dict[int, BaseException] = {}
        self._is_over = False
        self._turn = Condition()
        self._threads: list[Thread] = []

    def start(self, threads: int) -> bool:
        """Start as many threads as the system gives; tell whether that is any."""
        for _ in range(threads):
            thread = Thread(target=self._run, daemon=True)
            try:
                thread.start()
            except RuntimeError:
                break
            self._threads.append(thread)
        return bool(self._threads)

    def __iter__(self) -> Iterator[Made]:
        for number in range(len(self._things)):
            with self._turn:
                while number not in self._made and number not in self._failed:
                    self._turn.wait()
                if number in self._failed:
                    raise self._failed.pop(number)
                made = self._made.pop(number)
                self._taken = number + 1
                self._turn.notify_all()
            yield made

    def stop(self) -> None:
        """Begin nothing more, and wait for what is being done."""
        with self._turn:
            self._is_over = True
            self._turn.notify_all()
        for thread in self._threads:
            thread.join(FAREWELL_SECONDS)
        self._failed.clear()  # their tracebacks lead back here

    def _run(self) -> None:
        while (number := self._next()) is not None:
            try:
                made = self._work(self._things[number])
            except BaseException as error:  # raised again where the result is taken
                with self._turn:
                    self._failed[number] = error
                    self._is_over = True
                    self._turn.notify_all()
                return
            with self._turn:
                self._made[number] = made
                self._turn.notify_all()

    def _next(self) -> int | None:
        with self._turn:
            while not self._is_over and self._begun < len(self._things):
                if self._begun < self._taken + self._ahead:
                    self._begun += 1
                    return self._begun - 1
                self._turn.wait()
            return None
