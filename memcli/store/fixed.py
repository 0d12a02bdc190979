"""Vectors as stores keep them: 15 bits a component, which takes two bytes; pure.

A component of a unit vector lies in [-1, 1]. Taken from OFFSET it lies in [2, 4), where all float32
have one exponent: their last byte is the same, the first one tells less than 2^-14, and the two
between are kept. So a vector is unpacked by copying bytes, a microsecond for 384 components
without numpy, which float16 would not allow; and since the query is mirrored as well, distances
need no way back. A cosine is off by at most 1e-4, as it is with float16: of six collections
recall@10 against float32 is .9996 by both, and .996 by eight bits a component.
"""

from __future__ import annotations

from array import array

OFFSET = 3.0
BYTES = 2  # a component
LEAST_CODES = 200  # of a large index that are compared by vectors: one number, so one answer
_STEP = 2.0**-14
_ONE = b"\0\0\0\x40"  # the float32 2, which is a component of 1


def packed(vector: bytes) -> bytes:
    """Pack a vector of float32."""
    least, rounding = _STEP - 1.0, OFFSET + _STEP / 2.0
    components = [rounding - max(least, min(c, 1.0)) for c in array("f", vector)]
    mirrored = array("f", components).tobytes()
    found = bytearray(BYTES * len(components))
    found[0::2], found[1::2] = mirrored[1::4], mirrored[2::4]
    return bytes(found)


def mirrored(packed: bytes) -> bytes:
    """Give the float32 of packed vectors, each component taken from OFFSET."""
    found = bytearray(_ONE) * (len(packed) // BYTES)
    found[1::4], found[2::4] = packed[0::2], packed[1::2]
    return bytes(found)


def rounded(vector: bytes) -> bytes:
    """Give a vector of float32 as it is after it was kept; every store gives the same."""
    return unpacked(packed(vector))


def query_vector(vector: bytes) -> bytes:
    """Give a query of float32 as it is compared, of which being mirrored takes the last bits."""
    return reflected(reflected(vector))


def reflected(vector: bytes) -> bytes:
    """Take each component of float32 from OFFSET; twice gives it back but for its last bits."""
    return array("f", [OFFSET - c for c in array("f", vector)]).tobytes()


def unpacked(packed: bytes) -> bytes:
    """Give the float32 of packed vectors."""
    return reflected(mirrored(packed))
