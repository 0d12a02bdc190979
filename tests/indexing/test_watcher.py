"""When a watcher acts, with times made by hand: no clock, no files, no threads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.indexing.watcher import (
    BEAT,
    BEAT_SECONDS,
    EMBED,
    LAST_RETRY_SECONDS,
    LOOK,
    MOST_PATHS,
    PROBE,
    PROBE_SECONDS,
    RUN,
    SETTLE_SECONDS,
    WAIT,
    Action,
    Stamp,
    Watcher,
)

DEBOUNCE, INTERVAL = 1.5, 600.0
SAME: dict[str, Stamp] = {}


def ready(start: float = 0.0, *, interval: float = INTERVAL, debounce: float = DEBOUNCE) -> Watcher:
    """Give a watcher whose first run has just ended."""
    watcher = Watcher(start, debounce=debounce, interval=interval)
    assert watcher.due(start) == Action(RUN, reason="start")
    watcher.began()
    watcher.ended(start, pending=0)
    return watcher


def until(watcher: Watcher, now: float, end: float) -> Iterator[tuple[float, Action]]:
    """Do what is due from `now` to `end`, files looking the same each time; give runs."""
    while now <= end:
        action = watcher.due(now)
        if action.kind == WAIT:
            assert action.seconds > 0
            now += action.seconds
        elif action.kind == LOOK:
            watcher.note_stamps(now, SAME)
        elif action.kind == PROBE:
            watcher.probed(now, cost=0.0)
        elif action.kind == BEAT:
            watcher.beaten(now)
        else:
            yield now, action
            watcher.began()
            watcher.ended(now, pending=0)


def runs(watcher: Watcher, events: Sequence[tuple[float, str]], end: float) -> list[float]:
    """Play events and give the times at which runs began."""
    found, now = [], 0.0
    for at, path in [*events, (end, "")]:
        found += [run_at for run_at, _ in until(watcher, now, at)]
        now = at
        if path:
            watcher.touched(at, path)
    return [round(at, 6) for at in found]


def test_a_run_comes_when_nothing_was_heard_for_the_debounce_time() -> None:
    assert runs(ready(), [(10.0, "a"), (10.5, "b"), (11.0, "a")], 60) == [12.5]


def test_a_watcher_begins_with_a_run_and_heeds_what_is_heard_meanwhile() -> None:
    watcher = Watcher(0.0, debounce=DEBOUNCE, interval=INTERVAL)
    watcher.began()
    watcher.touched(18.0, "a")
    watcher.ended(20.0, pending=0)
    assert watcher.due(20.0).kind == LOOK, "the quiet is over: only settling is left"
    assert [at for at, _ in until(watcher, 20.0, 30.0)] == [20.0 + SETTLE_SECONDS]


def test_endless_writing_starves_nothing() -> None:
    events = [(10.0, "other"), *((10.0 + n / 10, "log") for n in range(300))]
    assert runs(ready(), events, 40.0)[:3] == [16.0, 22.0, 28.0]


def test_a_short_debounce_still_waits_two_seconds_at_most() -> None:
    events = [(10.0 + n / 100, "log") for n in range(500)]
    assert runs(ready(debounce=0.1), events, 14.0)[0] == 12.0


def test_a_file_that_changes_without_an_event_is_waited_for() -> None:
    watcher = ready()
    watcher.touched(10.0, "a")
    assert watcher.due(11.2).kind in (PROBE, BEAT, WAIT)
    watcher.note_stamps(11.3, {"a": (0, 1, 7)})  # cut to nothing, about to be written
    watcher.note_stamps(11.5, {"a": (900, 2, 7)})
    assert [round(at, 3) for at, _ in until(watcher, 11.5, 30)] == [13.0]


def test_a_file_that_never_settles_is_taken_as_it_is() -> None:
    watcher = ready()
    watcher.touched(10.0, "a")
    now, size = 10.0, 0
    while (action := watcher.due(now)).kind != RUN:
        if action.kind == LOOK:
            size += 1
            watcher.note_stamps(now, {"a": (size, size, 7)})
        elif action.kind == PROBE:
            watcher.probed(now, cost=0.0)
        elif action.kind == BEAT:
            watcher.beaten(now)
        else:
            now += action.seconds
    assert now == 16.0


def test_a_folder_or_lost_events_need_no_look() -> None:
    watcher = ready()
    watcher.unsure(10.0)
    assert watcher.waiting == 1
    assert [at for at, _ in until(watcher, 10.0, 30.0)] == [11.5]


def test_the_sweep_comes_after_the_interval_and_can_be_off() -> None:
    assert runs(ready(), [], 1300.0) == [600.0, 1200.0]
    assert runs(ready(interval=0.0), [], 5000.0) == []


def test_the_reason_of_a_run_is_told() -> None:
    watcher = ready()
    watcher.touched(10.0, "a")
    assert [(at, action.reason) for at, action in until(watcher, 10.0, 700.0)] == [
        (11.5, "change"),
        (611.5, "sweep"),
    ]


def test_failures_are_tried_again_with_growing_patience() -> None:
    watcher = ready()
    watcher.touched(0.0, "a")
    now, waits = 1.5, []
    for _ in range(9):
        watcher.began()
        watcher.failed(now)
        waits.append(watcher.retry_seconds)
        watcher.touched(now + 0.1, "b")  # what is heard does not hasten it
        times = until(watcher, now, now + 100.0)
        again, action = next(times)
        assert action.reason == "retry"
        assert round(again - now, 6) == waits[-1]
        now = again
    assert waits == [1, 2, 4, 8, 16, 32, LAST_RETRY_SECONDS, LAST_RETRY_SECONDS, LAST_RETRY_SECONDS]
    watcher.began()
    watcher.ended(now, pending=0)
    assert watcher.failures == 0
    assert watcher.waiting == 0


def test_another_writer_is_tried_again_every_second() -> None:
    watcher = ready()
    for now in (1.0, 5.0, 9.0):
        watcher.began()
        watcher.failed(now, busy=True)
        assert [at for at, _ in until(watcher, now, now + 2)] == [now + 1]


@pytest.mark.parametrize(("hurry", "again"), [(True, 21.5), (False, 32.0)])
def test_only_a_folder_that_comes_back_hastens_the_next_try(hurry: bool, again: float) -> None:
    watcher = ready()
    for now in (1.0, 2.0, 4.0, 8.0, 16.0):
        watcher.began()
        watcher.failed(now)
    watcher.unsure(20.0, hurry=hurry)
    assert [at for at, _ in until(watcher, 20.0, 40.0)] == [again]


def test_a_failed_run_forgets_nothing() -> None:
    watcher = ready()
    watcher.touched(1.0, "a")
    watcher.began()
    assert (watcher.waiting, watcher.backlog) == (0, 1)
    watcher.failed(3.0)
    assert watcher.backlog == 1


def test_vectors_wait_for_changed_files_but_not_for_the_quiet() -> None:
    watcher = ready()
    watcher.ended(0.0, pending=300)
    watcher.probed(0.0, cost=0.0)
    watcher.beaten(0.0)
    assert watcher.due(0.5).kind == EMBED
    watcher.touched(0.6, "a")
    assert watcher.due(0.7).kind == EMBED
    watcher.unsure(0.8)
    assert watcher.due(30.0).kind == RUN
    watcher.embedded(pending=172)
    assert watcher.pending == 172
    watcher.embedded(pending=172)
    assert watcher.pending == 0, "without progress it is left for the next run"


def test_probes_and_heartbeats_go_on_while_a_run_is_retried() -> None:
    watcher = ready()
    watcher.began()
    for _ in range(7):
        watcher.failed(100.0)
    kinds = set()
    now = 100.0
    while now < 159.0:
        action = watcher.due(now)
        kinds.add(action.kind)
        if action.kind == PROBE:
            watcher.probed(now, cost=0.0)
        elif action.kind == BEAT:
            watcher.beaten(now)
        else:
            now += action.seconds
    assert kinds == {WAIT, PROBE, BEAT}


@pytest.mark.parametrize(("cost", "pause"), [(0.0, PROBE_SECONDS), (0.01, 1.0), (0.2, 4.0)])
def test_a_costly_probe_comes_less_often(cost: float, pause: float) -> None:
    """A walk of 0.2 s every 4 s is one twentieth of the time."""
    watcher = ready()
    watcher.beaten(50.0)
    watcher.probed(50.0, cost=cost)
    assert watcher.due(50.0) == Action(WAIT, seconds=pause)


def test_the_heartbeat_is_due_in_the_middle_of_a_run() -> None:
    watcher = ready()
    watcher.beaten(0.0)
    watcher.began()
    assert not watcher.due_to_beat(BEAT_SECONDS - 1)
    assert watcher.due_to_beat(BEAT_SECONDS)


def test_a_flood_of_paths_stays_bounded() -> None:
    watcher = ready()
    for number in range(MOST_PATHS + 500):
        watcher.touched(1.0, f"memory:{number}.md")
    assert len(watcher.paths) == MOST_PATHS
    watcher.began()
    assert watcher.backlog == MOST_PATHS


@given(
    st.lists(
        st.tuples(st.floats(0.0, 5.0), st.sampled_from(["a", "b", "c"]), st.booleans()), max_size=40
    ),
    st.sampled_from([0.0, 0.1, 1.5, 4.0]),
)
def test_every_event_is_followed_by_a_run_within_the_bound(
    gaps: list[tuple[float, str, bool]], debounce: float
) -> None:
    watcher = ready(debounce=debounce, interval=0.0)
    now, waiting = 0.0, None
    for gap, path, is_folder in [*gaps, (100.0, "", False)]:
        for run_at, _ in until(watcher, now, now + gap):
            assert waiting is not None, "nothing was heard and yet it ran"
            assert run_at - waiting <= watcher.max_wait + 1e-6
            waiting = None
        now += gap
        if path:
            watcher.unsure(now) if is_folder else watcher.touched(now, path)
            waiting = now if waiting is None else waiting
    assert waiting is None
    assert watcher.waiting == 0


def test_an_encoder_that_is_away_is_asked_again_ever_more_patiently() -> None:
    watcher = ready()
    now, waits = 0.0, []
    for _ in range(8):
        watcher.refused(now, pending=5)
        start = now
        while watcher.due(now).kind != EMBED:
            action = watcher.due(now)
            now += action.seconds
            if action.kind == PROBE:
                watcher.probed(now, cost=0.0)
            elif action.kind == BEAT:
                watcher.beaten(now)
            elif action.kind == RUN:
                watcher.began()
                watcher.ended(now, pending=0)
                watcher.refused(now, pending=5)
        waits.append(now - start)
    assert waits[:4] == [1.0, 2.0, 4.0, 8.0]
    assert max(waits) <= 60.0
    watcher.embedded(pending=0)
    watcher.refused(now, pending=0)
    watcher.probed(now + 1.0, cost=0.0)
    watcher.beaten(now + 1.0)
    assert (watcher.pending, watcher.due(now + 1.0).kind) == (1, EMBED)
