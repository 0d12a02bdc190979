"""Embed queries in the quickest way available, falling back to the ordinary one.

The quick way relies on a model file that was verified when the index was made. If the file has
changed since, it is verified again before its vectors are used.
"""

from __future__ import annotations

from _thread import allocate_lock as Lock
from collections.abc import Callable
from functools import partial

from memcli.checking import TYPE_CHECKING
from memcli.embedding import registry
from memcli.embedding.encoders import OTHER_MODEL, Choice, IndexModel, Quick, QuickError
from memcli.errors import Reason, RetrieverError
from memcli.record import Record

if TYPE_CHECKING:
    from memcli.types import Encoder

KEPT = 256  # vectors: half a megabyte


class QueryEmbedding(Record):
    """The vector of a query, or the reason why it has none."""

    vector: bytes | None
    fingerprint: str
    reason: Reason | None  # also with a vector: why the quick way failed
    way: str  # quick | package | "" without a vector
    tokens: int  # of the text, without the special ones


class QueryEncoder:
    """Embeds queries with the configured encoder that made the index.

    The encoder opens with the first query. It stays open, with the vectors of the last texts, until
    the index has another model. After a failure it opens again. Threads may share one: it embeds
    one text at a time, and returns a known vector without waiting.
    """

    def __init__(self, choice: Choice, *, capacity: int = KEPT) -> None:
        """Take the configured encoders and the number of vectors to keep; opens nothing."""
        self._choice, self._capacity = choice, capacity
        self._lock = Lock()
        self._index: IndexModel | None = None  # the index for which the encoder is open
        self._way: _Way | None = None
        self._made: dict[tuple[IndexModel, str], QueryEmbedding] = {}

    def encode_query(self, text: str, index: IndexModel) -> QueryEmbedding:
        """Embed a query for an index, or return why that is impossible."""
        key = index, text
        if known := self._made.get(key):
            return known
        with self._lock:
            self._turn_to(index)
            vector = self._made.get(key) or self._opened(index).embed(text)
            if vector.vector is None:
                self._free()
                return vector
            self._made[key] = vector
            if len(self._made) > self._capacity:
                del self._made[next(iter(self._made))]
            return vector

    def encoder(self, index: IndexModel) -> Encoder | None:
        """Return an encoder for a few new texts, with the model that is open for queries.

        None if that model has no quick way. It is valid until this is closed.
        """
        with self._lock:
            self._turn_to(index)
            return self._opened(index).encoder()

    def close(self) -> None:
        """Free the model; a later query opens it again. Not needed before the process ends."""
        with self._lock:
            self._free()
            self._made.clear()

    def _turn_to(self, index: IndexModel) -> None:
        """Forget what belongs to another index."""
        if index != self._index:
            self._free()
            self._made.clear()
            self._index = index

    def _opened(self, index: IndexModel) -> _Way:
        if self._way is None:
            self._way = _find(self._choice, index)
        return self._way

    def _free(self) -> None:
        way, self._way = self._way, None
        if way is not None:
            way.close()


class _Way:
    """A way to embed a query; this one only returns why there is none."""

    def __init__(self, reason: Reason | None) -> None:
        self._reason = reason

    def embed(self, text: str) -> QueryEmbedding:
        return QueryEmbedding(None, "", self._reason, "", 0)

    def encoder(self) -> Encoder | None:
        """Return an encoder that uses the model which is already open."""
        return None

    def close(self) -> None:
        """Free the model."""


class _ByPackage(_Way):
    """Asks the encoder that also makes the index, and returns why the quick way failed."""

    def __init__(self, encoder: Encoder, reason: Reason | None) -> None:
        super().__init__(reason)
        self._encoder = encoder

    def embed(self, text: str) -> QueryEmbedding:
        from memcli.embedding.wordpiece import SPECIAL_TOKENS

        try:
            vector = self._encoder.encode_query(text)
        except RetrieverError as error:
            return QueryEmbedding(None, "", error.reason, "", 0)
        tokens = self._encoder.count(text) - SPECIAL_TOKENS
        return QueryEmbedding(vector, self._encoder.fingerprint, self._reason, "package", tokens)


class _Quickly(_Way):
    """Asks the quick way, and after its first failure the encoder."""

    def __init__(self, quick: Quick, choice: Choice, index: IndexModel) -> None:
        super().__init__(None)
        self._quick, self._choice, self._index = quick, choice, index
        self._instead: _Way | None = None

    def embed(self, text: str) -> QueryEmbedding:
        if self._instead is None:
            try:
                vector, tokens = self._quick.embed(text)
            except QuickError as error:
                self._quick.close()
                self._instead = _open_package(
                    self._choice, self._index, reason=Reason("quick", str(error))
                )
            else:
                return QueryEmbedding(vector, self._quick.fingerprint, None, "quick", tokens)
        return self._instead.embed(text)

    def encoder(self) -> Encoder | None:
        return None if self._instead else self._quick.encoder()

    def close(self) -> None:
        self._quick.close()


class _InTime(_Way):
    """Asks a server, with one deadline for opening it and for all requests of a long query."""

    def __init__(self, seconds: float, find: Callable[[], _Way]) -> None:
        super().__init__(None)
        self._seconds, self._find = seconds, find
        self._way: _Way | None = None

    def embed(self, text: str) -> QueryEmbedding:
        from memcli.threads import within

        try:
            return within(self._seconds, partial(self._work, text))
        except TimeoutError as error:
            return QueryEmbedding(
                None, "", Reason("endpoint", f"the endpoint gives {error}"), "", 0
            )

    def _work(self, text: str) -> QueryEmbedding:
        if self._way is None:
            self._way = self._find()
        return self._way.embed(text)


def _find(choice: Choice, index: IndexModel) -> _Way:
    choice = registry.settled(choice, index, fingerprint=index.fingerprint)
    name = _name_for(choice, index)
    if name is None:  # do not open or send anything for nothing
        return _Way(OTHER_MODEL)
    find = partial(_open, name, choice, index)
    seconds = registry.query_seconds(name)
    return find() if seconds is None else _InTime(seconds, find)


def _open(name: str, choice: Choice, index: IndexModel) -> _Way:
    only = choice._replace(names=(name,))
    check = not registry.is_verified(name, choice, index)
    try:
        quick = registry.open_quick(name, choice, index, check=check)
    except QuickError as error:
        return _open_package(only, index, reason=Reason("quick", str(error)))
    return _Quickly(quick, only, index) if quick else _open_package(only, index, check=check)


def _open_package(
    choice: Choice, index: IndexModel, *, check: bool = False, reason: Reason | None = None
) -> _Way:
    opened = registry.open_encoder(choice, check=check, remembered=index)
    if opened.encoder is None:
        return _Way(opened.reason or reason)
    return _ByPackage(opened.encoder, reason)


def _name_for(choice: Choice, remembered: IndexModel) -> str | None:
    """Return the name of the encoder of the index; without vectors, the configured name.

    Only opening it shows whether it is installed.
    """
    if remembered.fingerprint is None:
        return choice.names[0]
    fingerprints = [
        (name, registry.fingerprint_of(name, choice, remembered)) for name in choice.names
    ]
    for name, fingerprint_here in fingerprints:
        if fingerprint_here == remembered.fingerprint:
            return name
    return next((name for name, fingerprint_here in fingerprints if fingerprint_here is None), None)
