"""Run work on threads: several things at once, in order, or one thing for at most so long.

The threads are daemons. A model that runs in C and a server that answers let other threads run
meanwhile; neither can be interrupted, so a process that ends does not wait for them.
"""

from __future__ import annotations

from _thread import allocate_lock as Lock
from collections.abc import Callable, Generator, Sequence

from memcli.checking import TYPE_CHECKING
from memcli.errors import MORE_MEMORY, RetrieverError

if TYPE_CHECKING:
    from queue import SimpleQueue
    from threading import Thread
    from typing import TypeVar

    Thing = TypeVar("Thing")
    Result = TypeVar("Result")
    Outcome = tuple[Result | None, BaseException | None]

STORES_AT_ONCE = 4  # a store waits for the disk for much of its time
# A model needs 0.3 s for a text at most. A server may take longer; nobody waits for it.
FAREWELL_SECONDS = 2.0


def within(seconds: float, work: Callable[[], Result]) -> Result:
    """Return what `work` returns, or raise what it raises; TimeoutError if it takes longer.

    RetrieverError if no thread can be started. Work that takes too long continues in the background
    until its own limits end it, because a name look-up or a handshake cannot be interrupted.
    """
    from queue import Empty

    slot: SimpleQueue[Outcome[Result]] = _slot()
    if not _started(1, lambda: slot.put(_outcome(work))):
        raise RetrieverError("no thread can be started for the endpoint", hint=MORE_MEMORY)
    try:
        return _result(slot.get(timeout=seconds))
    except Empty:
        raise TimeoutError(f"no answer within {seconds:g} s") from None


def in_order(
    work: Callable[[Thing], Result], things: Sequence[Thing], threads: int, *, ahead: int
) -> Generator[Result]:
    """Yield the result of each thing, in order, computed by `threads` threads.

    At most `ahead` results are computed before they are needed. An error is raised in its turn, and
    no more work starts. With one thread, or if none can be started, the caller does the work.
    """
    from functools import partial
    from threading import Event, Semaphore

    slots: list[SimpleQueue[Outcome[Result]]] = [_slot() for _ in things]
    room, guard, is_over = Semaphore(max(ahead, threads)), Lock(), Event()
    todo = enumerate(things)

    def take() -> tuple[int, Thing] | None:
        room.acquire()
        with guard:
            return None if is_over.is_set() else next(todo, None)

    def run() -> None:
        while entry := take():
            place, thing = entry
            outcome = _outcome(partial(work, thing))
            if outcome[1] is not None:
                is_over.set()
            slots[place].put(outcome)

    several = min(threads, len(things)) if min(threads, len(things)) > 1 else 0
    started = _started(several, run)
    if not started:
        yield from map(work, things)
        return
    try:
        for slot in slots:
            result = _result(slot.get())
            room.release()
            yield result
    finally:
        is_over.set()
        room.release(len(started))
        for thread in started:
            thread.join(FAREWELL_SECONDS)


def side_by_side(work: Callable[[Thing], Result], things: Sequence[Thing]) -> list[Result]:
    """Return the result of each thing, from a few threads; the first error ends all of them."""
    return list(in_order(work, things, STORES_AT_ONCE, ahead=len(things)))


def _slot() -> SimpleQueue[Outcome[Result]]:
    from queue import SimpleQueue

    return SimpleQueue()


def _outcome(work: Callable[[], Result]) -> Outcome[Result]:
    try:
        return work(), None
    except BaseException as error:  # raised again in the thread that asks for the result
        return None, error


def _result(outcome: Outcome[Result]) -> Result:
    result, error = outcome
    try:
        if error is not None:
            raise error
        return result  # type: ignore[return-value]  # without an error it is what the work returned
    finally:  # else the traceback would keep the error, and what the work had open, alive
        del error, outcome


def _started(count: int, run: Callable[[], None]) -> list[Thread]:
    """Start as many threads as the system gives, at most `count`."""
    from threading import Thread

    started = []
    for _ in range(count):
        thread = Thread(target=run, daemon=True)
        try:
            thread.start()
        except RuntimeError:
            break
        started.append(thread)
    return started
