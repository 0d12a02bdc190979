"""An encoder of hashed words for tests: plain Python, explainable, no model.

Each word adds +1 or -1 to one component, so the cosine of two texts is about the share of
words they have in common. It knows no meaning. `register` makes it an encoder that a
configuration may name "hashing", in place of the bundled one: it reads Latin alone as that does.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from zlib import crc32

from memcli.embedding import registry
from memcli.embedding.encoders import EncoderRecord, OpenedEncoder, Opener
from memcli.embedding.models import KnownModel

DIMENSION = 64
MAX_TOKENS = 256


class HashingEncoder:
    """Embeds texts by their words; satisfies `Encoder`."""

    def __init__(self, dimension: int = DIMENSION, max_tokens: int = MAX_TOKENS) -> None:
        """Set the number of components and the longest text in words."""
        self._dimension = dimension
        self._max_tokens = max_tokens

    @property
    def fingerprint(self) -> str:
        """Name the method, the dimension and the maximum of words."""
        return (
            f"hashing;model=crc32;graph=1;dim={self._dimension}"
            f";pool=sum,l2;prefix=;max={self._max_tokens}"
        )

    @property
    def dimension(self) -> int:
        """Give the number of float32 components of a vector."""
        return self._dimension

    @property
    def max_tokens(self) -> int:
        """Give the longest text in words."""
        return self._max_tokens

    def count(self, text: str) -> int:
        """Count the words of `text`."""
        return len(_words(text))

    def encode(self, texts: Sequence[str]) -> list[bytes]:
        """Embed texts of at most `max_tokens` words; a longer one is a ValueError."""
        for number, text in enumerate(texts):
            if self.count(text) > self._max_tokens:
                raise ValueError(f"text {number} has more than {self._max_tokens} words")
        return [self._vector(_words(text)) for text in texts]

    def encode_query(self, text: str) -> bytes:
        """Embed a query; words beyond `max_tokens` are left out."""
        return self._vector(_words(text)[: self._max_tokens])

    def _vector(self, words: Sequence[str]) -> bytes:
        sums = [0.0] * self._dimension
        for word in words:
            # The top bit gives the sign, the rest the component.
            code = crc32(word.encode("utf-8", "surrogatepass"))
            sums[(code & 0x7FFFFFFF) % self._dimension] += 1.0 if code >> 31 else -1.0
        length = math.sqrt(sum(value * value for value in sums))
        if not length:  # no words, or words that cancel out
            sums[0] = length = 1.0
        return struct.pack(f"<{self._dimension}f", *(value / length for value in sums))


def _words(text: str) -> list[str]:
    kept = (character if character.isalnum() else " " for character in text.casefold())
    return "".join(kept).split()


OPENER = Opener(
    fingerprint=lambda choice, remembered: HashingEncoder().fingerprint,
    open=lambda choice, opening: OpenedEncoder(HashingEncoder()),
)


def register() -> None:
    """Let configurations of this process name the encoder."""
    record = EncoderRecord("hashing", model="hashing")
    registry.register(record, lambda: OPENER, KnownModel("hashing", latin_only=True))
