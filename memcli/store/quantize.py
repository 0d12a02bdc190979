"""Vectors as stores keep them: seven bits for each component, eight in seven bytes; pure.

Each component is stored as one of 127 levels between -1 and 1. They are dense near 0, where the
components of a unit vector are, in units of their spread 1/sqrt(d). A vector is scaled before it is
rounded, so that it keeps its length: without that, the error of a cosine would be nearly twice as
large. It has a standard deviation of .0009 with 384 components. `unpacked` needs no numpy: it is
some calls of `translate`. If its dimension is no multiple of 8, a vector gets zeros at its end.
"""

from __future__ import annotations

from array import array
from bisect import bisect
from functools import lru_cache
from itertools import pairwise
from math import sqrt

LEAST_CODES = 200  # of a large index, compared by vectors; fixed, so answers repeat
GROUP, _BITS = 8, 7  # components that are packed together, and the bits of each
# Of the 63 levels above 0, 48 reach up to 3.6 times the spread, at most .5, each step a little
# larger than the one before it. The others reach 1 in equal ratios, for a few large components.
_ABOVE, _NEAR, _REACH, _CURVE = 63, 48, 3.6, 3.0
_CLOSE, _TRIES = 0.0003, 4  # share of a length by which it may differ, and how often to try
# The bits of each component are at the end of one byte and at the beginning of the next.
_ENDS = [bytes(range(0, 128, 1 << at)) * (2 << at) for at in range(_BITS)]  # byte << at & 127
_BEGINNINGS = [bytes(map((at + 1).__rrshift__, range(256))) for at in range(_BITS)]


def size(dimension: int) -> int:
    """Return the bytes of a packed vector."""
    return padded(dimension) // GROUP * _BITS


def dimension_of(size: int) -> int:
    """Return the dimension of a packed vector of so many bytes, with the zeros at its end."""
    return size // _BITS * GROUP


def packed(vector: bytes) -> bytes:
    """Pack a vector of float32."""
    components = array("f", vector)
    components.extend([0.0] * (padded(len(components)) - len(components)))
    levels = _levels(len(components))
    bounds = [(low + high) / 2.0 for low, high in pairwise(levels)]
    length = sqrt(sum(each * each for each in components)) or 1.0
    codes, error, scale = [_ABOVE] * len(components), 1.0, 1.0
    for _ in range(_TRIES):
        tried = [bisect(bounds, each * scale) for each in components]
        share = sqrt(sum(levels[code] * levels[code] for code in tried)) / length
        if abs(share - 1.0) < error:
            codes, error = tried, abs(share - 1.0)
        if error < _CLOSE or not share:
            break
        scale /= share
    bits = 0
    for code in codes:
        bits = bits << _BITS | code
    return bits.to_bytes(size(len(codes)), "big")


def unpacked(packed: bytes, dimension: int = 0) -> bytes:
    """Return the float32 of packed vectors of this dimension, joined; 0: of one vector.

    For the first components of vectors, `dimension` is that of whole vectors.
    """
    if len(packed) % _BITS:
        raise ValueError("a vector is cut off")
    codes = bytearray(dimension_of(len(packed)))
    ends = bytes(len(packed) // _BITS)
    for at in range(_BITS):
        taken = packed[at::_BITS]
        codes[at::GROUP] = _either(ends, taken.translate(_BEGINNINGS[at]))
        ends = taken.translate(_ENDS[_BITS - 1 - at])
    codes[_BITS::GROUP] = ends
    floats = bytearray(4 * len(codes))
    for at, table in enumerate(_tables(padded(dimension) or len(codes))):
        floats[at::4] = codes.translate(table)
    return bytes(floats)


def padded(dimension: int) -> int:
    """Return the dimension of a vector with the zeros at its end."""
    return -(-dimension // GROUP) * GROUP


def rounded(vector: bytes) -> bytes:
    """Return a vector of float32 as a store returns it; all stores round alike."""
    return unpacked(packed(vector))[: len(vector)]


def _either(one: bytes, other: bytes) -> bytes:
    """Return the bits of two strings of bytes."""
    bits = int.from_bytes(one, "little") | int.from_bytes(other, "little")
    return bits.to_bytes(len(one), "little")


@lru_cache(maxsize=4)
def _levels(dimension: int) -> list[float]:
    """Return the levels of the components of a vector."""
    reach, far = min(_REACH * max(dimension, GROUP) ** -0.5, 0.5), _ABOVE - _NEAR
    above = [
        reach * ((1.0 + _CURVE) ** (step / _NEAR) - 1.0) / _CURVE for step in range(1, _NEAR + 1)
    ]
    above += [reach ** (1.0 - step / far) for step in range(1, far + 1)]
    return array("f", [*(-level for level in reversed(above)), 0.0, *above]).tolist()


@lru_cache(maxsize=4)
def _tables(dimension: int) -> tuple[bytes, ...]:
    """Return the four bytes of the float32 of each level, as tables for `translate`."""
    made = array("f", _levels(dimension) + [0.0] * (255 - 2 * _ABOVE)).tobytes()
    return tuple(made[at::4] for at in range(4))
