"""Embed the query in a thread while the files are walked and the keyword retriever runs."""

from __future__ import annotations

# As `threading` does it; importing that costs more.
from _thread import LockType, allocate_lock, start_new_thread
from collections.abc import Callable
from contextlib import suppress

from memcli.checking import TYPE_CHECKING
from memcli.embedding.encoders import IndexModel, Vector
from memcli.errors import MORE_MEMORY, NO_MEMORY, Reason

if TYPE_CHECKING:
    from memcli.embedding.query import QueryEncoder

FAILED = "the query could not be embedded"


class QueryVector:
    """The vector of one query, made in the background once `start` was called."""

    def __init__(self, encoder: Callable[[], QueryEncoder], text: str, index: IndexModel) -> None:
        """Take the function that opens the encoder, the natural text, and the index's model."""
        self._encoder, self._text, self._index = encoder, text, index
        self._embedded: LockType | None = None  # locked while the thread works
        self._vector = Vector(None, "", Reason("no-vector", FAILED))

    def start(self) -> None:
        """Begin to embed in a thread, if the system allows one."""
        embedded = allocate_lock()
        embedded.acquire()
        with suppress(RuntimeError, MemoryError):
            start_new_thread(self._embed_and_release, (embedded,))
            self._embedded = embedded

    def result(self, text: str) -> Vector:
        """Wait for the vector of a text, or for the reason why it has none.

        If the text has changed since `start`, it is embedded now: the encoder is open by then.
        """
        if self._embedded is not None:
            with self._embedded:  # once it is free
                pass
        if self._embedded is None or text != self._text:
            self._text = text
            self._embed()
        return self._vector

    def _embed_and_release(self, embedded: LockType) -> None:
        try:
            self._embed()
        finally:
            embedded.release()

    def _embed(self) -> None:
        """Embed; an exception would be lost with the thread, so it becomes the reason."""
        try:
            self._vector = self._encoder().encode_query(self._text, self._index)
        except MemoryError:
            self._vector = Vector(None, "", Reason("memory", NO_MEMORY, MORE_MEMORY))
        except Exception as error:  # encoders are plugins; without a vector, keyword search answers
            text = f"{FAILED}: {type(error).__name__}: {error}"
            self._vector = Vector(None, "", Reason("no-vector", text))
