"""Vectors as stores keep them: one byte for each component; pure.

A byte stands for one of 255 levels between -1 and 1. They lie close together near 0, where the
components of a unit vector are, as in the companding of telephony (G.711). The bytes of the
float32 of each level are four tables of 256 bytes, so `unpacked` is four calls of `translate`
and needs no numpy. The error of a cosine has a standard deviation of .001.
"""

from __future__ import annotations

from array import array
from bisect import bisect
from itertools import pairwise

LEAST_CODES = 200  # of a large index, compared by vectors; fixed, so answers repeat
_MIDDLE = 127  # the byte of 0
_CURVE = 50.0  # how much closer levels are near 0; best for vectors of 384 components


def _level(byte: int) -> float:
    """Return the component of a byte."""
    apart = abs(min(byte, 2 * _MIDDLE) - _MIDDLE) / _MIDDLE
    size: float = ((1.0 + _CURVE) ** apart - 1.0) / _CURVE
    return size if byte >= _MIDDLE else -size


_LEVELS = array("f", map(_level, range(256)))
_BOUNDS = [(low + high) / 2.0 for low, high in pairwise(_LEVELS[: 2 * _MIDDLE + 1])]
_TABLES = tuple(_LEVELS.tobytes()[at::4] for at in range(4))


def packed(vector: bytes) -> bytes:
    """Pack a vector of float32."""
    return bytes([bisect(_BOUNDS, component) for component in array("f", vector)])


def unpacked(packed: bytes) -> bytes:
    """Return the float32 of packed vectors."""
    floats = bytearray(4 * len(packed))
    for at, table in enumerate(_TABLES):
        floats[at::4] = packed.translate(table)
    return bytes(floats)


def rounded(vector: bytes) -> bytes:
    """Return a vector of float32 as a store returns it; all stores round alike."""
    return unpacked(packed(vector))
