"""Who sees which state, who may write, and who watches."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from threading import Barrier

import pytest

from memcli.errors import BusyError, IndexMissingError
from memcli.store.lock import living_watcher, owner, watching
from memcli.store.open import store_at
from memcli.store.port import Store
from memcli.store.records import LineCheck, Support
from memcli.store.run_records import WatchRecord
from tests.store.contract.makers import (
    ENCODER,
    EVERYTHING,
    Clock,
    any_of,
    changing,
    embed,
    fill,
    fill_embedded,
    found,
    lines_of,
    near,
    never,
    put,
    search_by,
    stamp_of,
    summary,
)

ANY = any_of("fox", "train", "pool")


def test_there_is_nothing_to_ask_before_anything_is_stored(store: Store) -> None:
    with pytest.raises(IndexMissingError) as missing, store.snapshot():
        pass
    assert missing.value.hint == "memcli index"
    assert not store.exists()
    assert (owner(store.state_path), living_watcher(store.state_path)) == (None, None)


def test_a_snapshot_sees_no_later_change(store: Store) -> None:
    fill(store, {"a.md": "the fox\n", "b.md": "the train\n"})
    with store.snapshot() as held, changing(store) as change:
        put(change, "c.md", "the pool\n")
        change.remove(("memory", "b.md"))
        change.set_facts({"model": "later"})
        embed(change)
        search_by(change)
        with store.snapshot() as later:
            assert found(later, ANY) == ["a.md", "c.md"]
            assert later.facts.model == "later"
            assert len(near(later, "pool")) == 2
        assert sorted(found(held, ANY)) == ["a.md", "b.md"]
        assert (held.counts().documents, held.facts.model) == (2, None)
        assert near(held, "pool") == []
        put(change, "a.md", "nothing any more\n")
        assert sorted(found(held, ANY)) == ["a.md", "b.md"]
    with store.snapshot() as after:
        assert found(after, ANY) == ["c.md"]


def test_each_change_is_seen_when_it_is_made(store: Store) -> None:
    with changing(store) as change:
        for number in range(3):
            put(change, f"{number}.md", "the fox\n")
            with store.snapshot() as snapshot:
                assert snapshot.counts().documents == number + 1
                # Who stored it and when, a server knows, which its writer does not ask.
                assert snapshot.facts._replace(origin="", changed_at="") == change.facts


def test_what_was_done_before_a_failure_is_kept(store: Store) -> None:
    def fail_to_write() -> None:
        with changing(store) as change:
            put(change, "a.md", "the fox\n")
            raise ZeroDivisionError

    def fail_to_read() -> None:
        with store.snapshot() as snapshot:
            assert found(snapshot, ANY) == ["a.md"]
            raise ZeroDivisionError

    for fail in (fail_to_write, fail_to_read, fail_to_read):
        with pytest.raises(ZeroDivisionError):
            fail()


def test_a_closed_store_can_be_asked_again(store: Store) -> None:
    fill(store, {"a.md": "the fox\n"})
    for number in range(3):
        with store.snapshot() as snapshot:
            assert "a.md" in found(snapshot, ANY)
        store.close()
        store.close()
        fill(store, {f"{number}.md": "the train\n"})
    with store.snapshot() as snapshot:
        assert len(found(snapshot, ANY)) == 4


def test_four_threads_are_answered_at_once(store: Store) -> None:
    fill_embedded(store, {f"{number}.md": f"fox number {number}\n" for number in range(9)})
    together = Barrier(4, timeout=30)

    def ask(_: int) -> tuple[object, ...]:
        with store.snapshot() as snapshot:
            together.wait()
            waiting = snapshot.by_vector(ENCODER.encode_query("fox number 3"), 5, EVERYTHING)
            answers = [found(snapshot, ANY), list(snapshot.tokens(["running foxes"]))]
            together.wait()
            return *answers, list(waiting()), snapshot.counts()

    with ThreadPoolExecutor(4) as threads:
        rounds = [list(threads.map(ask, range(4))) for _ in range(3)]
    first = rounds[0][0]
    assert all(answer == first for each in rounds for answer in each)
    assert first[1] == [("run", "fox")]


def writing(store: Store, *, wait: float = 0.0, sleep: Callable[[float], None] = never) -> None:
    with store.change(wait_seconds=wait, sleep=sleep):
        pass


def test_one_writes_at_a_time_and_is_named(store: Store) -> None:
    with changing(store) as change:
        put(change, "a.md", "the fox\n")
        writer = owner(store.state_path)
        assert writer is not None
        assert writer.pid == os.getpid()
        assert str(writer).startswith(f"pid {os.getpid()}, since 20")
        with pytest.raises(BusyError, match=f"pid {os.getpid()}, since 20"):
            writing(store)
        with pytest.raises(BusyError), store.locked(wait_seconds=0.0, sleep=never):
            pass
    assert owner(store.state_path) is None
    writing(store)


def test_a_locked_store_is_read_and_not_written(store: Store) -> None:
    fill(store, {"a.md": "the fox\n"})
    with store.locked(wait_seconds=0.0, sleep=never):
        assert owner(store.state_path) is not None
        with pytest.raises(BusyError):
            writing(store)
        with store.snapshot() as snapshot:
            assert found(snapshot, ANY) == ["a.md"]
    writing(store)


def test_another_writer_is_waited_for_and_no_longer_than_said(store: Store) -> None:
    slept: list[float] = []
    with ExitStack() as held:
        held.enter_context(store.locked(wait_seconds=0.0, sleep=never))
        with pytest.raises(BusyError):
            writing(store, wait=0.5, sleep=slept.append)
        assert sum(slept) == pytest.approx(0.5, abs=0.1)
        writing(store, wait=60.0, sleep=lambda seconds: held.close())


def test_a_failure_lets_the_next_one_write(store: Store) -> None:
    for held in (changing(store), store.locked(wait_seconds=0.0, sleep=never)):
        with pytest.raises(ZeroDivisionError), held:
            raise ZeroDivisionError
    writing(store)


def test_one_watches_and_says_how_it_is_doing(store: Store) -> None:
    record = WatchRecord(os.getpid(), "2026-02-10T09:00:00+00:00", backlog=3, mode="polling")
    with watching(store.state_path, sleep=never) as watch:
        assert living_watcher(store.state_path) == WatchRecord(os.getpid())
        assert all(Path(file).exists() for file in watch.files)
        watch.tell(record)
        assert living_watcher(store.state_path) == record
        watch.tell(record._replace(backlog=0, failure="no space"))
        assert living_watcher(store.state_path) == record._replace(backlog=0, failure="no space")
        with (
            pytest.raises(BusyError, match=f"pid {os.getpid()}.* watches this workspace"),
            watching(store.state_path, sleep=never),
        ):
            pass
        assert living_watcher(store.state_path) is not None
    assert living_watcher(store.state_path) is None
    with watching(store.state_path, sleep=never):
        assert living_watcher(store.state_path) == WatchRecord(os.getpid()), (
            "the record of before says nothing"
        )


def test_a_watched_store_is_written_and_read(store: Store) -> None:
    with watching(store.state_path, sleep=never):
        assert owner(store.state_path) is None
        fill(store, {"a.md": "the fox\n"})
        with changing(store), store.snapshot() as snapshot:
            assert found(snapshot, ANY) == ["a.md"]
            assert living_watcher(store.state_path) is not None


def test_a_copy_answers_as_the_store_does(store: Store, tmp_path: Path, clock: Clock) -> None:
    log = "the fox\nthe train\n"
    lines = lines_of("a.md", log, 1, 1)
    fill(store, {"a.md": "the pool\n"})
    path = str(tmp_path / "copy" / "index.sqlite")
    Path(path).parent.mkdir()
    with store.snapshot() as held:  # somebody is still reading what was there before
        assert found(held, ANY) == ["a.md"]
        with changing(store) as change:
            put(change, "a.md", log)
            put(change, "b.md", "# B\n\nthe train\n", "other", authority=0.5)
            put(change, "memory/summaries/s.md", summary(lines))
            change.check(
                "memory/summaries/s.md", [LineCheck(lines, stamp_of("a.md", log).hash, holds=True)]
            )
            embed(change)
            search_by(change)
        with store.locked(wait_seconds=0.0, sleep=never):
            store.copy_to(store_at(path, clock))
    with changing(store) as change:
        put(change, "a.md", "nothing any more\n")
    copy = store_at(path, clock)
    with copy.snapshot() as snapshot:
        assert found(snapshot, any_of("fox", "pool")) == ["a.md"]
        assert near(snapshot, "the fox")[0] == "a.md"
        assert [*snapshot.supports()] == [Support("memory/summaries/s.md", lines, True)]
        assert snapshot.counts()[0] == 3
    copy.close()
