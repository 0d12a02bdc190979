"""Embed the query in a thread while the files are walked and the keyword leg runs."""

from __future__ import annotations

from threading import Thread

from memcli.search.pipeline import Vector


class QueryVector:
    """The vector of one query, made in the background once `start` was called."""

    def __init__(self, encoder: str, text: str) -> None:
        """Take the name of the encoder and the natural text of the query."""
        self._encoder, self._text = encoder, text
        self._thread: Thread | None = None
        self._vector = Vector(None, "", "the query was not embedded")

    def start(self) -> None:
        """Begin embedding."""
        self._thread = Thread(target=self._embed, daemon=True)
        self._thread.start()

    def result(self) -> Vector:
        """Wait for the vector, or for the reason why there is none."""
        if self._thread is None:
            self._embed()
        else:
            self._thread.join()
        return self._vector

    def _embed(self) -> None:
        from memcli.embedding.registry import embed_query

        found = embed_query(self._encoder, self._text)
        self._vector = Vector(found.vector, found.fingerprint, found.reason)
