"""A store that is built beside another one: nobody sees it before all of it is there."""

from __future__ import annotations

from contextlib import suppress

import pytest

from memcli.errors import RetryLaterError
from memcli.store.port import Rebuild, Store
from memcli.store.records import Support
from memcli.store.run_records import AWAITED_SECONDS
from tests.hashing import HashingEncoder
from tests.store.contract.makers import (
    ENCODER,
    EVERYTHING,
    Clock,
    any_of,
    changing,
    document,
    embed,
    fill,
    fill_embedded,
    found,
    keys,
    lines_of,
    near,
    put,
    search_by,
    stamp_of,
    summary,
)

ANY = any_of("fox", "train", "pool")


class Stopped(Exception):
    pass


def answers(store: Store) -> list[str]:
    with store.snapshot() as snapshot:
        return sorted(found(snapshot, ANY))


def stop_after(store: Store, *paths: str, by: type[Exception] = Stopped) -> None:
    """Begin a rebuild, put some documents and fail."""

    def begin() -> None:
        with changing(store) as change, change.rebuild() as side:
            for path in paths:
                put(side, path, "the fox\n")
            raise by

    with pytest.raises(by):
        begin()


def test_the_old_store_answers_until_the_new_one_is_published(store: Store) -> None:
    fill(store, {"a.md": "the fox\n", "b.md": "the train\n"})
    with changing(store) as change:
        for number in range(9):
            change.set_facts({"sources": f"{number}"})
        revision = change.facts.revision
        change.set_facts({"mounts": '[["memory", "disk"]]'}, revise=False)
        with change.rebuild() as side:
            assert (side.known(), side.facts.mounts) == ({}, '[["memory", "disk"]]')
            put(side, "c.md", "the pool\n")
            side.set_facts({"chunking": "new"})
            assert (answers(store), answers_of(side)) == (["a.md", "b.md"], {"c.md"})
            assert set(change.known()) == set(keys("a.md", "b.md"))
            side.publish()
        assert set(change.known()) == {("memory", "c.md")}
        assert change.facts.revision > revision
        assert change.facts.chunking == "new"
        change.drop_rebuild()
    assert answers(store) == ["c.md"]


def answers_of(side: Rebuild) -> set[str]:
    return {path for _, path in side.known()}


def test_a_snapshot_that_is_held_outlives_the_publication(store: Store) -> None:
    fill(store, {"a.md": "the fox\n"})
    with store.snapshot() as held:
        with changing(store) as change, change.rebuild() as side:
            put(side, "b.md", "the train\n")
            side.publish()
        assert found(held, ANY) == ["a.md"]
        assert answers(store) == ["b.md"]
        assert set(held.known()) == {("memory", "a.md")}


def test_a_rebuild_that_failed_is_gone_on_with(store: Store) -> None:
    fill(store, {"a.md": "the fox\n"})
    stop_after(store, "b.md", "c.md")
    assert answers(store) == ["a.md"]
    with changing(store) as change:
        put(change, "z.md", "the pool\n")
        with change.rebuild() as side:
            assert answers_of(side) == {"b.md", "c.md"}
            put(side, "d.md", "the train\n")
            side.publish()
        with change.rebuild() as side:  # what was published is no half-built store any more
            assert answers_of(side) == set()
    assert answers(store) == ["b.md", "c.md", "d.md"]


def test_a_rebuild_that_nobody_has_gone_on_with_is_dropped(store: Store, clock: Clock) -> None:
    fill(store, {"a.md": "the fox\n"})
    stop_after(store, "b.md")
    hour = 3600.0
    for hours, left in ((0.9, {"b.md"}), (0.9, {"b.md"}), (1.0, set())):
        clock.pass_days(hours / 24)
        with changing(store) as change:
            change.drop_rebuild(seconds=hour)
            with change.rebuild() as side:  # which goes on with it
                assert answers_of(side) == left
    stop_after(store, "c.md")
    with changing(store) as change:
        change.drop_rebuild()
        change.drop_rebuild()
        with change.rebuild() as side:
            assert answers_of(side) == set()


@pytest.mark.parametrize(("hours", "comes_back"), [(0.15, True), (0.17, False)])
def test_what_a_dead_run_half_built_goes_and_what_waits_for_a_server_stays_ten_minutes(
    store: Store, clock: Clock, hours: float, comes_back: bool
) -> None:
    fill(store, {"a.md": "the fox\n"})
    stop_after(store, "b.md", by=RetryLaterError)
    clock.pass_days(hours / 24)
    with changing(store) as change:
        change.drop_rebuild(awaited_seconds=AWAITED_SECONDS)
        with change.rebuild() as side:
            assert answers_of(side) == ({"b.md"} if comes_back else set())
    stop_after(store, "c.md")  # it was gone on with, and then stopped by something else
    with changing(store) as change:
        change.drop_rebuild(awaited_seconds=AWAITED_SECONDS)
        with change.rebuild() as side:
            assert answers_of(side) == set()


