"""Which vectors of a damaged index can be believed."""

from __future__ import annotations

from array import array

import pytest

from memcli.store.quantize import packed
from memcli.store.sqlite.vectors import _is_sound


def _vector(*components: float) -> bytes:
    return packed(array("f", components).tobytes())


@pytest.mark.parametrize(
    ("row", "is_sound"),
    [
        (("f", b"h", _vector(0.6, 0.8)), True),
        (("f", b"h", _vector(1.0, 0.0)), True),
        (("f", b"h", _vector(0.6, 0.7)), False),  # .36 + .49
        (("f", b"h", _vector(0.9, 0.9)), False),
        (("f", b"h", _vector(0.6, 0.8)[:-1]), False),
        (("f", b"h", b""), False),
        (("f", b"h", "text"), False),
        (("f", b"h", None), False),
        ((None, b"h", _vector(0.6, 0.8)), False),
        (("f", "h", _vector(0.6, 0.8)), False),
    ],
)
def test_a_vector_of_length_one_with_its_text_and_model_is_believed(
    row: tuple[object, ...], is_sound: bool
) -> None:
    assert _is_sound(row) is is_sound
