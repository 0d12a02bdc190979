"""What a store keeps of documents, and what it remembers of itself."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from memcli.store.documents import (
    SourceCounts,
    TitledDocument,
    counts_by_source,
    documents_by_day,
    skipped_files,
)
from memcli.store.port import Snapshot, Store
from memcli.store.records import Counts, Facts, LineCheck
from memcli.types import KnownFile, Skip
from tests.store.contract.makers import (
    ENCODER,
    EVERYTHING,
    any_of,
    changing,
    document,
    embed,
    fill,
    found,
    keys,
    lines_of,
    put,
    search_by,
    stamp_of,
    summary,
)


def _own(snapshot: Snapshot) -> Facts:
    """Give the facts without who stored them, and when, which only a shared store tells."""
    return snapshot.facts._replace(origin="", changed_at="")


NOTES = "# Pool\n\nthe pool ran dry\n\n# Train\n\nthe train was late\n"


def test_a_new_store_is_empty_and_sound(store: Store) -> None:
    assert not store.exists()
    assert Path(store.state_path).is_absolute()
    with changing(store) as change:
        assert (list(change.notices), change.known(), change.integrity()) == ([], {}, "ok")
        assert (change.facts, change.counts()) == (Facts(), Counts(0, 0, 0, 0))
    assert store.exists()
    described = store.describe()
    assert (bool(described.address), described.set_aside) == (True, "")
    with store.snapshot() as snapshot:
        assert (_own(snapshot), snapshot.counts()) == (Facts(), Counts(0, 0, 0, 0))
        assert list(snapshot.documents(EVERYTHING)) == []
        assert list(snapshot.titles()) == []
        assert found(snapshot, any_of("pool")) == []


def test_what_is_put_is_known_and_counted(store: Store) -> None:
    with changing(store) as change:
        made = put(change, "a.md", NOTES)
        put(change, "memory/2025-01-02.md", "the fox\n")
        put(change, "o.md", "a plain note\n", "other")
        known, counts = change.known(), change.counts()
    stamp = stamp_of("a.md", NOTES)
    assert known["memory", "a.md"] == KnownFile(stamp.hash, *stamp.stat[2:], stamp.indexed_ns)
    assert set(known) == {*keys("a.md", "memory/2025-01-02.md"), ("other", "o.md")}
    parts = sum(len(chunk.segments) for chunk in made.chunks)
    assert counts == Counts(3, len(made.chunks) + 2, parts + 2, 0)
    with store.snapshot() as snapshot:
        assert (snapshot.known(), snapshot.counts()) == (known, counts)
        documents = snapshot.documents(EVERYTHING)
        assert counts_by_source(documents) == {
            "memory": SourceCounts(2, len(made.chunks) + 1, "2025-01-02", "2025-01-02"),
            "other": SourceCounts(1, 1, None, None),
        }
        assert documents_by_day(documents) == {"2025-01-02": 1}
        texts = [*(chunk.text for chunk in made.chunks), "the fox", "a plain note"]
        assert sorted(
            e.text.strip() for e in (snapshot.excerpts_of(sorted(snapshot.known()), EVERYTHING))
        ) == sorted(text.strip() for text in texts)
        assert snapshot.integrity() == "ok"


def test_a_document_is_replaced_whole(store: Store) -> None:
    fill(store, {"a.md": NOTES, "b.md": "the fox\n"})
    with changing(store) as change:
        made = put(change, "a.md", "# Coffee\n\n[beans](b.md) are out\n", authority=0.5)
        assert change.counts() == Counts(2, 2, 2, 0)
    with store.snapshot() as snapshot:
        assert found(snapshot, any_of("pool", "train")) == []
        assert found(snapshot, any_of("coffee")) == ["a.md"]
        assert set(snapshot.titles()) == {
            TitledDocument("memory", "a.md", "Coffee"),
            TitledDocument("memory", "b.md", "b"),
        }
        (excerpt,) = snapshot.excerpts_of(keys("a.md"), EVERYTHING)
        assert (excerpt.text, excerpt.about.anchor) == (made.chunks[0].text, made.chunks[0].anchor)
        assert (
            snapshot.known()["memory", "a.md"].size
            == stamp_of("a.md", "# Coffee\n\n[beans](b.md) are out\n").stat.size
        )


def test_a_document_that_cannot_be_stored_leaves_the_one_before(store: Store) -> None:
    fill(store, {"a.md": NOTES})
    broken = document("a.md", "# One\n\nfirst\n\n# Two\n\nsecond\n")
    first, second = broken.chunks
    broken = broken._replace(chunks=(first, second._replace(text=7)))  # type: ignore[arg-type]
    with changing(store) as change:
        before = change.facts, change.known(), change.counts()
        with pytest.raises(TypeError):
            change.put(broken, stamp_of("a.md", "something else"))
        assert (change.facts, change.known(), change.counts()) == before
    with store.snapshot() as snapshot:
        assert found(snapshot, any_of("pool")) == ["a.md"]
        assert found(snapshot, any_of("first")) == []


def test_a_touched_document_keeps_its_bytes(store: Store) -> None:
    fill(store, {"a.md": NOTES})
    stamp = stamp_of("a.md", NOTES)
    later = stamp._replace(stat=stamp.stat._replace(mtime_ns=77, inode=88), indexed_ns=99)
    with changing(store) as change:
        before = change.facts
        change.touch(("memory", "a.md"), later)
        assert change.known()["memory", "a.md"] == KnownFile(stamp.hash, *later.stat[2:], 99)
        assert change.facts == before


def test_nothing_is_left_of_a_document_that_is_removed(store: Store) -> None:
    log = "# Pool\n\n[x](b.md) ran dry\n"
    with changing(store) as change:
        put(change, "memory/2025-01-02.md", log, always=True)
        put(change, "memory/summaries/s.md", summary(lines_of("memory/2025-01-02.md", log, 1, 3)))
        put(change, "b.md", "the fox\n")
        embed(change)
        search_by(change)
        change.remove(("memory", "memory/2025-01-02.md"))
        change.remove(("memory", "memory/summaries/s.md"))
        change.remove(("memory", "never there.md"))
        assert change.counts() == Counts(1, 1, 1, 1)
        assert list(change.unchecked()) == []
    with store.snapshot() as snapshot:
        assert set(snapshot.known()) == {("memory", "b.md")}
        assert found(snapshot, any_of("pool", "dry", "said", "fox")) == ["b.md"]
        assert [each.path for each in snapshot.documents(EVERYTHING)] == ["b.md"]
        assert (list(snapshot.marked(soft=False)), list(snapshot.supports())) == ([], [])
        texts = snapshot.by_vector(ENCODER.encode_query("pool"), 10, EVERYTHING)()
        assert len(texts) == 1


def test_a_file_without_text_is_remembered_and_not_counted(store: Store) -> None:
    with changing(store) as change:
        put(change, "b.md", "the fox\n")
        empty = document("a.md", "")
        change.put(empty, stamp_of("a.md", ""), skip="not-text")
        assert change.counts() == Counts(1, 1, 1, 0)
        assert set(change.known()) == set(keys("a.md", "b.md"))
    with store.snapshot() as snapshot:
        documents = snapshot.documents(EVERYTHING)
        assert skipped_files(documents) == [Skip("memory", "a.md", "not-text")]
        assert counts_by_source(documents) == {"memory": SourceCounts(1, 1, None, None)}
    fill(store, {"a.md": "text now\n"})
    with store.snapshot() as snapshot:
        assert skipped_files(snapshot.documents(EVERYTHING)) == []
        assert snapshot.counts().documents == 2


PATHS = ("it's 50% [done] & 🍞 #1.md", "-rf.md", "a\nb.md", "NULL.md")
TEXTS = (
    "a'b\"c; DROP TABLE chunks; --",
    "\ufffd\x01\x1b[31m fox\n",
    "# \u202e\u2066 fox\n\U0001f600\u0301\n",
)


@pytest.mark.parametrize("text", TEXTS, ids=["sql", "controls", "bidi"])
def test_any_text_comes_back_as_it_was(store: Store, text: str) -> None:
    with changing(store) as change:
        made = {path: put(change, path, text) for path in PATHS}
    with store.snapshot() as snapshot:
        for path, document in made.items():
            excerpts = snapshot.excerpts_of(keys(path), EVERYTHING)
            assert [e.text for e in excerpts] == [c.text for c in document.chunks]
            assert [e.about.heading_path for e in excerpts] == [
                c.heading_path for c in document.chunks
            ]
        titles = {TitledDocument("memory", path, made[path].title) for path in PATHS}
        assert set(snapshot.titles()) == titles
        assert snapshot.integrity() == "ok"


def test_facts_are_remembered_by_name(store: Store) -> None:
    told = {"model": "verified", "chunking": "v1", "sources": '["one"]', "mounts": "[]"}
    with changing(store) as change:
        change.set_facts(told)
        assert change.facts == Facts(1, **told)  # type: ignore[arg-type]
        change.set_facts({"model": "another"}, revise=False)
    with store.snapshot() as snapshot:
        assert _own(snapshot) == Facts(1, **{**told, "model": "another"})  # type: ignore[arg-type]


def test_the_revision_grows_with_what_an_answer_depends_on(store: Store) -> None:
    log = "# Pool\n\nran dry\n"
    lines = lines_of("a.md", log, 1, 3)
    with changing(store) as change:

        def raises(act: Callable[[], object]) -> bool:
            before = change.facts.revision
            act()
            assert change.facts.revision >= before
            return change.facts.revision > before

        assert raises(lambda: put(change, "a.md", log))
        assert raises(lambda: put(change, "memory/summaries/s.md", summary(lines)))
        assert raises(lambda: change.set_facts({"sources": '["x"]'}))
        assert raises(lambda: search_by(change))
        assert raises(lambda: embed(change))
        found = [LineCheck(lines, stamp_of("a.md", log).hash, holds=True)]
        assert raises(lambda: change.check("memory/summaries/s.md", found))
        assert not raises(lambda: change.check("memory/summaries/s.md", found))
        assert not raises(lambda: change.set_facts({"sources": '["x"]'}))
        assert not raises(lambda: change.set_facts({"mounts": "[]"}, revise=False))
        assert not raises(lambda: change.touch(("memory", "a.md"), stamp_of("a.md", log)))
        assert not raises(lambda: search_by(change))
        assert not raises(lambda: search_by(change, none_waits=True))
        assert not raises(change.tidy)
        assert not raises(lambda: change.tidy(unused_days=0))
        assert raises(lambda: change.remove(("memory", "a.md")))


def test_a_sound_store_is_not_thrown_away_for_one_fault(store: Store) -> None:
    fill(store, {"a.md": NOTES})
    with store.snapshot() as snapshot:
        assert found(snapshot, any_of("pool")) == ["a.md"]
    with changing(store) as change:
        assert "a page is torn" in change.start_over("a page is torn")
        assert set(change.known()) == {("memory", "a.md")}
        put(change, "b.md", "the fox\n")
    assert store.describe().set_aside == ""
    with store.snapshot() as snapshot:
        assert set(snapshot.known()) == {("memory", "a.md"), ("memory", "b.md")}


def test_changes_are_seen_together(store: Store) -> None:
    with changing(store) as change:
        put(change, "a.md", "the fox\n")
        before = change.facts.revision
        with change.together() as commit:
            put(change, "b.md", "the fox\n")
            put(change, "c.md", "the fox\n")
            commit()
            with store.snapshot() as snapshot:
                assert set(snapshot.known()) == set(keys("a.md", "b.md", "c.md"))
            commit()
            change.remove(("memory", "a.md"))
        assert change.facts.revision > before
        seen = change.facts.revision
        with change.together():
            pass
        assert change.facts.revision == seen
    with store.snapshot() as snapshot:
        assert set(snapshot.known()) == set(keys("b.md", "c.md"))


def test_who_stops_between_two_changes_keeps_them(store: Store) -> None:
    with changing(store) as change:

        def stop_after_two() -> None:
            with change.together():
                put(change, "a.md", "the fox\n")
                put(change, "b.md", "the fox\n")
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            stop_after_two()
        assert set(change.known()) == set(keys("a.md", "b.md"))
        put(change, "c.md", "the fox\n")
    with store.snapshot() as snapshot:
        assert set(snapshot.known()) == set(keys("a.md", "b.md", "c.md"))
