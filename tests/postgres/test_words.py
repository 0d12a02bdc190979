"""Words of a shared index count as those of a local index do, however often they stand there."""

from __future__ import annotations

from pathlib import Path

import pytest

from memcli.store import quantize
from memcli.store.open import store_at
from memcli.store.port import Store
from memcli.store.postgres import vectors
from memcli.store.postgres.libpq import Connection, ServerError
from memcli.store.postgres.postings import _times
from memcli.store.postgres.statements import Statement
from memcli.store.postgres.tsvector import MOST_OF_ONE, cut_of, stored_words
from memcli.types import Chunk, Term, TermQuery
from tests.postgres.server import server
from tests.postgres.stores import make_store
from tests.store.contract.makers import (
    EVERYTHING,
    Clock,
    changing,
    document,
    embed,
    near,
    search_by,
    stamp_of,
    term,
)


def test_a_rank_tells_how_often_a_word_stands() -> None:
    connection = Connection([("dbname", server().url())])
    found = connection.rows(
        "select n, ts_rank('{1,1,1,1}', array_to_string(array(select 'w:' || i"
        " from generate_series(1, n) i), ' ')::tsvector, '''w''') from generate_series(1, $1) n",
        (MOST_OF_ONE,),
    )
    connection.close()
    assert all(_times(rank) == times for times, rank in found)
    assert len(found) == MOST_OF_ONE


TEXTS = {
    "few.md": "fox train fox house",
    "many.md": "fox " * 400 + "train house",
    "long.md": " ".join(f"w{number}" for number in range(20_000)) + " fox train",
    "wide.md": "fox " + "x" * 5000 + " train",
    "marks.md": "fox \u0301 train 'quoted\\' \u0e33 house",
    "empty.md": "...",
}
ASKED = (
    TermQuery(any=(term("fox"),)),
    TermQuery(any=(term("fox"), term("train"))),
    TermQuery(any=(term("fox train"),)),
    TermQuery(any=(term("fo", prefix=True),)),
    TermQuery(any=(term("fox trai", prefix=True),)),
    TermQuery(any=(term("w19999"),)),
    TermQuery(any=(term("x" * 5000),)),
    TermQuery(any=(term("fox"),), none=(term("house"),)),
    TermQuery(all=((term("fox"),), (term("house"), term("w3")))),
)


def whole(path: str, text: str) -> Chunk:
    """Make one chunk of a text, however long."""
    (chunk, *_) = document(path, "fox\n").chunks
    return chunk._replace(text=text, segments=())


def test_words_that_a_row_cannot_hold(tmp_path: Path) -> None:
    told: list[list[dict[str, float]]] = []
    clock = Clock()
    stores: list[Store] = [store_at(str(tmp_path / "i.sqlite"), clock)]
    stores.append(make_store(tmp_path / "shared", clock))
    for store in stores:
        with changing(store) as change:
            for path, text in TEXTS.items():
                made = document(path, "fox\n")._replace(chunks=(whole(path, text),))
                change.put(made, stamp_of(path, text))
            assert change.integrity() == "ok"
        with store.snapshot() as snapshot:
            told.append([])
            for wanted in ASKED:
                ranked = snapshot.by_keyword(wanted, 99, EVERYTHING)
                paths = snapshot.excerpts([each.chunk_id for each in ranked])
                told[-1].append({paths[r.chunk_id].about.path: r.bm25 for r in ranked})
        store.close()
    for local, shared, wanted in zip(*told, ASKED, strict=True):
        assert local, wanted
        assert shared == pytest.approx(local, rel=1e-9), wanted


def test_what_is_not_kept_whole() -> None:
    assert stored_words(cut_of((), "fox " * 255)).is_whole
    assert not stored_words(cut_of((), "fox " * 256)).is_whole
    assert stored_words(cut_of(("A fox",), "a fox")).words == "'a':1,4 'fox':2,5"
    assert stored_words(cut_of((), "it's")).words == "'it':2 's':3"


def test_many_vectors_are_compared_by_codes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = []
    for many in (100, 20):
        monkeypatch.setattr(vectors, "MANY", many)
        monkeypatch.setattr(quantize, "LEAST_CODES", 15)
        store = make_store(tmp_path / str(many), Clock())
        with changing(store) as change:
            for number in range(30):
                path, text = f"{number}.md", f"# N\n\nthe fox number {number}\n"
                change.put(document(path, text), stamp_of(path, text))
            embed(change)
            search_by(change)
        with store.snapshot() as snapshot:
            assert snapshot.vector_search().is_exact == (many > 30)
            told.append(near(snapshot, "the fox number 7", limit=5))
    assert told[0] == told[1]
    with changing(store) as change:
        for number in range(25):
            change.remove(("memory", f"{number}.md"))
        search_by(change)
    with store.snapshot() as snapshot:
        assert snapshot.vector_search().is_exact
    store.close()


def test_values_go_and_come_as_they_are() -> None:
    connection = Connection([("dbname", server().url())])
    text = "a'b\"\\ {},\n\t東 \U0001f98a"
    ((found, blob, many, nothing),) = connection.rows(
        "select $1::text, $2::bytea, to_json($3::text[]), $4::text",
        (text, bytes(range(256)), [text, "", "NULL"], None),
    )
    assert (found, blob, many, nothing) == (text, bytes(range(256)), [text, "", "NULL"], None)
    assert connection.run(f"select {connection.literal(text)}") == [(text,)]
    connection.close()


def test_a_statement_that_fails_ends_those_behind_it() -> None:
    connection = Connection([("dbname", server().url())])
    statements = [Statement("select $1::int", (n,)) for n in range(500)]
    assert connection.together(statements) == [[(n,)] for n in range(500)]
    with pytest.raises(ServerError, match="division by zero") as raised:
        connection.together([statements[1], Statement("select 1 / 0"), *statements[2:9]])
    assert raised.value.state == "22012"
    assert connection.rows("select 1") == [(1,)]
    connection.close()
    with pytest.raises(ServerError, match="closed"):
        connection.rows("select 1")


def test_terms_that_nothing_is_left_of(tmp_path: Path) -> None:
    store = make_store(tmp_path / "shared", Clock())
    with changing(store) as change:
        change.put(document("a.md", "fox\n"), stamp_of("a.md", "fox\n"))
    with store.snapshot() as snapshot:
        nothing = Term("...")
        assert snapshot.occurring([nothing]) == frozenset()
        assert snapshot.frequencies([nothing, term("fox")]) == [0, 1]
        assert snapshot.matching_chunks([nothing], [])[0].total == 0
        assert snapshot.by_keyword(TermQuery(any=(nothing,)), 9, EVERYTHING) == []
    store.close()
