"""What a connection keeps of a state: the answers stay those of one that has just been opened."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest

from memcli.store.port import Snapshot
from memcli.store.records import RetrieverResults
from memcli.store.sqlite import index_cache
from memcli.store.sqlite.store import SqliteStore
from memcli.types import TermQuery
from tests.store.contract.makers import (
    ENCODER,
    EVERYTHING,
    any_of,
    changing,
    embed,
    fill,
    found,
    put,
    search_by,
    term,
)
from tests.support import FAR_FUTURE_NS

NOTES = {
    "a.md": "the fox ate the pool of v0.1\n\nand the fox slept\n",
    "b.md": "a pool for two\n",
    "c.md": "a fox and a fox, 东京都 too\n",
    "d.md": "nothing of either\n",
}
QUESTIONS = (
    any_of("fox", "pool"),
    any_of("东京"),
    TermQuery(any=(term("pool"),), none=(term("fox"),)),
    TermQuery(all=((term("fox"), term("pool")), (term("v0.1"), term("two")))),
    TermQuery(any=(term("slep", prefix=True),), all=((term("nothing"),),)),
    TermQuery(any=(term("nowhere"),)),
)


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "s" / "index.sqlite")


@pytest.fixture
def store(path: str) -> Iterator[SqliteStore]:
    made = SqliteStore(path, lambda: FAR_FUTURE_NS)
    fill(made, NOTES)
    with changing(made) as change:
        embed(change)
        search_by(change)
    yield made
    made.close()


def answers(snapshot: Snapshot) -> list[Any]:
    """Ask whatever a search asks."""
    vector = ENCODER.encode_query("the fox slept")
    told: list[Any] = [snapshot.known(), snapshot.tokens(["foxes ate", "a pool", "foxes ate"])]
    for wanted in QUESTIONS:
        near = snapshot.by_vector(vector, 3, EVERYTHING)()
        ranked = snapshot.by_keyword(wanted, 2, EVERYTHING)
        ids = sorted({r.chunk_id for r in ranked} | {c for n in near for c in n.chunk_ids})
        terms = (*wanted.any, *wanted.none, *(each for group in wanted.all for each in group))
        told += [
            near,
            ranked,
            snapshot.candidates(ids, RetrieverResults(wanted, ranked, vector, near)),
            snapshot.candidates(ids[::-1], RetrieverResults(wanted, [], None, [])),
            snapshot.matching_chunks([wanted, *terms], ids),
            snapshot.occurring(terms),
            snapshot.lines_of(ids),
        ]
    return told


def once(path: str) -> list[Any]:
    store = SqliteStore(path, lambda: FAR_FUTURE_NS)
    with store.snapshot() as snapshot:
        told = answers(snapshot)
    store.close()
    return told


def test_a_question_is_answered_alike_however_often_something_was_asked(
    store: SqliteStore, path: str
) -> None:
    expected = once(path)
    for _ in range(3):
        with store.snapshot() as snapshot:
            assert answers(snapshot) == expected


def test_passages_that_have_no_vector_yet_are_asked_for_again(tmp_path: Path) -> None:
    store = SqliteStore(str(tmp_path / "s" / "index.sqlite"), lambda: FAR_FUTURE_NS)
    fill(store, {"d.md": NOTES["d.md"]})
    with changing(store) as change:
        embed(change)
        search_by(change)
    fill(store, NOTES)
    wanted = any_of("fox")
    for _ in range(2):
        with store.snapshot() as snapshot:
            ranked = snapshot.by_keyword(wanted, 9, EVERYTHING)
            retrievers = RetrieverResults(wanted, ranked, ENCODER.encode_query("a fox"), [])
            ids = [each.chunk_id for each in ranked]
            asked = snapshot.candidates(ids, retrievers)
            assert [part.cosine for each in asked for part in each.segments] == [None] * 3
    store.close()


def test_nothing_is_kept_of_a_state_that_has_passed(store: SqliteStore, path: str) -> None:
    for _ in range(2):
        with store.snapshot() as snapshot:
            before = answers(snapshot)
    other = SqliteStore(path, lambda: FAR_FUTURE_NS)  # as another process would
    with changing(other) as change:
        put(change, "a.md", "no animal at all\n\nsaid the fox\n")
        change.remove(("memory", "b.md"))
        embed(change)
        search_by(change)
    other.close()
    with store.snapshot() as snapshot:
        after = answers(snapshot)
        assert found(snapshot, any_of("animal")) == ["a.md"]
    assert after == once(path)
    assert after != before


def test_what_is_kept_does_not_grow_without_end(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_cache, "MOST_BYTES", 0)
    for _ in range(3):
        with store.snapshot() as snapshot:
            answers(snapshot)
            held = snapshot._cache
    assert held is not None
    with store.snapshot() as snapshot:
        assert snapshot._cache is not held


def test_tokens_that_are_kept_are_weighed_once() -> None:
    state = index_cache.IndexCache(1, 5)
    cut = [("ab", "cd"), ("e",)]
    with closing(apsw.Connection(":memory:")) as connection:
        for _ in range(2):
            assert state.tokens(connection, ["ab cd", "e"]) == cut
    assert state.bytes == len("ab cd" + "e") + index_cache.TOKEN_BYTES * ((2 + 2) + (2 + 1))
