from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import pytest

from memcli.errors import DamagedError
from memcli.store.quantize import packed
from memcli.store.records import Scope
from memcli.store.run_records import VectorSearch
from memcli.store.sqlite import coarse, large_index
from memcli.store.sqlite import reader as reading
from memcli.store.sqlite.coarse import VectorQuery
from memcli.store.sqlite.driver import connect, rows
from memcli.store.sqlite.reader import Reader
from memcli.store.sqlite.vectors import (
    SCANNED_BYTES,
    _make_table,
    nearest,
    refresh,
)
from memcli.store.sqlite.vectors import put as fill_cache
from memcli.store.sqlite.writer import Writer
from memcli.store.union import Union
from tests.store.nested import put_segments
from tests.store_check import assert_sound, open_writer

DIMENSION = 128
FINGERPRINT = f"made-up;dim={DIMENSION}"
BIG, SMALL = SCANNED_BYTES // (4 * DIMENSION) - 1000, 2000  # neither alone has codes


def units(count: int, seed: int) -> Any:
    """Make unit vectors in clusters, as those of texts are."""
    random = np.random.default_rng(seed)
    centres = random.normal(size=(200, DIMENSION))
    made = centres[random.integers(0, len(centres), count)] + random.normal(size=(count, DIMENSION))
    return np.asarray(made / np.linalg.norm(made, axis=1, keepdims=True), dtype="<f4")


def hashes(name: str, count: int) -> list[bytes]:
    return [f"{name}{number:015}".encode() for number in range(count)]


def put(writer: Writer, name: str, count: int, first: int = 0) -> None:
    put_segments(writer, name, hashes(name, count)[first:])


def embed(writer: Writer, name: str, made: Any) -> None:
    found = zip(hashes(name, len(made)), made, strict=True)
    writer.put_vectors(FINGERPRINT, [(hash_, row.tobytes()) for hash_, row in found])
    writer.search_by(FINGERPRINT, DIMENSION)


def is_exact(path: str) -> bool:
    reader = Reader(path)
    try:
        return reader.vector_search().is_exact
    finally:
        reader.close()


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Any]:
    """Give an index with more vectors than are searched exactly, and its vectors."""
    path = str(tmp_path_factory.mktemp("coarse") / "index.sqlite")
    big, small = units(BIG, 1), units(SMALL, 2)
    writer = open_writer(path)
    writer.search_by(FINGERPRINT, DIMENSION)
    put(writer, "b", BIG)
    embed(writer, "b", big)
    assert not writer.fact("vec_table")
    put(writer, "s", SMALL)
    embed(writer, "s", small)
    assert writer.fact("vec_table")
    writer.close()
    return path, np.concatenate([big, small])


@pytest.fixture
def large(built: tuple[str, Any], tmp_path: Path) -> tuple[str, Any]:
    """Give a copy of it, which a test may change."""
    return shutil.copy(built[0], str(tmp_path / "large.sqlite")), built[1]


def test_the_coarse_search_finds_nearly_what_the_exact_one_finds(large: tuple[str, Any]) -> None:
    path, matrix = large
    assert_sound(path)
    assert not is_exact(path)
    connection = connect(path, write=False).connection
    ((table,),) = rows(connection, "SELECT value FROM meta WHERE key = 'vec_table'")
    place = {name: at for at, name in enumerate([*hashes("b", BIG), *hashes("s", SMALL)])}
    shared = 0
    for at in range(0, len(matrix), 1000):
        exact = matrix @ matrix[at]
        _, found = nearest(connection, table, VectorQuery(FINGERPRINT, matrix[at].tobytes(), 10))
        rows_found = [place[hash_] for hash_, _ in found]
        assert rows_found[0] == at
        cosines = [cosine for _, cosine in found]
        assert cosines == pytest.approx(exact[rows_found], abs=6e-3)
        assert cosines == sorted(cosines, reverse=True)
        shared += len({*np.argsort(-exact)[:10]} & {*rows_found})
    connection.close()
    # Random directions in few dimensions are harder to tell apart than texts.
    assert shared >= 0.85 * 10 * len(range(0, len(matrix), 1000))


def test_a_filter_applies_before_the_coarse_search(large: tuple[str, Any]) -> None:
    path, matrix = large
    connection = connect(path, write=False).connection
    ((table,),) = rows(connection, "SELECT value FROM meta WHERE key = 'vec_table'")
    only = "SELECT c.id FROM chunks c JOIN documents d ON d.id = c.document_id WHERE d.path = ?"
    query = matrix[5]  # its nearest neighbours are all in the other document
    _, found = nearest(
        connection,
        table,
        VectorQuery(FINGERPRINT, query.tobytes(), 200, (only, ["s.md"])),
    )
    connection.close()
    assert len(found) == 200
    assert {hash_[:1] for hash_, _ in found} == {b"s"}


def asked_often(reader: Reader, queries: Sequence[bytes], limit: int) -> list[Any]:
    """Ask until the process keeps the codes of what it asks, then ask each question."""
    for _ in range(large_index.OFTEN):
        reader.by_vector(queries[0], 1, Scope())()
    return [reader.by_vector(query, limit, Scope())() for query in queries]


