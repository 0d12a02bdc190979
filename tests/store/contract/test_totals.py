"""Stores that are asked together weigh words by the totals of all."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memcli.store.port import Store
from memcli.store.records import KeywordMatch, RetrieverResults, Totals, added
from memcli.types import Term, TermQuery
from tests.store.contract.conftest import STORES
from tests.store.contract.makers import EVERYTHING, Clock, any_of, every_chunk, fill, places, term

ONE = {"a.md": "# Fox\n\nfox fox train\n", "b.md": "the pool is dry\n", "c.md": "one fox\n"}
OTHER = {"d.md": "trains and a fox\n", "e.md": "foxes in the pool\n", "f.md": "v0.1 in a train\n"}
WANTED = [
    any_of("fox"),
    any_of("fox", "train", "pool", "nothing"),
    any_of("v0.1", "fox"),
    TermQuery(any=(term("fox"), term("tra", prefix=True)), none=(term("pool"),)),
    TermQuery(any=(term("one"),), all=((term("fox"), term("pool")), (term("train"),))),
]


@pytest.fixture(params=STORES)
def stores(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[list[Store]]:
    made = STORES[request.param]
    found = [made(tmp_path / name, Clock()) for name in ("one", "other", "whole")]
    for store, files in zip(found, (ONE, OTHER, {**ONE, **OTHER}), strict=True):
        fill(store, files)
    yield found
    for store in found:
        store.close()


def test_by_the_totals_of_all_each_store_scores_as_the_whole_does(stores: list[Store]) -> None:
    for wanted in WANTED:
        _check(wanted, *stores)


def _check(wanted: TermQuery, one: Store, other: Store, whole: Store) -> None:
    with one.snapshot() as a, other.snapshot() as b, whole.snapshot() as both:
        totals = both.totals(wanted)
        assert added([a.totals(wanted), b.totals(wanted)]) == totals
        ranked = both.by_keyword(wanted, 9, EVERYTHING)
        expected = dict(zip(places(both, (r.chunk_id for r in ranked)), ranked, strict=True))
        found: dict[str, KeywordMatch] = {}
        for snapshot in (a, b):
            own = snapshot.by_keyword(wanted, 9, EVERYTHING, totals)
            assert [r.bm25 for r in own] == sorted((r.bm25 for r in own), reverse=True)
            found |= zip(places(snapshot, (r.chunk_id for r in own)), own, strict=True)
            retrievers = RetrieverResults(
                wanted, (), None, (), totals
            )  # what no retriever has found is scored alike
            for candidate in snapshot.candidates([*every_chunk(snapshot)], retrievers):
                path = candidate.about.path
                score = expected[path].bm25 if path in expected else 0.0
                assert candidate.bm25 == pytest.approx(score, rel=1e-9)
        assert found.keys() == expected.keys()
        for path, each in found.items():
            assert each.bm25 == pytest.approx(expected[path].bm25, rel=1e-9)


def test_a_limit_keeps_the_best_by_the_totals_of_all(store: Store) -> None:
    """What is rare here may be common elsewhere."""
    fill(store, {"a.md": "fox\n", "b.md": "train\n", "c.md": "train\n", "d.md": "pool\n"})
    wanted = any_of("fox", "train")
    with store.snapshot() as snapshot:
        own = snapshot.totals(wanted)
        assert places(snapshot, [snapshot.by_keyword(wanted, 1, EVERYTHING)[0].chunk_id]) == [
            "a.md"
        ]
        elsewhere = Totals(1000, 2000, {Term("fox"): 900})
        (best,) = snapshot.by_keyword(wanted, 1, EVERYTHING, added([own, elsewhere]))
        assert places(snapshot, [best.chunk_id]) == ["b.md"]


def test_one_question_leaves_nothing_for_the_next(store: Store) -> None:
    fill(store, ONE)
    with store.snapshot() as snapshot:
        first = any_of("fox"), any_of("pool", "dry", "train")
        both = [snapshot.by_keyword(w, 9, EVERYTHING, snapshot.totals(w)) for w in (*first, *first)]
        assert both[:2] == both[2:]
        for wanted, found in zip(first, both[:2], strict=True):
            plain = snapshot.by_keyword(wanted, 9, EVERYTHING)
            assert [r.bm25 for r in found] == pytest.approx([r.bm25 for r in plain], rel=1e-9)


def test_nothing_stored_has_no_totals(store: Store) -> None:
    fill(store, {})
    with store.snapshot() as snapshot:
        assert snapshot.totals(any_of("fox")) == Totals(0, 0, {Term("fox"): 0})
        assert not snapshot.by_keyword(any_of("fox"), 9, EVERYTHING, Totals(0, 0, {}))
