from __future__ import annotations

from array import array
from pathlib import Path

import numpy as np
import pytest

from memcli.store.quantize import packed, rounded, unpacked
from memcli.store.sqlite import driver
from memcli.store.sqlite.coarse import distances_of
from memcli.store.sqlite.driver import connect


def units(count: int, dimension: int) -> list[bytes]:
    made = np.random.default_rng(3).normal(size=(count, dimension))
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    return [row.astype("<f4").tobytes() for row in made]


def test_a_component_takes_seven_bits_and_the_same_ones_when_it_is_packed_again() -> None:
    for vector in units(20, 384):
        kept = packed(vector)
        assert len(kept) == 384 * 7 // 8
        given, back = np.frombuffer(vector, "<f4"), np.frombuffer(unpacked(kept), "<f4")
        assert np.abs(back - given).max() < 0.01
        assert float(given @ back) == pytest.approx(1.0, abs=3e-3)
        assert float(back @ back) == pytest.approx(1.0, abs=5e-3)
        assert packed(unpacked(kept)) == kept
        assert rounded(vector) == unpacked(kept)


@pytest.mark.parametrize("dimension", [1, 2, 7, 8, 50, 384])
def test_a_vector_of_one_component_is_kept(dimension: int) -> None:
    for value in (1.0, -1.0):
        vector = array("f", [0.0] * (dimension - 1) + [value])
        back = array("f", rounded(vector.tobytes()))
        assert list(back) == pytest.approx(list(vector), abs=1e-3)
    assert not any(array("f", rounded(bytes(4 * dimension))))


@pytest.mark.parametrize("has_vec", [True, False], ids=["vec0", "without"])
def test_distances_are_those_of_float32_to_the_second_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_vec: bool
) -> None:
    if not has_vec:
        monkeypatch.setattr(driver, "_load_vec", lambda _: "not here")
    connection = connect(f"{tmp_path}/s/index.sqlite", write=True).connection
    query, *vectors = units(40, 384)
    kept = [packed(vector) for vector in vectors]
    found = distances_of(connection, query, kept)
    asked = np.frombuffer(query, "<f4")
    exact = [float(np.linalg.norm(np.frombuffer(vector, "<f4") - asked)) for vector in vectors]
    assert found == pytest.approx(exact, abs=5e-3)
    assert distances_of(connection, query, []) == []
    with pytest.raises(ValueError, match="dimension"):
        distances_of(connection, query, [*kept, kept[0][1:]])
