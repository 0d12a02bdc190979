from __future__ import annotations

import math
import struct
from operator import mul

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.embedding.long_texts import LongTextEncoder, halves, mean, pieces, unit
from tests.hashing import HashingEncoder


@given(st.text(min_size=1), st.integers(min_value=1, max_value=20))
def test_pieces_fit_and_lose_nothing(text: str, most: int) -> None:
    found = pieces(text, lambda piece: len(piece) <= most)
    assert "".join(found) == text
    assert all(0 < len(piece) <= most for piece in found)


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("one two three", ("one two", " three")),
        ("a bcdefghij", ("a", " bcdefghij")),
        ("abcdefgh i", ("abcdefgh", " i")),
        ("東京都の検索", ("東京都", "の検索")),
        ("ab", ("a", "b")),
        ("  ", (" ", " ")),
    ],
)
def test_a_text_is_cut_at_the_space_nearest_its_middle(text: str, cut: tuple[str, str]) -> None:
    assert halves(text) == cut


def test_a_mean_is_weighted_and_has_unit_length() -> None:
    east, north = struct.pack("<2f", 1, 0), struct.pack("<2f", 0, 1)
    assert struct.unpack("<2f", mean([east, north], ["abc", "abcd"])) == pytest.approx((0.6, 0.8))
    assert mean([east], ["abc"]) == east
    west = struct.pack("<2f", -1, 0)
    assert mean([east, west], ["a", "b"]) == east
    assert unit([0.0, 0.0]) is None
    assert unit([math.inf, 1.0]) is None


def test_every_word_of_a_long_text_takes_part() -> None:
    narrow, wide = LongTextEncoder(HashingEncoder(32, max_tokens=4)), HashingEncoder(32)
    words = "pool fox train deploy coffee bean handle worker"
    # Hashed words add up, so a text of even pieces has the direction of the whole.
    found, whole = narrow.encode([words, "fox"]), wide.encode([words, "fox"])
    assert found[1] == whole[1]
    assert sum(map(mul, floats(found[0]), floats(whole[0]))) > 0.99
    assert narrow.encode_query(words) == found[0]
    assert (narrow.fingerprint, narrow.dimension) == (HashingEncoder(32, 4).fingerprint, 32)


def floats(vector: bytes) -> tuple[float, ...]:
    return struct.unpack(f"<{len(vector) // 4}f", vector)
