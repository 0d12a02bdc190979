"""Embed the query in a thread while the files are walked and the keyword leg runs."""

from __future__ import annotations

from threading import Thread
from typing import TYPE_CHECKING

from memcli.errors import LegMissingError
from memcli.search.pipeline import Vector

if TYPE_CHECKING:
    from memcli.embedding.choice import Choice, Remembered
    from memcli.types import Encoder


def vector_of(encoder: Encoder, text: str) -> Vector:
    """Embed a query by an encoder that is open already."""
    from memcli.embedding.wordpiece import SPECIAL_TOKENS

    try:
        blob = encoder.encode_query(text)
    except LegMissingError as error:
        return Vector(None, "", error.message, 1.0)
    cut = _fertility(encoder.fingerprint, encoder.count(text) - SPECIAL_TOKENS, text)
    return Vector(blob, encoder.fingerprint, "", cut)


def _fertility(fingerprint: str, tokens: int, text: str) -> float:
    """Tell how well an English vocabulary knows a query; other models have others."""
    from memcli.embedding.registry import reads_latin_only
    from memcli.embedding.script import fertility

    return fertility(tokens, text) if reads_latin_only(fingerprint) else 1.0


class QueryVector:
    """The vector of one query, made in the background once `start` was called."""

    def __init__(self, choice: Choice, text: str, index: Remembered) -> None:
        """Take the configured encoders, the natural text, and what the index says of its model."""
        self._choice, self._text, self._index = choice, text, index
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
        """Embed; whatever is raised here would be lost with the thread, and so it is the reason."""
        try:
            from memcli.embedding.query import embed_query

            found = embed_query(self._choice, self._text, self._index)
            cut = _fertility(found.fingerprint, found.tokens, self._text)
        except Exception as error:
            told = f"{self._vector.reason}: {type(error).__name__}: {error}"
            self._vector = self._vector._replace(reason=told)
            return
        self._vector = Vector(found.vector, found.fingerprint, found.reason, cut)