@pytest.fixture
def many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Count an index with codes as one that is worth a look in the large_index."""
    monkeypatch.setattr(reading, "MANY_VECTORS", 0)


@pytest.mark.usefixtures("many")
def test_codes_that_are_kept_find_what_those_of_the_file_find(large: tuple[str, Any]) -> None:
    path, made = large
    writer = open_writer(path)
    put(writer, "k", 50)
    embed(writer, "k", units(50, 3))
    put(writer, "k", 20)  # rows of vec0 that hold no code any more
    table = writer.fact("vec_table")
    writer.close()
    queries = [made[at].tobytes() for at in range(0, len(made), 400)]
    reader = Reader(path)
    for limit in (1, 20, 350):
        kept = asked_often(reader, queries, limit)
        assert path in large_index._kept
        for query, found in zip(queries, kept, strict=True):
            asked = VectorQuery(FINGERPRINT, query, limit)
            _, of_file = nearest(reader.connection, table, asked)
            assert [near.cosine for near in found] == [cosine for _, cosine in of_file[:limit]]
            assert {(near.hash, near.cosine) for near in found} <= {*of_file}
    reader.close()


@pytest.mark.usefixtures("many")
def test_codes_are_kept_of_one_state(large: tuple[str, Any]) -> None:
    path, made = large
    own = units(5, 8)
    writer = open_writer(path)
    put(writer, "n", 5)
    embed(writer, "n", own)
    query, name = own[3].tobytes(), hashes("n", 4)[3]
    reader = Reader(path)
    assert asked_often(reader, [query], 5)[0][0].hash == name
    kept = large_index._kept[path]
    assert asked_often(reader, [made[7].tobytes()], 5)[0][0].hash == hashes("b", 8)[7]
    assert large_index._kept[path] is kept
    put(writer, "n", 2)
    for times in range(1, 2 * large_index.OFTEN):
        found = reader.by_vector(query, 5, Scope())()
        assert name not in {near.hash for near in found}
        assert (large_index._kept[path] is kept) == (times < large_index.OFTEN)
    writer.close()
    reader.close()


@pytest.mark.usefixtures("many")
def test_codes_that_would_take_too_much_room_are_not_kept(
    large: tuple[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, made = large
    monkeypatch.setattr(large_index, "MOST_BYTES", 1000)
    monkeypatch.setattr(large_index, "_kept", {})
    reader = Reader(path)
    assert asked_often(reader, [made[7].tobytes()], 5)[0][0].hash == hashes("b", 8)[7]
    assert not large_index._kept
    reader.close()


@pytest.mark.usefixtures("many")
def test_codes_that_memcli_did_not_write_are_not_kept(
    large: tuple[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, made = str(tmp_path / "index.sqlite"), large[1]
    shutil.copy(large[0], path)
    writer = open_writer(path)
    table = writer.fact("vec_table")
    writer.close()
    monkeypatch.setattr(large_index, "_kept", {})
    connection = apsw.Connection(path)
    connection.execute(f"UPDATE {table}_chunks SET validity = x'ffff' WHERE chunk_id = 2")
    connection.close()
    reader = Reader(path)
    with pytest.raises(DamagedError, match="has foreign content"):
        asked_often(reader, [made[7].tobytes()], 5)
    assert not large_index._kept
    reader.close()


def test_without_numpy_or_room_the_codes_of_the_file_are_asked(
    large: tuple[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, made = large
    connection = connect(path, write=False).connection
    ((table,),) = rows(connection, "SELECT value FROM meta WHERE key = 'vec_table'")
    monkeypatch.setattr(large_index, "_kept", {})
    monkeypatch.setitem(sys.modules, "numpy", None)
    assert large_index.nearest(connection, table, "a state", b"\0" * 32, 10) is None
    asked = VectorQuery(FINGERPRINT, made[7].tobytes(), 1, state="a state")
    assert nearest(connection, table, asked)[1][0][0] == hashes("b", 8)[7]
    connection.close()


@pytest.mark.usefixtures("many")
def test_a_search_in_the_background_sees_the_state_of_its_reader(large: tuple[str, Any]) -> None:
    path, matrix = large
    query = matrix[BIG + 3].tobytes()
    reader = Reader(path)
    with reader.snapshot():
        before = reader.by_vector(query, 5, Scope())()
        assert before[0].hash == hashes("s", 4)[3]
        writer = open_writer(path)
        put(writer, "s", 2)
        writer.close()
        assert reader.by_vector(query, 5, Scope())() == before
    after = reader.by_vector(query, 5, Scope())()
    assert before[0] not in after
    reader.close()


def test_a_question_in_the_background_is_answered_from_one_state(tmp_path: Path) -> None:
    path = str(tmp_path / "index.sqlite")
    writer = open_writer(path)
    put(writer, "b", 3)
    revision = str(writer.facts.revision)

    def ask(connection: apsw.Connection) -> tuple[int, list[tuple[bytes, float]]]:
        other = open_writer(path)
        put(other, "s", 5)
        other.close()
        return rows(connection, "SELECT count(*) FROM parts")[0][0], []

    assert large_index.in_background(path, revision, ask)() == (3, [])
    assert writer.facts.revision > int(revision)
    assert large_index.in_background(path, revision, ask)() is None
    writer.close()


def test_stores_asked_as_one_search_by_codes_where_one_of_them_does(
    large: tuple[str, Any], tmp_path: Path
) -> None:
    open_writer(str(tmp_path / "index.sqlite")).close()
    small, coded = Reader(str(tmp_path / "index.sqlite")), Reader(large[0])
    with small.snapshot(), coded.snapshot():
        for readers, is_exact in (([small], True), ([small, coded], False)):
            union = Union({str(n): each for n, each in enumerate(readers)})
            assert union.vector_search() == VectorSearch("sqlite-vec", is_exact, "")
    small.close()
    coded.close()


def test_codes_keep_step_with_the_texts_until_they_are_few(large: tuple[str, Any]) -> None:
    writer = open_writer(large[0])
    put(writer, "s", 10)
    put(writer, "t", 30)
    embed(writer, "t", units(30, 4))
    assert writer.fact("vec_table")
    assert_sound(large[0])
    writer.remove(("memory", "b.md"))
    writer.search_by(FINGERPRINT, DIMENSION)
    assert not writer.fact("vec_table")
    writer.close()
    assert_sound(large[0])
    assert is_exact(large[0])


def test_texts_that_take_the_place_of_others_and_have_a_vector_are_coded(
    large: tuple[str, Any],
) -> None:
    path, made = large
    writer = open_writer(path)
    put(writer, "s", 10)
    put(writer, "s", SMALL, first=SMALL - 30)  # their vectors are kept; ten others go
    table = writer.fact("vec_table") or ""
    assert table
    assert rows(writer.connection, f"SELECT count(*) FROM {table}") == [(BIG + 30,)]
    writer.close()
    assert_sound(path)
    reader = Reader(path)
    for number in (SMALL - 1, SMALL - 30):
        query = made[BIG + number].tobytes()
        assert reader.by_vector(query, 1, Scope())()[0].hash == hashes("s", SMALL)[number]
    assert reader.by_vector(made[BIG + 5].tobytes(), 1, Scope())()[0].hash != hashes("s", 6)[5]
    reader.close()


def searched(path: str, made: dict[bytes, bytes], order: Sequence[bytes]) -> list[Any]:
    """Search a table of codes, and the vectors without one, that were filled in an order."""
    connection = Writer(path, lambda: 0).connection
    _make_table(connection, "codes_0", FINGERPRINT, DIMENSION, DIMENSION)
    fill_cache(connection, ((FINGERPRINT, hash_, packed(made[hash_]), None) for hash_ in order))
    found = []
    for table in ("codes_0", None):
        connection.execute("UPDATE vectors SET unused_since = 0")
        tables = {table: DIMENSION} if table else {}
        refresh(connection, tables, FINGERPRINT, gone=(), living=order, now=0)
        for query in [*made.values()][::500]:
            for limit in (1, 7, 60, 300):
                _, near = nearest(connection, table, VectorQuery(FINGERPRINT, query, limit))
                assert limit <= len(near)
                found.append(sorted(near))
    connection.close()
    return found


def test_what_is_found_does_not_depend_on_what_lies_first(tmp_path: Path) -> None:
    places = units(150, 5)
    random = np.random.default_rng(6)
    names = hashes("m", 3000)
    # Many lie in one place, so that ties lie on every edge.
    made = {name: places[random.integers(0, 150) ** 2 // 150].tobytes() for name in names}
    one = searched(str(tmp_path / "one.sqlite"), made, names)
    shuffled = [names[at] for at in random.permutation(len(names))]
    assert searched(str(tmp_path / "other.sqlite"), made, shuffled) == one


def test_of_vectors_that_tie_no_more_are_given_than_asked_for(tmp_path: Path) -> None:
    path = str(tmp_path / "index.sqlite")
    writer = open_writer(path)
    put(writer, "m", 5)
    embed(writer, "m", np.repeat(units(1, 9), 5, axis=0))
    writer.close()
    reader = Reader(path)
    assert [len(reader.by_vector(units(1, 9)[0].tobytes(), n, Scope())()) for n in (2, 9)] == [2, 5]
    reader.close()


@pytest.mark.parametrize(("dimension", "planes"), [(384, 2), (4096, 2), (4104, 1), (8192, 1)])
def test_a_code_fits_into_a_column(dimension: int, planes: int) -> None:
    assert coarse.bits(dimension) == planes * dimension <= coarse.MOST_BITS
    assert coarse.can_code(dimension)


def test_vectors_that_have_no_code_are_searched_exactly() -> None:
    assert not coarse.can_code(300 + 1)
    assert not coarse.can_code(2 * coarse.MOST_BITS)
