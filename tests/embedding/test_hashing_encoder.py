"""The hashing encoder for tests."""

from __future__ import annotations

import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.types import Encoder
from tests.hashing import HashingEncoder

ENCODER: Encoder = HashingEncoder()


def dot(one: bytes, other: bytes) -> float:
    pairs = zip(struct.unpack("<64f", one), struct.unpack("<64f", other), strict=True)
    return math.fsum(a * b for a, b in pairs)


@given(st.text())
def test_every_text_has_unit_length(text: str) -> None:
    vector = ENCODER.encode_query(text)
    assert len(vector) == 64 * 4
    assert dot(vector, vector) == pytest.approx(1, abs=1e-6)
    assert vector == ENCODER.encode_query(text)


def test_shared_words_make_texts_similar() -> None:
    one, near, far = ENCODER.encode(
        ["we moved the database", "the database was moved, we think", "sunny weather today"]
    )
    assert dot(one, near) > 0.5 > dot(one, far)
    assert ENCODER.encode_query("We MOVED -- the database!") == one


def test_a_single_word_is_one_component() -> None:
    assert sorted(map(abs, struct.unpack("<64f", ENCODER.encode_query("hello")))) == [0.0] * 63 + [
        1.0
    ]


def test_long_texts_are_refused_and_long_queries_cut() -> None:
    text = " ".join(f"w{n}" for n in range(256))
    assert ENCODER.count(text) == 256
    ENCODER.encode([text])
    with pytest.raises(ValueError, match="text 0"):
        ENCODER.encode([text + " more"])
    assert ENCODER.encode_query(text + " more") == ENCODER.encode_query(text)


def test_the_fingerprint_names_the_dimension() -> None:
    assert HashingEncoder(384).fingerprint != ENCODER.fingerprint
    assert HashingEncoder(384).dimension == 384
    assert len(HashingEncoder(384).encode_query("x")) == 384 * 4
