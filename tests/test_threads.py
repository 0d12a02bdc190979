"""Work on several things at once: the order, what is begun ahead, faults, an early end."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from memcli.threads import in_order


@pytest.mark.parametrize("threads", [0, 1, 2, 5, 50])
def test_results_come_in_the_order_of_the_things(threads: int) -> None:
    assert list(in_order(str, range(40), threads, ahead=3)) == [str(n) for n in range(40)]
    assert list(in_order(str, [], threads, ahead=3)) == []


def test_as_many_things_are_worked_on_at_once_as_there_are_threads() -> None:
    together = threading.Barrier(3, timeout=30)
    assert list(in_order(lambda _: together.wait() >= 0, range(6), 3, ahead=3)) == [True] * 6


def test_one_thread_is_the_callers_own() -> None:
    assert set(in_order(lambda _: threading.get_ident(), range(4), 1, ahead=9)) == {
        threading.get_ident()
    }


def test_no_more_is_begun_ahead_than_was_asked_for() -> None:
    begun: list[int] = []
    is_full = threading.Event()

    def work(number: int) -> int:
        begun.append(number)
        if number == 5:  # one was taken, and five are ahead of it
            is_full.set()
        return number

    made = in_order(work, range(100), 2, ahead=5)
    assert next(made) == 0
    assert is_full.wait(30)
    made.close()
    assert sorted(begun) == list(range(6))


def test_a_fault_comes_in_its_turn_and_nothing_more_is_begun() -> None:
    begun: list[int] = []
    is_late = threading.Event()

    def work(number: int) -> int:
        begun.append(number)
        if number == 3:
            is_late.set()
            raise ValueError("three")
        if number == 2:
            assert is_late.wait(30)  # the fault is there before the result that precedes it
        return number

    made = in_order(work, range(100), 2, ahead=10)
    assert [next(made), next(made), next(made)] == [0, 1, 2]
    with pytest.raises(ValueError, match="three"):
        next(made)
    assert max(begun) <= 4


def test_an_early_end_waits_for_what_is_being_done() -> None:
    ended: list[int] = []
    is_begun, go_on = threading.Event(), threading.Event()

    def work(number: int) -> int:
        if number:
            is_begun.set()
            assert go_on.wait(30)
        ended.append(number)
        return number

    made = in_order(work, range(100), 2, ahead=1)
    assert next(made) == 0
    assert is_begun.wait(30)
    threading.Timer(0.05, go_on.set).start()
    made.close()
    assert 1 in ended


def test_without_threads_the_caller_does_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert list(in_order(str, range(5), 4, ahead=4)) == ["0", "1", "2", "3", "4"]


def test_fewer_threads_than_wished_for_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    start: Callable[[threading.Thread], None] = threading.Thread.start
    started: list[threading.Thread] = []

    def once(thread: threading.Thread) -> None:
        if started:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", once)
    assert list(in_order(str, range(5), 4, ahead=4)) == ["0", "1", "2", "3", "4"]
