"""Read from a damaged index what cost most to make: its vectors, as far as they can be believed."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from contextlib import suppress
from math import fsum

import apsw

from memcli.errors import StoreError
from memcli.store import fixed
from memcli.store.sqlite import schema
from memcli.store.sqlite.driver import connect_unchanged

Row = tuple[str, bytes, bytes]  # fingerprint, hash of the text, packed vector
UNIT = 0.01  # how far the square of a length may be from 1: a 4-bit model's differ by a thousandth


def readable_vectors(path: str) -> Iterator[Row]:
    """Give the vectors of unit length that can be read, up to the first place that cannot be.

    A file whose tables memcli did not make gives none: somebody else has written it.
    """
    with suppress(apsw.Error, StoreError, ValueError):
        connection = connect_unchanged(path)
        try:
            if schema.shape(connection) == schema.SHAPE:
                for row in connection.execute(
                    "SELECT e.fingerprint, v.hash, v.vector"
                    " FROM vectors v JOIN encoders e ON e.id = v.encoder"
                ):
                    if _is_sound(row):
                        yield row
        finally:
            connection.close(True)


def _is_sound(row: tuple[object, ...]) -> bool:
    fingerprint, hash_, vector = row
    if not (isinstance(fingerprint, str) and isinstance(hash_, bytes)):
        return False
    if not isinstance(vector, bytes) or not vector or len(vector) % fixed.BYTES:
        return False
    components = array("f", fixed.unpacked(vector))
    return abs(fsum(c * c for c in components) - 1.0) < UNIT
