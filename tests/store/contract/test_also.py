"""Common terms find nothing and count where rarer ones do: the ranking is that of scoring all."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from math import log
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memcli.search.rare_terms import greatest_share
from memcli.store.port import Snapshot, Store
from memcli.store.records import RetrieverResults, Scope
from memcli.types import Filters, Term, TermQuery
from tests.store.contract.conftest import STORES
from tests.store.contract.makers import (
    EVERYTHING,
    Clock,
    any_of,
    every_chunk,
    fill,
    found,
    places,
    term,
)
from tests.store.contract.test_words import bm25

EXAMPLES = (settings.default or settings()).max_examples // 2

# As words of a language are: the first in most chunks, the last in hardly any.
WORDS = (
    "train", "pool", "fox", "東京都", "beans", "coffee", "dry", "trains", "検索", "house", "gold",
    "naïve", "v0.1", "swan", "generator", "deployment",
)  # fmt: skip
zipf = st.sampled_from([word for rank, word in enumerate(WORDS, 1) for _ in range(48 // rank)])
texts = st.lists(st.lists(zipf, min_size=1, max_size=12).map(" ".join), min_size=1, max_size=40)
asked = st.lists(
    st.one_of(
        st.sampled_from(WORDS).map(term),
        st.sampled_from(("train pool", "東京", "京都", "pool train fox", "unheard")).map(term),
        st.sampled_from(("tra", "gener", "hous", "東", "d")).map(lambda t: term(t, prefix=True)),
    ),
    min_size=2,
    max_size=6,
    unique=True,
)


def by_counts(
    snapshot: Snapshot, terms: list[Term], most: int, *, joins: bool = False
) -> TermQuery:
    """Let the rarest terms find, as many as bring `most` chunks, and the others count."""
    counts = dict(zip(terms, snapshot.frequencies(terms), strict=True))
    ranks = sorted(terms, key=lambda each: counts[each])
    kept = [each for at, each in enumerate(ranks) if not at or counts[each] <= most]
    others = tuple((each, counts[each]) for each in ranks if each not in kept)
    names = [each for each, _ in others]
    groups = tuple(tuple(names[at : at + 2]) for at in range(len(names) - 1)) if joins else ()
    return TermQuery(any=() if groups and not most else tuple(kept), also=others, together=groups)


def ranked(
    snapshot: Snapshot, wanted: TermQuery, limit: int, scope: Scope = EVERYTHING
) -> dict[str, float]:
    passages = snapshot.by_keyword(wanted, limit, scope)
    return dict(
        zip(
            places(snapshot, [h.chunk_id for h in passages]),
            [h.bm25 for h in passages],
            strict=True,
        )
    )


@contextmanager
def stores_with(lines: list[str]) -> Iterator[list[Store]]:
    """Make every store there is, with a chunk for each line."""
    base = Path(tempfile.mkdtemp())
    made = [make(base / name, Clock()) for name, make in STORES.items()]
    try:
        for store in made:
            fill(store, {f"{at % 3}/{at:02}.md": line + "\n" for at, line in enumerate(lines)})
        yield made
    finally:
        for store in made:
            store.close()
        shutil.rmtree(base)


def test_a_score_by_hand(store: Store) -> None:
    fill(
        store,
        {"10.md": "fox train train\n", "11.md": "fox\n", "12.md": "train\n"}
        | {f"{number}.md": "beans\n" for number in range(5)},
    )
    mean = (3 + 1 + 1 + 5) / 8
    fox, train = (
        log((8 - 2 + 0.5) / (2 + 0.5)),
        log((8 - 3 + 0.5) / (3 + 0.5)),
    )  # one was miscounted
    wanted = any_of("fox")._replace(also=((term("train"), 3),))
    with store.snapshot() as snapshot:
        passages = ranked(snapshot, wanted, 9)
        assert list(passages) == ["10.md", "11.md"]
        assert list(passages.values()) == pytest.approx(
            [bm25(fox, 1, 3, mean) + bm25(train, 2, 3, mean), bm25(fox, 1, 1, mean)], rel=1e-9
        )
        assert ranked(snapshot, TermQuery(also=((term("train"), 3),)), 9) == {}
        ids = {path: chunk_id for chunk_id, path in every_chunk(snapshot).items()}
        candidates = snapshot.candidates(list(ids.values()), RetrieverResults(wanted, (), None, ()))
        scores = {c.about.path: c.bm25 for c in candidates}
        assert {path: score for path, score in scores.items() if score} == pytest.approx(passages)
        assert snapshot.matching_chunks([wanted], [*ids.values()])[0].chunk_ids == {
            ids["10.md"],
            ids["11.md"],
        }


def test_a_term_of_more_chunks_than_there_are_weighs_next_to_nothing(store: Store) -> None:
    fill(store, {"10.md": "fox train\n", "11.md": "fox\n"})
    fill(store, {f"{number}.md": "beans\n" for number in range(5)})
    with store.snapshot() as snapshot:
        wanted = any_of("fox")._replace(also=((term("train"), 99),))
        assert found(snapshot, wanted) == ["11.md", "10.md"]


def test_common_terms_find_what_holds_a_group_of_them(store: Store) -> None:
    fill(
        store,
        {"10.md": "fox\n", "11.md": "train pool\n", "12.md": "train\n", "13.md": "pool dry\n"},
    )
    fill(store, {f"{number}.md": "beans\n" for number in range(5)})
    mean = (1 + 2 + 1 + 2 + 5) / 9
    fox, other = log((9 - 1 + 0.5) / (1 + 0.5)), log((9 - 2 + 0.5) / (2 + 0.5))
    train, pool = term("train"), term("pool")
    wanted = any_of("fox")._replace(also=((train, 2), (pool, 2)), together=((train, pool),))
    expected = {"10.md": bm25(fox, 1, 1, mean), "11.md": 2 * bm25(other, 1, 2, mean)}
    with store.snapshot() as snapshot:
        assert ranked(snapshot, wanted, 9) == pytest.approx(expected, rel=1e-9)
        assert found(snapshot, wanted, limit=1) == [max(expected, key=lambda path: expected[path])]
        assert found(snapshot, wanted._replace(none=(pool,))) == ["10.md"]
        alone = wanted._replace(any=())
        assert ranked(snapshot, alone, 9) == pytest.approx({"11.md": expected["11.md"]}, rel=1e-9)
        assert found(snapshot, alone._replace(none=(pool,))) == []
        chunks = every_chunk(snapshot)
        candidates = snapshot.candidates([*chunks], RetrieverResults(wanted, (), None, ()))
        scores = {c.about.path: c.bm25 for c in candidates if c.bm25}
        assert scores == pytest.approx(expected, rel=1e-9)


def test_equals_go_by_place_and_what_is_out_of_reach_takes_none(store: Store) -> None:
    names = ("d", "b", "c", "a", "sub/z", "sub/y")
    fill(store, {f"{name}.md": "fox train\n" for name in names} | {"e.md": "train\n"})
    wanted = any_of("fox")._replace(also=((term("train"), 2),))
    with store.snapshot() as snapshot:
        assert found(snapshot, wanted, limit=3) == ["a.md", "b.md", "c.md"]
        scope = Scope(Filters(paths=("sub/",)))
        assert found(snapshot, wanted, limit=1, scope=scope) == ["sub/y.md"]
        unwanted = wanted._replace(none=(term("fox"),))
        assert found(snapshot, unwanted) == []


@given(texts, asked, st.integers(0, 12), st.integers(1, 9), st.sampled_from((*WORDS, *"------")),
       st.booleans())  # fmt: skip
@settings(max_examples=EXAMPLES, deadline=None)
def test_every_store_ranks_as_the_definition_does(
    lines: list[str], terms: list[Term], most: int, limit: int, unwanted: str, joins: bool
) -> None:
    reaches = EVERYTHING, Scope(Filters(paths=("1/",)))
    told = []
    with stores_with(lines) as stores:
        for store in stores:
            with store.snapshot() as snapshot:
                wanted = by_counts(snapshot, terms, most, joins=joins)
                wanted = wanted._replace(none=(term(unwanted),) if unwanted != "-" else ())
                told.append([ranked(snapshot, wanted, limit, scope) for scope in reaches])
    for others in told[1:]:
        for passages, expected in zip(others, told[0], strict=True):
            assert [*passages.values()] == pytest.approx([*expected.values()], rel=1e-9)
            assert _but_for_rounding(passages) == _but_for_rounding(expected)


@given(texts, asked, st.integers(0, 12), st.integers(1, 9))
@settings(max_examples=EXAMPLES, deadline=None)
def test_what_common_terms_may_not_find_is_not_among_the_first(
    lines: list[str], terms: list[Term], most: int, limit: int
) -> None:
    """Above the bound the ranking is that by all terms; below, of what the rare terms find."""
    whole = [each for each in terms if not each.prefix] or [term("pool")]
    with stores_with(lines) as stores:
        for store in stores:
            with store.snapshot() as snapshot:
                _check_bound(snapshot, by_counts(snapshot, whole, most), limit)


def _check_bound(snapshot: Snapshot, wanted: TermQuery, limit: int) -> None:
    total = snapshot.counts().chunks
    if any(2 * count > total for _, count in wanted.also):
        return
    every = TermQuery(any=(*wanted.any, *(each for each, _ in wanted.also)))
    full, passages = ranked(snapshot, every, 99), ranked(snapshot, wanted, limit)
    kept = ranked(snapshot, wanted._replace(also=()), 99)
    those = [score for path, score in full.items() if path in kept]
    assert [*passages.values()] == pytest.approx(those[:limit], rel=1e-9)
    if len(passages) == limit and min(passages.values()) > greatest_share(wanted.also, total):
        assert [*passages.values()] == pytest.approx([*full.values()][:limit], rel=1e-9)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(3))
def test_chunks_that_are_passed_over_would_not_be_among_the_first(seed: int) -> None:
    """Many chunks and few places, so that most are passed over by their bound."""
    random = Random(seed)
    weights = [1 / rank for rank in range(1, len(WORDS) + 1)]
    lines = [
        " ".join(random.choices(WORDS, weights, k=random.choice((2, 4, 8, 30)))) for _ in range(300)
    ]
    with stores_with(lines) as (one, *others):
        for _ in range(30):
            terms = [term(word) for word in random.sample(WORDS, 4)]
            limit, most = random.randint(1, 4), random.choice((30, 90))
            with one.snapshot() as snapshot:
                wanted = by_counts(snapshot, terms, most, joins=random.random() < 0.5)
                expected = [*ranked(snapshot, wanted, limit).values()]
            for other in others:
                with other.snapshot() as snapshot:
                    scores = [*ranked(snapshot, wanted, limit).values()]
                    assert scores == pytest.approx(expected, rel=1e-9)


def _but_for_rounding(passages: dict[str, float]) -> list[set[str]]:
    """Group the paths of equal scores, of which the last may be any of those that tie."""
    groups: dict[float, set[str]] = {}
    for path, score in passages.items():
        groups.setdefault(round(score, 9), set()).add(path)
    return [*groups.values()]
