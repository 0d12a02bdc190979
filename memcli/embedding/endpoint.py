"""An encoder on any server that speaks the OpenAI embeddings protocol.

memcli follows no redirect to another host and never shows a key. Every failure is a RetrieverError
that names the setting to change. The caller keeps the vectors that were made before it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from memcli.embedding.encoders import WHOLE, OpenedEncoder, Opener, Opening
from memcli.embedding.long_texts import LongTextEncoder, halves, mean, unit
from memcli.embedding.server import Reply, Server, Wire, message
from memcli.embedding.wordpiece import WordPiece
from memcli.errors import RetrieverError
from memcli.threads import within

if TYPE_CHECKING:
    from memcli.embedding.encoders import Choice, Endpoint, IndexModel

Sleep = Callable[[float], None]

ATTEMPTS = 5  # at a server that is busy or broken
LONGEST_WAIT = 60.0  # seconds; if a server asks for more, memcli does not wait
IN_PASSING = 10.0  # seconds that a search waits for an answer
REQUESTS = 4  # at the same time, unless it is set: servers of one machine queue a few more
TEXTS_A_REQUEST = 32
_BYTES_A_NUMBER = 32  # of JSON: a full float64 with comma and spaces
_SLACK = 1 << 20
# How servers reject a request that is too large, with status 400 or 422.
_TOO_LARGE = ("too large", "too long", "too many", "maximum", "context length", "exceed")


class _TooLargeError(Exception):
    """The request is larger than the server accepts."""


def endpoint_fingerprint(endpoint: Endpoint) -> str:
    """Name what the vectors depend on, as far as a server reveals it."""
    model = endpoint.model.replace(";", ",")
    return (
        f"openai:{model};url={endpoint.url.rstrip('/')};dim={endpoint.dimension}"
        f"{WHOLE};pool=,l2"
        f";prefix={endpoint.query_prefix!r},{endpoint.passage_prefix!r};max={endpoint.max_tokens}"
    )


class EndpointEncoder:
    """Embeds texts by HTTP requests; satisfies `Encoder`. Threads may share it."""

    def __init__(self, endpoint: Endpoint, *, sleep: Sleep | None = None) -> None:
        """Check the settings; no request is made.

        Without `sleep`, a busy server fails at once, and a slow one after IN_PASSING.
        """
        if sleep is None:
            seconds = min(endpoint.timeout_seconds, IN_PASSING)
            endpoint = endpoint._replace(timeout_seconds=seconds)
        self._endpoint = endpoint
        self.fingerprint = endpoint_fingerprint(endpoint)
        self.dimension, self.max_tokens = endpoint.dimension, endpoint.max_tokens
        self._server = Server(
            table="openai",
            verb="embeddings",
            topic="settings",
            again="memcli index",
            url=endpoint.url,
            model=endpoint.model,
            key=endpoint.key,
            key_variable=endpoint.key_variable,
        )
        if endpoint.url and not endpoint.model:
            text = "openai.model is not set in your own configuration"
            raise RetrieverError(text, hint="memcli help settings")
        self._where = self._server.address()
        self._key = self._server.read_key()
        self._sleep = sleep
        self._most = 1 << 30  # texts per request, once the server has named a limit
        self._idle: list[Wire] = []  # one for each thread that asks at the same time
        self._words = WordPiece()
        self._has_stopped = False
        self._answering = ""  # the name that the server gives its model

    def count(self, text: str) -> int:
        """Count tokens with the shipped vocabulary: the server's own is not known."""
        return self._words.count(self._endpoint.passage_prefix + text)

    def encode(self, texts: Sequence[str]) -> list[bytes]:
        """Embed texts, in as many requests as the server wants."""
        return self._in_time(self._endpoint.passage_prefix, texts)

    def encode_query(self, text: str) -> bytes:
        """Embed a query."""
        return self._in_time(self._endpoint.query_prefix, [text])[0]

    def check(self) -> None:
        """Make one small request, so that an error shows before anything is written."""
        self.encode(["memory"])

    def _in_time(self, prefix: str, texts: Sequence[str]) -> list[bytes]:
        """Embed texts. Without `sleep`, one deadline covers all the requests that this takes."""
        if self._sleep is not None:
            return self._embed(prefix, texts)
        try:
            return within(self._endpoint.timeout_seconds, partial(self._embed, prefix, list(texts)))
        except TimeoutError:
            self._has_stopped = True  # makes the thread stop asking
            raise self._too_late() from None

    def _too_late(self) -> RetrieverError:
        seconds = self._endpoint.timeout_seconds
        return RetrieverError(
            f"{self._where.netloc} cannot be reached: no answer within {seconds:g} s",
            hint="memcli index, later",
        )

    def _embed(self, prefix: str, texts: Sequence[str]) -> list[bytes]:
        vectors: list[bytes] = []
        while len(vectors) < len(texts):
            batch = texts[len(vectors) : len(vectors) + self._most]
            try:
                vectors += self._request([prefix + text for text in batch])
            except _TooLargeError as error:
                if len(batch) > 1:
                    self._most = min(self._most, len(batch) // 2)
                elif len(batch[0]) > 1:
                    parts = halves(batch[0])
                    vectors.append(mean(self._embed(prefix, parts), parts))
                else:
                    raise RetrieverError(
                        f"{self._where.netloc} rejects a single letter as too large: {error}",
                        hint="memcli status --deep",
                    ) from error
        return vectors

    def _request(self, texts: Sequence[str]) -> list[bytes]:
        fields = {
            "model": self._endpoint.model,
            "input": [text.encode("utf-8", "replace").decode() for text in texts],
        }
        body = json.dumps(fields).encode()
        most = _SLACK + len(texts) * max(self._endpoint.dimension, 8192) * _BYTES_A_NUMBER
        for attempt in range(ATTEMPTS):
            if self._has_stopped:
                raise self._too_late()
            reply = self._post(body, most)
            if reply.status == 200:
                return self._read(reply.body, len(texts))
            reason = message(reply.body, self._key)
            if reply.status == 413 or (
                reply.status in (400, 422) and any(words in reason.lower() for words in _TOO_LARGE)
            ):
                raise _TooLargeError(reason or reply.status)
            if reply.status != 429 and reply.status < 500:
                raise self._server.refused(reply, reason)
            self._wait(reply, attempt, reason)
        raise AssertionError("the last attempt must not wait")

    def _post(self, body: bytes, most: int) -> Reply:
        """Send on a connection that no other thread is using."""
        try:
            wire = self._idle.pop()
        except IndexError:
            wire = Wire(self._server, self._key, self._endpoint.timeout_seconds)
        try:
            return wire.post(body, most)
        finally:
            self._idle.append(wire)

    def _wait(self, reply: Reply, attempt: int, message: str) -> None:
        """Wait as long as the server asks for; raise if that is too long or was tried too often."""
        try:
            seconds = float(reply.retry_after)
        except ValueError:
            seconds = 2.0**attempt
        text = f"{self._where.netloc} answers with status {reply.status}" + (
            message and f": {message}"
        )
        if self._sleep is None or attempt == ATTEMPTS - 1:
            raise RetrieverError(text, hint="memcli index, later")
        if not 0 <= seconds <= LONGEST_WAIT:
            raise RetrieverError(
                f"{text}; it asks to wait {seconds:g} s", hint="memcli index, later"
            )
        self._sleep(seconds)

    def _read(self, body: bytes, expected: int) -> list[bytes]:
        try:
            answer = json.loads(body)
            ordered = sorted(answer["data"], key=lambda row: row["index"])
            indices = [row["index"] for row in ordered]
            rows = [row["embedding"] for row in ordered]
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise self._server.broken("is not a list of embeddings") from error
        if indices != list(range(expected)):
            raise self._server.broken(
                f"contains {len(rows)} embeddings, not the {expected} asked for"
            )
        self._same_model(answer.get("model"))
        return [self._vector(row) for row in rows]

    def _same_model(self, model: Any) -> None:  # noqa: ANN401
        """Reject vectors of a second model; many servers use another name for the first."""
        if not isinstance(model, str):
            return
        self._answering = self._answering or model
        if model != self._answering:
            raise RetrieverError(
                f"{self._where.netloc} answers by another model than before",
                hint="name the one you want in openai.model; memcli index embeds all again",
            )

    def _vector(self, row: Any) -> bytes:  # noqa: ANN401
        if not isinstance(row, list) or any(type(value) not in (int, float) for value in row):
            raise self._server.broken("contains an embedding that is not a list of numbers")
        dimension = self._endpoint.dimension
        if len(row) != dimension:
            reason = f"not the {dimension} of openai.dimension"
            if not dimension:
                reason = "and openai.dimension is not set"
            raise RetrieverError(
                f"{self._endpoint.model} gives vectors of {len(row)} components, {reason}",
                hint=f"set openai.dimension = {len(row)}",
            )
        packed = unit(row)
        if packed is None:
            raise self._server.broken("contains an embedding without a direction")
        return packed


def _fingerprint(choice: Choice, _remembered: IndexModel) -> str | None:
    is_complete = choice.endpoint.url and choice.endpoint.model and choice.endpoint.dimension
    return endpoint_fingerprint(choice.endpoint) if is_complete else None


def _open(choice: Choice, opening: Opening) -> OpenedEncoder:
    encoder = EndpointEncoder(choice.endpoint, sleep=opening.sleep)
    if opening.check and opening.fingerprint is None:  # otherwise it has answered before
        encoder.check()
    at_once = choice.threads or REQUESTS
    return OpenedEncoder(LongTextEncoder(encoder), at_once=at_once, texts=TEXTS_A_REQUEST)


OPENER = Opener(_fingerprint, _open, query_seconds=IN_PASSING)
