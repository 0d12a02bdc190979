"""Embed queries in the quickest way available, falling back to the ordinary one.

The quick way relies on a model file that was verified when the index was made. If the file has
changed since, it is verified again before its vectors are used.
"""

from __future__ import annotations

from _thread import allocate_lock as Lock
from functools import partial

from memcli.checking import TYPE_CHECKING
from memcli.embedding import registry
from memcli.embedding.encoders import (
    OTHER_MODEL,
    Choice,
    IndexModel,
    QueryModel,
    QueryModelError,
    Vector,
)
from memcli.embedding.models import known
from memcli.errors import Reason, RetrieverError

if TYPE_CHECKING:
    from memcli.types import Encoder

KEPT = 256  # vectors: half a megabyte


class QueryEncoder:
    """Embeds queries with the configured encoder that made the index.

    The encoder opens with the first query. It stays open, with the vectors of the last texts, until
    the index has another model. After a failure it opens again. Threads may share one: it embeds
    one text at a time, and returns a known vector without waiting.
    """

    def __init__(self, choice: Choice) -> None:
        """Take the configured encoders; opens nothing."""
        self._choice, self._lock = choice, Lock()
        self._index: IndexModel | None = None  # the index for which the encoder is open
        self._way: _OpenQueryModel | None = None
        self._made: dict[tuple[IndexModel, str], Vector] = {}

    def encode_query(self, text: str, index: IndexModel) -> Vector:
        """Embed a query for an index, or return why that is impossible."""
        key = index, text
        if made := self._made.get(key):
            return made
        with self._lock:
            vector = self._made.get(key) or self._opened(index).embed(text)
            if vector.blob is None:
                self._way = None
                return vector
            self._made[key] = vector
            if len(self._made) > KEPT:
                del self._made[next(iter(self._made))]
            return vector

    def encoder(self, index: IndexModel) -> Encoder | None:
        """Return an encoder for a few new texts, with the model that is open for queries.

        None if that model has no quick way.
        """
        with self._lock:
            return self._opened(index).encoder()

    def close(self) -> None:
        """Free the model; a later query opens it again. Not needed before the process ends."""
        with self._lock:
            self._forget()

    def _forget(self) -> None:
        self._way = None
        self._made.clear()

    def _opened(self, index: IndexModel) -> _OpenQueryModel:
        """Open the model for an index, and free the one for another index."""
        if index != self._index:
            self._forget()
            self._index = index
        if self._way is None:
            self._way = _OpenQueryModel(self._choice, index)
        return self._way


class _OpenQueryModel:
    """The way to embed the queries of an index, or the reason why there is none.

    The quick way is asked first, and after its first failure the encoder that also makes the index.
    A server has one deadline, for opening it and for all requests of a long query.
    """

    def __init__(self, choice: Choice, index: IndexModel) -> None:
        choice = registry.resolve_auto(choice, index, fingerprint=index.fingerprint)
        self._index, self._name = index, _name_for(choice, index)
        self._quick: QueryModel | None = None
        self._encoder: Encoder | None = None
        self._reason: Reason | None = None
        self._seconds, self._is_open = None, True
        if self._name is None:  # do not open or send anything for nothing
            self._reason = OTHER_MODEL
            return
        self._choice = choice._replace(names=(self._name,))
        self._seconds, self._is_open = registry.query_seconds(self._name), False
        if self._seconds is None:
            self._open(self._name)

    def embed(self, text: str) -> Vector:
        if self._seconds is None:
            return self._embed(text)
        from memcli.threads import within

        try:
            return within(self._seconds, partial(self._embed, text))
        except TimeoutError as error:
            return Vector(None, "", Reason("endpoint", f"the endpoint gives {error}"))

    def encoder(self) -> Encoder | None:
        """Return an encoder that uses the model which is already open."""
        return self._quick.encoder() if self._quick else None

    def _open(self, name: str) -> None:
        check = not registry.is_verified(name, self._choice, self._index)
        try:
            self._quick = registry.open_query_model(name, self._choice, self._index, check=check)
        except QueryModelError as error:
            self._open_package(Reason("quick", str(error)))
        else:
            if self._quick is None:
                self._open_package(None, check=check)
        self._is_open = True

    def _open_package(self, reason: Reason | None, *, check: bool = False) -> None:
        opened = registry.open_encoder(self._choice, check=check, remembered=self._index)
        self._encoder = opened.encoder
        self._reason = reason if opened.encoder else opened.reason or reason

    def _embed(self, text: str) -> Vector:
        if not self._is_open and self._name:
            self._open(self._name)
        if self._quick:
            try:
                blob, tokens = self._quick.embed(text)
                return _vector(blob, self._quick.fingerprint, None, tokens, text)
            except QueryModelError as error:
                reason = Reason("quick", str(error))
            self._quick = None  # the error is gone too, so the model is freed before the next opens
            self._open_package(reason)
        if self._encoder is None:
            return Vector(None, "", self._reason)
        from memcli.embedding.wordpiece import SPECIAL_TOKENS

        try:
            blob = self._encoder.encode_query(text)
        except RetrieverError as error:
            return Vector(None, "", error.reason)
        tokens = self._encoder.count(text) - SPECIAL_TOKENS
        return _vector(blob, self._encoder.fingerprint, self._reason, tokens, text)


def _vector(blob: bytes, fingerprint: str, reason: Reason | None, tokens: int, text: str) -> Vector:
    from memcli.language.tokens import fertility

    latin_only = known(fingerprint).latin_only  # an English vocabulary; others are not estimated
    return Vector(blob, fingerprint, reason, fertility(tokens, text) if latin_only else 1.0)


def _name_for(choice: Choice, remembered: IndexModel) -> str | None:
    """Return the name of the encoder of the index; without vectors, the configured name.

    Only opening it shows whether it is installed.
    """
    if remembered.fingerprint is None:
        return choice.names[0]
    fingerprints = {
        name: registry.fingerprint_of(name, choice, remembered) for name in choice.names
    }
    fitting = [name for name, own in fingerprints.items() if own == remembered.fingerprint]
    missing = [name for name, own in fingerprints.items() if own is None]
    return next(iter((*fitting, *missing)), None)