@pytest.mark.parametrize("own", [True, False])
def test_vectors_that_a_dead_run_has_made_are_kept(store: Store, clock: Clock, own: bool) -> None:
    """Those of another encoder, and of texts that nothing holds, until their time comes."""
    encoder = ENCODER if own else HashingEncoder(dimension=32)
    fill(store, {"a.md": "the fox\n", "b.md": "the train\n"})
    with changing(store) as change:
        search_by(change)
        revision = change.facts.revision
        with suppress(Stopped), change.rebuild() as side:
            put(side, "a.md", "the fox\n")
            put(side, "c.md", "the pool\n")
            embed(side, encoder)
            raise Stopped
        assert change.unembedded(encoder.fingerprint) == 2
        change.drop_rebuild(awaited_seconds=AWAITED_SECONDS)
        assert change.facts.revision > revision
        assert change.unembedded(encoder.fingerprint) == 1
        assert change.integrity() == "ok"
    with store.snapshot() as snapshot:
        assert near(snapshot, "the fox", limit=2) == (["a.md"] if own else [])
    with changing(store) as change:
        clock.pass_days(30)
        assert change.tidy(unused_days=30) == (1 if own else 2)


@pytest.mark.parametrize("pages", [None, 250])
@pytest.mark.parametrize("by", [Stopped, RetryLaterError])
def test_vectors_of_a_half_built_store_outlive_a_deletion(
    store: Store, by: type[Exception], pages: int | None
) -> None:
    """A search takes away what may hold the deleted text, and nothing that was embedded."""
    other = HashingEncoder(dimension=32)
    fill(store, {"a.md": "the fox\n", "b.md": "the train\n"})
    with suppress(by), changing(store) as change, change.rebuild() as side:
        put(side, "a.md", "the fox\n")
        embed(side, other)
        raise by
    with changing(store) as change:
        change.remove(("memory", "b.md"))
        change.tidy(pages=pages)
    with changing(store) as change, change.rebuild() as side:
        put(side, "a.md", "the fox\n")
        side.take_over(())
        assert side.unembedded(other.fingerprint) == 0


def test_vectors_are_taken_over(store: Store) -> None:
    texts = {"a.md": "# A\n\nthe fox\n", "b.md": "# B\n\nthe train\n"}
    fill(store, texts)
    with changing(store) as change:
        change.set_facts({"model": "verified"})
        embed(change)
        search_by(change)
        with change.rebuild() as side:
            for path, text in texts.items():
                put(side, path, text)
            put(side, "c.md", "the pool\n")
            assert side.unembedded(ENCODER.fingerprint) == 3
            side.take_over([])
            assert side.facts.model == "verified"
            assert (side.facts.fingerprint, side.facts.dimension) == change.facts[1:3]
            assert side.unembedded(ENCODER.fingerprint) == 1
            assert embed(side) == 1
            search_by(side, none_waits=True)
            side.publish()
        assert change.unembedded(ENCODER.fingerprint) == 0
        assert change.counts().embedded == 3
    with store.snapshot() as snapshot:
        assert near(snapshot, "the pool", limit=1) == ["c.md"]
        assert len(near(snapshot, "the fox", limit=3)) == 3


def test_a_cache_that_is_taken_over_is_pruned_when_its_time_comes(
    store: Store, clock: Clock
) -> None:
    fill_embedded(store, {"a.md": "the fox\n", "b.md": "the train\n"})
    with changing(store) as change:
        with change.rebuild() as side:
            put(side, "a.md", "the fox\n")
            side.take_over([])
            side.publish()
        clock.pass_days(5)
        assert change.tidy(unused_days=6) == 0
        clock.pass_days(1)
        assert change.tidy(unused_days=6) == 1
        assert change.unembedded(ENCODER.fingerprint) == 0


def test_documents_that_nobody_could_see_are_taken_over_whole(store: Store) -> None:
    log = "one\ntwo\n"
    rests = lines_of("memory/2025-01-01.md", log, 1, 1)
    hidden = keys("memory/2025-01-01.md", "memory/summaries/s.md", "memory/blob.md")
    with changing(store) as change:
        put(change, "memory/2025-01-01.md", log)
        put(change, "memory/summaries/s.md", summary(rests, confidence=0.75))
        put(change, "o.md", "# Fox\n\n[l](b.md)\n\n- a\n- b\n", "other", authority=0.5, soft=True)
        change.put(document("memory/blob.md", ""), stamp_of("memory/blob.md", ""), skip="not-text")
        embed(change)
        search_by(change)
    before = everything(store)
    with changing(store) as change:
        with change.rebuild() as side:
            side.take_over([*hidden, ("other", "o.md")])
            assert [*side.unchecked()] == ["memory/summaries/s.md"]
            side.publish()
        assert change.unembedded(ENCODER.fingerprint) == 0
    assert everything(store) == before
    with store.snapshot() as snapshot:
        assert [*snapshot.supports()] == [Support("memory/summaries/s.md", rests, False)]


def everything(store: Store) -> object:
    with store.snapshot() as snapshot:
        excerpts = [
            e._replace(about=e.about._replace(chunk_id=0))
            for e in snapshot.excerpts_of(list(snapshot.known()), EVERYTHING)
        ]
        soft = [(m.authority, len(m.excerpts)) for m in snapshot.marked(soft=True)]
        return (
            snapshot.known(), snapshot.counts(), excerpts, soft, snapshot.documents(EVERYTHING),
            set(snapshot.titles()),
        )  # fmt: skip
