"""Halve texts that are too long for a model until they fit; the vector is the mean.

No word is left out. So a model with a small window is less precise, but never hides a line.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from operator import mul

from memcli.checking import TYPE_CHECKING

if TYPE_CHECKING:
    from memcli.types import Encoder


def halves(text: str) -> tuple[str, str]:
    """Cut a text of two or more characters near its middle, at a space if possible."""
    middle = len(text) // 2
    spaces = (text.rfind(" ", 1, middle + 1), text.find(" ", middle, len(text) - 1))
    places = [at for at in spaces if at > 0]
    at = min(places, key=lambda space: abs(space - middle)) if places else middle
    return text[:at], text[at:]


def pieces(text: str, fits: Callable[[str], bool]) -> list[str]:
    """Cut a text into pieces that fit, in order and without loss."""
    if len(text) < 2 or fits(text):
        return [text]
    return [piece for half in halves(text) for piece in pieces(half, fits)]


def unit(values: Sequence[float]) -> bytes | None:
    """Scale a vector to unit length and pack it; None if it has no direction or is too large."""
    try:
        length = math.hypot(*values)
    except OverflowError:  # a whole number of more than 308 digits
        return None
    if not 0 < length < math.inf:
        return None
    return struct.pack(f"<{len(values)}f", *(value / length for value in values))


def mean(vectors: Sequence[bytes], texts: Sequence[str]) -> bytes:
    """Return the direction of the mean of unit vectors, weighted by the lengths of their texts.

    If they cancel out, it is the first.
    """
    if len(vectors) == 1:
        return vectors[0]
    rows = [struct.unpack(f"<{len(vector) // 4}f", vector) for vector in vectors]
    weights = [float(len(text)) for text in texts]
    sums = [math.fsum(map(mul, column, weights)) for column in zip(*rows, strict=True)]
    return unit(sums) or vectors[0]


class LongTextEncoder:
    """Lets an encoder take texts of any length; satisfies `Encoder`."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self.fingerprint, self.dimension = encoder.fingerprint, encoder.dimension
        self.max_tokens, self.count = encoder.max_tokens, encoder.count

    def encode(self, texts: Sequence[str]) -> list[bytes]:
        cut = [pieces(text, self._fits) for text in texts]
        vectors = iter(self._encoder.encode([piece for parts in cut for piece in parts]))
        return [mean([next(vectors) for _ in parts], parts) for parts in cut]

    def encode_query(self, text: str) -> bytes:
        cut = pieces(text, self._fits)
        return mean([self._encoder.encode_query(piece) for piece in cut], cut)

    def _fits(self, text: str) -> bool:
        return self.count(text) <= self.max_tokens
