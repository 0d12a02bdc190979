"""What the retrievers find, and what is told of it."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import memcli
from memcli.config.settings import load
from memcli.markdown.segments import digest
from memcli.search.query import JOINED, ParsedQuery, QueryTerm, parse
from memcli.search.recall import RecallBounds, RecallResult, _first_chunks, recall
from memcli.search.repair import Repair, _rewritten
from memcli.search.trace import _passage
from memcli.store.open import open_store
from memcli.store.port import Snapshot
from memcli.store.records import Neighbour, Scope
from tests.hashing import HashingEncoder
from tests.search.makers import candidate, fused
from tests.support import FAR_FUTURE_NS, write

NOTES = {
    "a.md": "The road was wet, the trip was long: a roadtrip.",
    "b.md": "A road.",
    "c.md": "The trip was short.",
}
WORDS_ALONE = {"embedding.encoder": "none"}


@pytest.fixture
def snapshot(tmp_path: Path) -> Iterator[Snapshot]:
    for path, text in NOTES.items():
        write(tmp_path, path, text + "\n")
    with memcli.Memory.open(tmp_path, settings=WORDS_ALONE) as memory:
        memory.index()
    with _snapshot(tmp_path) as snapshot:
        yield snapshot


@contextmanager
def _snapshot(folder: Path) -> Iterator[Snapshot]:
    store = open_store(load(str(folder), {}, {}), os.environ, lambda: FAR_FUTURE_NS)
    with store.snapshot() as snapshot:
        yield snapshot
    store.close()


def _recalled(snapshot: Snapshot, query: ParsedQuery, *, demands: bool = True) -> RecallResult:
    bounds = RecallBounds(10, Scope(), demands_phrases=demands)
    return recall(snapshot, query, total=3, keyword=True, vector=None, bounds=bounds)


def test_texts_are_kept_up_to_the_last_of_so_many_chunks() -> None:
    found = [
        Neighbour(bytes([n]), 0.9, chunks) for n, chunks in enumerate(((1,), (1, 2, 3), (3, 2)))
    ]
    assert [near.chunk_ids for near in _first_chunks(found, 1)] == [(1,)]
    assert [near.chunk_ids for near in _first_chunks(found, 2)] == [(1,), (1, 2)]
    assert [near.chunk_ids for near in _first_chunks(found, 9)] == [(1,), (1, 2, 3), (3, 2)]


def test_what_holds_two_words_also_as_one_holds_no_more_than_all(snapshot: Snapshot) -> None:
    query = parse("road trip")
    found = _recalled(snapshot, query._replace(terms=(*query.terms, QueryTerm("roadtrip", JOINED))))
    coverage = {c.about.path: found.coverage[c.about.chunk_id] for c in found.candidates}
    assert coverage == pytest.approx({"a.md": 1.0, "b.md": 0.5, "c.md": 0.5})


def test_a_small_index_leaves_out_no_word_of_the_majority(snapshot: Snapshot) -> None:
    found = _recalled(snapshot, parse("road trip"))
    matched = {c.about.path: found.matched[c.about.chunk_id] for c in found.candidates}
    assert matched == {"a.md": 1.0, "b.md": 0.5, "c.md": 0.5}
    assert [term.idf for term in found.terms] == pytest.approx([math.log(1 + 1.5 / 2.5)] * 2)
    assert (found.common, [term.tokens for term in found.terms]) == ((), [("road",), ("trip",)])


def test_a_phrase_is_demanded_where_that_is_wanted(snapshot: Snapshot) -> None:
    query = parse('"trip was" road')
    demanded, free = (_recalled(snapshot, query, demands=demands) for demands in (True, False))
    assert sorted(c.about.path for c in demanded.candidates) == ["a.md", "c.md"]
    assert sorted(c.about.path for c in free.candidates) == ["a.md", "b.md", "c.md"]
    alone = _recalled(snapshot, parse('"dry trip"'), demands=False)
    beside = _recalled(snapshot, parse('"dry trip" road'), demands=False)
    assert (alone.missing_phrases, alone.candidates) == (
        ("dry trip",),
        (),
    )  # what is near it is a guess
    assert sorted(c.about.path for c in beside.candidates) == ["a.md", "b.md"]


def test_where_a_leg_counts_chunks_more_texts_are_asked_for_until_there_are_enough(
    tmp_path: Path,
) -> None:
    """Twenty items are nearer than the other note; at first two times four texts are asked for."""
    items = "\n\n".join(f"- The slow pool ran dry, item {n}." for n in range(20))
    write(tmp_path, "items.md", f"# Items\n\n{items}\n")
    write(tmp_path, "other.md", "The pool, far from a river.\n")
    settings = {"embedding.encoder": "hashing"}
    with memcli.Memory.open(tmp_path, settings=settings) as memory:
        memory.index()
    (vector,) = HashingEncoder().encode(["The slow pool ran dry, item"])
    with _snapshot(tmp_path) as snapshot:
        bounds = RecallBounds(2, Scope(), by_chunk=True)
        query = parse("the slow pool ran dry, item")
        found = recall(snapshot, query, total=2, keyword=False, vector=vector, bounds=bounds)
    assert sorted(c.about.path for c in found.candidates) == ["items.md", "other.md"]


def test_what_is_looked_for_besides_leaves_other_words_to_be_replaced(snapshot: Snapshot) -> None:
    made = Repair("road trip", "roadtrip", "besides"), Repair("shel", "shelf", "spelling")
    query = _rewritten(snapshot, parse("a road trip, shel"), made)
    assert query.text == "a road trip, shelf"
    assert [term.text for term in query.terms] == ["a", "road", "trip", "shelf", "roadtrip"]


def test_a_receipt_holds_the_first_700_characters_and_the_hash_of_all() -> None:
    (passage,) = fused(candidate(1, lines=("x" * 999,)))
    told = _passage(1, passage)
    assert (told["text"], told["text_hash"]) == ("x" * 700, digest("x" * 999).hex())
