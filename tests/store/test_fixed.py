from __future__ import annotations

from array import array

import apsw
import numpy as np
import pytest

from memcli.store import fixed
from memcli.store.fixed import OFFSET, mirrored, packed, rounded, unpacked
from memcli.store.sqlite.coarse import distances_of
from memcli.store.sqlite.driver import connect

STEP = 2.0**-14


def units(count: int, dimension: int) -> list[bytes]:
    made = np.random.default_rng(3).normal(size=(count, dimension))
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    return [row.astype("<f4").tobytes() for row in made]


@pytest.fixture
def connection(tmp_path: object) -> apsw.Connection:
    return connect(f"{tmp_path}/s/index.sqlite", write=True).connection


def test_a_component_takes_two_bytes_and_is_off_by_half_a_step_at_most() -> None:
    for vector in units(20, 96):
        kept = packed(vector)
        assert len(kept) == 2 * 96
        given, back = np.frombuffer(vector, "<f4"), np.frombuffer(unpacked(kept), "<f4")
        assert np.abs(back - given).max() <= STEP / 2 + 1e-6
        assert packed(unpacked(kept)) == kept
        assert rounded(vector) == unpacked(kept)
        assert np.array_equal(np.float32(OFFSET) - np.frombuffer(mirrored(kept), "<f4"), back)


def test_the_ends_of_the_range_stay_inside_it() -> None:
    back = array("f", unpacked(packed(array("f", [1.0, -1.0, 0.0, 1.0001, -1.0001]).tobytes())))
    assert list(back) == [1.0, STEP - 1.0, 0.0, 1.0, STEP - 1.0]


@pytest.mark.parametrize("has_vec", [True, False], ids=["vec0", "numpy"])
def test_distances_are_those_of_float32_to_the_fourth_place(
    connection: apsw.Connection, has_vec: bool
) -> None:
    query, *vectors = units(40, 384)
    kept = [packed(vector) for vector in vectors]
    found = distances_of(connection, query, kept, has_vec=has_vec)
    asked = np.frombuffer(query, "<f4")
    exact = [float(np.linalg.norm(np.frombuffer(vector, "<f4") - asked)) for vector in vectors]
    assert found == pytest.approx(exact, abs=1e-4)
    assert distances_of(connection, query, [], has_vec=has_vec) == []
    with pytest.raises(ValueError, match="dimension"):
        distances_of(connection, query, [*kept, kept[0][2:]], has_vec=has_vec)


def test_a_query_is_asked_as_it_is_compared() -> None:
    query = array("f", [0.1, -0.7, 1e-9, 0.0, 1.0]).tobytes()
    asked = fixed.query_vector(query)
    assert fixed.reflected(asked) == fixed.reflected(query)
    assert fixed.query_vector(asked) == asked
    assert list(array("f", asked)) == pytest.approx(list(array("f", query)), abs=2**-22)
