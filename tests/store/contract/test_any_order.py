"""The same files give the same answers to the last bit, whatever was indexed first."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.search.options import PROFILES
from memcli.search.pipeline import Answer
from memcli.search.ranked import RankedPassage
from memcli.store.port import Store
from memcli.store.records import Scope
from memcli.types import Candidate, Excerpt, Filters
from tests.store.contract.conftest import MOST_STORES, STORES
from tests.store.contract.makers import Clock, options_for
from tests.store.contract.test_same_answers import (
    LONG,
    PATHS,
    answer,
    bring_in,
    files,
    filters,
    queries,
)
from tests.support import write

# Few candidates a retriever, so that ties lie on the edge.
universes = st.sampled_from((1, 2, 3, 5, 200))
questions = st.tuples(
    queries, filters, st.sampled_from(("hybrid", "keyword", "semantic")),
    st.sampled_from([*PROFILES]),
    st.sampled_from(("scaled", "weighted", "rrf")), universes,
)  # fmt: skip
# Which files there are when the index is brought in step, again and again, before all are.
orders = st.lists(st.sets(st.sampled_from(PATHS)), max_size=4)
Named = TypeVar("Named", Candidate, Excerpt)
Question = tuple[str, Filters, str, str, str, int]


def index_in_order(root: Path, store: Store, texts: dict[str, str], order: list[set[str]]) -> None:
    for there in (*order, set(texts)):
        for path, text in texts.items():
            if path in there:
                if not (root / path).exists():
                    write(root, path, text + "\n")
            else:
                (root / path).unlink(missing_ok=True)
        bring_in(root, (store,), None)


def told_all(store: Store, asked: Sequence[Question]) -> list[Answer]:
    options = options_for()
    found = []
    for text, scope, mode, profile, fusion, universe in asked:
        wanted = options._replace(
            mode=mode, profile=PROFILES[profile], filters=scope,
            fusion=fusion, universe=universe,
        )  # fmt: skip
        given = answer(store, text, wanted)
        found.append(
            given._replace(
                passages=tuple(map(without_number, given.passages)),
                fused=tuple(map(without_number, given.fused)),
                revision="",
                is_read=True,  # the main language is counted at some sizes of the index only
            )
        )
    return found


def without_number(passage: RankedPassage) -> RankedPassage:
    places = frozenset((0, line) for _, line in passage.must_follow)
    return passage._replace(candidate=nameless(passage.candidate), must_follow=places)


def nameless(found: Named) -> Named:
    return found._replace(about=found.about._replace(chunk_id=0))


@pytest.mark.timeout(400)  # on a busy machine, where a store is a server beside it
@pytest.mark.parametrize("kind", MOST_STORES)
@LONG
@given(texts=files, order=orders, asked=st.lists(questions, min_size=4, max_size=8), scope=filters)
def test_answers_do_not_depend_on_what_was_indexed_first(
    kind: str, texts: dict[str, str], order: list[set[str]], asked: list[Question], scope: Filters
) -> None:
    base = Path(tempfile.mkdtemp())
    stores = []
    try:
        for name, steps in (("at once", []), ("by and by", order)):
            root = base / name / "ws"
            (root / "book").mkdir(parents=True)
            stores.append(STORES[kind](base / name, Clock()))
            index_in_order(root, stores[-1], texts, steps)
        one, other = stores
        assert told_all(one, asked) == told_all(other, asked)
        with one.snapshot() as first, other.snapshot() as second:
            within = Scope(scope)
            assert first.documents(within) == second.documents(within)
            assert [*map(nameless, first.newest(within))] == [*map(nameless, second.newest(within))]
    finally:
        for store in stores:
            store.close()
        shutil.rmtree(base)
