"""Search by vectors: what waits for one, what is near, and for how long a vector is kept."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from memcli.indexing.indexer import text_of
from memcli.store.port import Store
from memcli.store.records import RetrieverResults, Scope
from memcli.store.run_records import Pending
from memcli.types import MEMORY_SOURCE, Filters, SegmentScore, TermQuery
from tests.hashing import HashingEncoder
from tests.store.contract.makers import (
    ENCODER,
    EVERYTHING,
    Clock,
    changing,
    cosine,
    embed,
    every_chunk,
    fill,
    fill_embedded,
    near,
    places,
    put,
    search_by,
    stamp_of,
)

OTHER = HashingEncoder(dimension=32)
NOTES = {
    "a.md": "# Pool\n\nthe pool ran dry\n",
    "b.md": "# Train\n\nthe train was late\n",
    "c.md": "# Fox\n\na fox in the pool\n",
}


def cosines(store: Store, encoder: HashingEncoder = ENCODER) -> dict[str, list[float | None]]:
    """Give the cosine of every part to a query, by path."""
    with store.snapshot() as snapshot:
        retrievers = RetrieverResults(TermQuery(), (), encoder.encode_query("the pool"), ())
        return {
            found.about.path: [part.cosine for part in found.segments]
            for found in snapshot.candidates(list(every_chunk(snapshot)), retrievers)
        }


def test_without_vectors_nothing_is_near(store: Store) -> None:
    fill(store, NOTES)
    with store.snapshot() as snapshot:
        assert list(snapshot.by_vector(None, 9, EVERYTHING)()) == []
        assert list(snapshot.by_vector(ENCODER.encode_query("pool"), 9, EVERYTHING)()) == []
    assert cosines(store) == {path: [None] for path in NOTES}
    with changing(store) as change:
        embed(change)
    with store.snapshot() as snapshot:  # they are there, and nobody has said to search by them
        assert snapshot.vectors([*every_chunk(snapshot)]) == {}
        assert list(snapshot.by_vector(ENCODER.encode_query("pool"), 9, EVERYTHING)()) == []
    with changing(store) as change:
        search_by(change)
    with store.snapshot() as snapshot:
        assert list(snapshot.by_vector(None, 9, EVERYTHING)()) == []
        assert len(snapshot.by_vector(ENCODER.encode_query("pool"), 9, EVERYTHING)()) == 3
        how = snapshot.vector_search()
        assert (bool(how.by), how.is_exact, how.problem) == (True, True, "")


def test_the_nearest_texts_come_first(store: Store) -> None:
    fill(store, NOTES | {f"{word}.md": f"{word} of {word}\n" for word in ("tax", "tea", "sun")})
    with changing(store) as change:
        waiting = {item.hash: text_of(item) for item in change.pending(ENCODER.fingerprint, 99)}
        embed(change)
        search_by(change)
    query = ENCODER.encode_query("the pool ran")
    expected = {h: cosine(query, ENCODER.encode([text])[0]) for h, text in waiting.items()}
    with store.snapshot() as snapshot:
        texts = snapshot.by_vector(query, 9, EVERYTHING)()
        assert {text.hash: text.cosine for text in texts} == pytest.approx(expected, abs=2e-2)
        assert [text.cosine for text in texts] == sorted(
            (text.cosine for text in texts), reverse=True
        )
        assert places(snapshot, texts[0].chunk_ids) == ["a.md"]
        assert list(snapshot.by_vector(query, 2, EVERYTHING)()) == list(texts[:2])
        assert near(snapshot, "the pool ran", limit=1) == ["a.md"]


def test_a_text_that_stands_twice_is_one_text_of_two_chunks(store: Store) -> None:
    with changing(store) as change:
        for path in ("z.md", "y.md", "x.md"):
            put(change, path, "# Same\n\nthe pool ran dry\n")
        put(change, "a.md", "# Another\n\ntrain\n")
        assert change.unembedded(ENCODER.fingerprint) == 2
        assert embed(change) == 2
        search_by(change)
        assert change.counts().embedded == 4
    with store.snapshot() as snapshot:
        first, second = snapshot.by_vector(ENCODER.encode_query("pool ran dry"), 9, EVERYTHING)()
        assert places(snapshot, first.chunk_ids) == ["x.md", "y.md", "z.md"]
        assert places(snapshot, second.chunk_ids) == ["a.md"]
        assert near(snapshot, "pool ran dry", limit=1) == ["x.md", "y.md", "z.md"]


def test_a_text_within_reach_and_without_names_the_chunks_within(store: Store) -> None:
    with changing(store) as change:
        for path in ("x.md", "sub/y.md", "z.md", "sub/w.md"):
            put(change, path, "# Same\n\nthe pool ran dry\n")
        embed(change)
        search_by(change)
    with store.snapshot() as snapshot:
        scope = Scope(Filters(paths=("sub/",)))
        assert near(snapshot, "the pool", scope=scope) == ["sub/w.md", "sub/y.md"]


def test_what_waits_is_listed_once_the_undated_and_the_last_changed_first(store: Store) -> None:
    with changing(store) as change:
        put(change, "memory/2025-01-02.md", "# Old\n\nfirst words\n")
        put(change, "memory/2025-03-04.md", "# New\n\nlast words\n")
        put(change, "b.md", "# Rules\n\nevergreen\n")
        put(change, "a.md", "# Same\n\nevergreen\n")
        put(change, "c.md", "# Same\n\nevergreen\n", title="Same")
        waiting = change.pending(ENCODER.fingerprint, 99)
        assert [item.title for item in waiting] == ["Same", "Rules", "New", "Old"]
        stamp = stamp_of("b.md", "# Rules\n\nevergreen\n")
        change.touch((MEMORY_SOURCE, "b.md"), stamp._replace(stat=stamp.stat._replace(mtime_ns=9)))
        waiting = change.pending(ENCODER.fingerprint, 99)
        assert [item.title for item in waiting] == ["Rules", "Same", "New", "Old"]
        new = waiting[2]
        assert new == Pending(new.hash, "", new.text, "New", ("New",), "2025-03-04")
        assert "last words" in new.text
        assert change.unembedded(ENCODER.fingerprint) == 4
        for limit in (1, 2, 3, 4):
            some = change.pending(ENCODER.fingerprint, limit)
            assert 1 <= len(some) <= limit
            assert list(some) == list(waiting[: len(some)])
        done: list[bytes] = []
        while some := change.pending(ENCODER.fingerprint, 2):
            made = ENCODER.encode([text_of(item) for item in some])
            change.put_vectors(
                ENCODER.fingerprint, list(zip((i.hash for i in some), made, strict=True))
            )
            done += [item.hash for item in some]
        assert done == [item.hash for item in waiting]
        assert change.unembedded(ENCODER.fingerprint) == 0
        assert change.unembedded(OTHER.fingerprint) == 4


def test_parts_of_a_table_wait_with_what_is_repeated_before_them(store: Store) -> None:
    rows = "".join(f"| row {number} | {'word ' * 20} |\n" for number in range(12))
    with changing(store) as change:
        made = put(change, "a.md", f"| name | text |\n|---|---|\n{rows}")
        waiting = {item.hash: item for item in change.pending(ENCODER.fingerprint, 99)}
    parts = [(chunk, part) for chunk in made.chunks for part in chunk.segments]
    assert any(part.prefix for _, part in parts)
    for chunk, part in parts:
        assert waiting[part.hash].prefix == part.prefix
        assert waiting[part.hash].text == chunk.text[part.start : part.end]


def test_a_store_is_embedded_until_the_next_change(store: Store) -> None:
    fill(store, NOTES)
    with changing(store) as change:
        assert change.unembedded(ENCODER.fingerprint) == 3
        embed(change)
        for _ in range(2):
            search_by(change, none_waits=True)
            assert change.unembedded(ENCODER.fingerprint) == 0
        assert change.unembedded(OTHER.fingerprint) == 3
        assert change.counts()[2:] == (3, 3, 0)
        put(change, "d.md", "new words\n")
        assert (change.unembedded(ENCODER.fingerprint), change.counts()[2:]) == (1, (4, 3, 0))
        change.remove(("memory", "d.md"))
        assert change.unembedded(ENCODER.fingerprint) == 0


def test_a_text_without_a_vector_has_no_cosine(store: Store) -> None:
    fill_embedded(store, NOTES)
    with changing(store) as change:
        put(change, "d.md", "new words\n")
    found = cosines(store)
    assert found.pop("d.md") == [None]
    assert all(isinstance(value, float) for values in found.values() for value in values)
    with store.snapshot() as snapshot:
        assert set(near(snapshot, "new words")) == set(NOTES)


def test_another_encoder_is_searched_by_when_that_is_said(store: Store) -> None:
    fill_embedded(store, NOTES)
    with changing(store) as change:
        before = cosines(store)
        embed(change, OTHER)
        assert change.unembedded(OTHER.fingerprint) == 0
    assert cosines(store) == before
    with changing(store) as change:
        search_by(change, OTHER)
        assert (change.facts.fingerprint, change.facts.dimension) == (OTHER.fingerprint, 32)
        assert change.counts().embedded == 3
    query = OTHER.encode_query("the pool")
    with store.snapshot() as snapshot:
        assert len(snapshot.by_vector(query, 9, EVERYTHING)()) == 3
    assert cosines(store, OTHER) != before
    with changing(store) as change:  # and back: the vectors are still there
        assert change.unembedded(ENCODER.fingerprint) == 0
        search_by(change)
    assert cosines(store) == before


def test_half_a_switch_searches_what_has_a_vector(store: Store) -> None:
    fill_embedded(store, NOTES)
    with changing(store) as change:
        some = change.pending(OTHER.fingerprint, 1)
        made = OTHER.encode([text_of(item) for item in some])
        change.put_vectors(OTHER.fingerprint, [(some[0].hash, made[0])])
        assert change.counts().embedded == 3
        search_by(change, OTHER)
        assert change.counts().embedded == 1
    with store.snapshot() as snapshot:
        (text,) = snapshot.by_vector(OTHER.encode_query("pool"), 9, EVERYTHING)()
        assert text.hash == some[0].hash


def test_a_text_that_comes_back_has_its_vector(store: Store) -> None:
    fill_embedded(store, NOTES)
    before = cosines(store)
    with changing(store) as change:
        put(change, "a.md", "# Other\n\nwords\n")
        change.remove(("memory", "b.md"))
        assert change.unembedded(ENCODER.fingerprint) == 1
        assert change.counts().embedded == 1
        for path in ("a.md", "b.md"):
            put(change, path, NOTES[path])
        assert change.unembedded(ENCODER.fingerprint) == 0
        assert change.counts().embedded == 3
    assert cosines(store) == before


def test_a_part_is_scored_by_its_own_text(store: Store) -> None:
    lines = "".join(f"- item {n} says word{n} and more of it\n" for n in range(9))
    with changing(store) as change:
        made = put(change, "a.md", f"# List\n\n{lines}")
        texts = {item.hash: text_of(item) for item in change.pending(ENCODER.fingerprint, 99)}
        embed(change)
        search_by(change)
    query = ENCODER.encode_query("word7")
    with store.snapshot() as snapshot:
        (chunk_id,) = every_chunk(snapshot)
        (found,) = snapshot.candidates([chunk_id], RetrieverResults(TermQuery(), (), query, ()))
    (chunk,) = made.chunks
    assert len(found.segments) > 2
    expected = [cosine(query, ENCODER.encode([texts[part.hash]])[0]) for part in chunk.segments]
    assert [part.cosine for part in found.segments] == pytest.approx(expected, abs=4e-2)
    assert [part[:4] for part in found.segments] == [
        SegmentScore(part.start_line, part.end_line, part.start, part.end, None)[:4]
        for part in chunk.segments
    ]


def unused_after(store: Store, clock: Clock, days: Sequence[float], unused_days: int) -> list[int]:
    """Let days pass, prune after each, and say how many vectors each pruning dropped."""
    dropped = []
    for passed in days:
        clock.pass_days(passed)
        with changing(store) as change:
            dropped.append(change.tidy(unused_days=unused_days))
    return dropped


def test_a_vector_is_kept_for_so_many_days_after_its_last_use(store: Store, clock: Clock) -> None:
    fill_embedded(store, NOTES)
    with changing(store) as change:
        change.remove(("memory", "a.md"))
    clock.pass_days(10)
    with changing(store) as change:
        change.remove(("memory", "b.md"))
    assert unused_after(store, clock, [9.999, 0.001], 20) == [0, 1]
    fill(store, {"b.md": NOTES["b.md"]})  # used again
    assert unused_after(store, clock, [100], 20) == [0]
    with changing(store) as change:
        change.remove(("memory", "b.md"))
    assert unused_after(store, clock, [19.99, 0.01, 1000], 20) == [0, 1, 0]
    with changing(store) as change:
        assert change.counts() == (1, 1, 1, 1, 0)
        fill_again = [put(change, path, NOTES[path]) for path in ("a.md", "b.md")]
        assert change.unembedded(ENCODER.fingerprint) == len(fill_again)


def test_a_vector_that_is_unused_since_a_day_to_come_is_not_kept_till_then(
    store: Store, clock: Clock
) -> None:
    fill_embedded(store, NOTES)
    clock.pass_days(365)
    with changing(store) as change:
        change.remove(("memory", "a.md"))
    assert unused_after(store, clock, [-19.9, -0.1], 20) == [0, 1]


def test_vectors_of_an_encoder_that_is_not_searched_by_are_unused(
    store: Store, clock: Clock
) -> None:
    fill_embedded(store, NOTES)
    with changing(store) as change:
        embed(change, OTHER)
    assert unused_after(store, clock, [6.9, 0.1], 7) == [0, 3]
    with changing(store) as change:
        assert change.unembedded(OTHER.fingerprint) == 3
        embed(change, OTHER)
        search_by(change, OTHER)
    assert unused_after(store, clock, [6.9, 0.1], 7) == [0, 3]
    with changing(store) as change:
        assert change.unembedded(ENCODER.fingerprint) == 3
        assert change.counts().embedded == 3


def test_a_text_in_use_keeps_its_vector_for_ever(store: Store, clock: Clock) -> None:
    fill(store, NOTES)
    with changing(store) as change:
        put(change, "twice.md", NOTES["a.md"])
        embed(change)
        search_by(change)
        change.remove(("memory", "twice.md"))
    assert unused_after(store, clock, [0, 3650], 0) == [0, 0]


def test_settling_changes_no_answer(store: Store) -> None:
    fill_embedded(store, NOTES | {f"{number}.md": f"note {number}\n" for number in range(30)})
    with changing(store) as change:
        for number in range(30):
            change.remove(("memory", f"{number}.md"))
        before = change.facts, change.counts()
        change.tidy(pages=1)
        change.tidy()
        change.tidy()
        assert (change.facts, change.counts()) == before
    with store.snapshot() as snapshot:
        assert set(near(snapshot, "pool")) == set(NOTES)
        assert snapshot.integrity() == "ok"


def test_the_vectors_of_chunks_are_those_that_search_uses(store: Store) -> None:
    with changing(store) as change:
        two = put(change, "a.md", "fox\n\n" + "- the train was late again\n" * 20)
        put(change, "b.md", "bean\n")
        embed(change)
        search_by(change)
        put(change, "c.md", "a new bean\n")
    with store.snapshot() as snapshot:
        ids = {path: chunk_id for chunk_id, path in every_chunk(snapshot).items()}
        found = snapshot.vectors([ids["a.md"], ids["b.md"], ids["c.md"], 999])
        assert found.keys() == {ids["a.md"], ids["b.md"]}  # the new one waits
        assert len(found[ids["a.md"]]) == len(two.chunks[0].segments) > 1
        (vector,) = found[ids["b.md"]]
        assert snapshot.by_vector(vector, 1, EVERYTHING)()[0].chunk_ids == (ids["b.md"],)
        assert snapshot.vectors([]) == {}
    with changing(store) as change:
        embed(change, OTHER)  # not searched by yet
    with store.snapshot() as snapshot:
        assert snapshot.vectors([ids["b.md"]]) == {ids["b.md"]: [vector]}


def test_a_text_that_is_left_out_does_not_wait(store: Store) -> None:
    fill(store, NOTES)
    with changing(store) as change:
        left, *others = change.pending(ENCODER.fingerprint, 99)
        search_by(change)
        change.put_vectors(ENCODER.fingerprint, [(left.hash, None)])
        change.put_vectors(ENCODER.fingerprint, [(left.hash, None)])
        assert list(change.pending(ENCODER.fingerprint, 99)) == others
        assert change.unembedded(ENCODER.fingerprint) == 2
        assert change.unembedded(OTHER.fingerprint) == 3
        assert change.counts() == (3, 3, 3, 0, 1)
        embed(change)
        search_by(change, none_waits=True)
        assert (change.counts(), change.counts().embeddable) == ((3, 3, 3, 2, 1), 2)
    with store.snapshot() as snapshot:
        assert snapshot.counts() == (3, 3, 3, 2, 1)
    with changing(store) as change:
        change.remove(("memory", "a.md"))
        assert change.counts() == (2, 2, 2, 2, 0)
        put(change, "a.md", NOTES["a.md"])
        assert change.unembedded(ENCODER.fingerprint) == 1
        search_by(change, OTHER)
        assert change.counts().left_out == 0


def test_what_is_needed_first_waits_first(store: Store) -> None:
    with changing(store) as change:
        put(change, "memory/2025-03-01.md", "march\n")
        put(change, "memory/2025-04-01.md", "april\n")
        put(change, "undated.md", "undated\n")
        put(change, "memory/2024-01-01.md", "old and important\n", importance=0.9)
        put(change, "memory/2024-02-01.md", "old and middling\n", importance=0.5)
        put(change, "memory/2023-01-01.md", "a rule\n", always=True)
        waiting = change.pending(ENCODER.fingerprint, 99)
        assert [item.text.strip() for item in waiting] == [
            "a rule", "old and important", "undated", "april", "march", "old and middling",
        ]  # fmt: skip
        assert list(change.pending(ENCODER.fingerprint, 2)) == list(waiting[:2])
