"""Embed the query in a thread while the files are walked and the keyword leg runs."""

from __future__ import annotations

from threading import Thread
from typing import TYPE_CHECKING

from memcli.search.pipeline import Vector

if TYPE_CHECKING:
    from memcli.types import Encoder


def vector_of(encoder: Encoder, text: str) -> Vector:
    """Embed a query by an encoder that is open already."""
    from memcli.embedding.script import fertility
    from memcli.embedding.wordpiece import SPECIAL_TOKENS

    cut = fertility(encoder.count(text) - SPECIAL_TOKENS, text)
    return Vector(encoder.encode_query(text), encoder.fingerprint, "", cut)


class QueryVector:
    """The vector of one query, made in the background once `start` was called."""

    def __init__(self, encoder: str, text: str, *, verified: str | None) -> None:
        """Take the encoder's name, the natural text, and the model file known to be sound."""
        self._encoder, self._text, self._verified = encoder, text, verified
        self._thread: Thread | None = None
        self._vector = Vector(None, "", "the query could not be embedded", 1.0)

    def start(self) -> None:
        """Begin embedding."""
        self._thread = Thread(target=self._embed, daemon=True)
        self._thread.start()

    def result(self) -> Vector:
        """Wait for the vector, or for the reason why there is none."""
        if self._thread is None:
            self.start()
        if self._thread is not None:
            self._thread.join()
        return self._vector

    def _embed(self) -> None:
        from memcli.embedding.query import embed_query
        from memcli.embedding.script import fertility

        found = embed_query(self._encoder, self._text, verified=self._verified)
        cut = fertility(found.tokens, self._text)
        self._vector = Vector(found.vector, found.fingerprint, found.reason, cut)
