"""What every reranker owes: to be waited for no longer than is set, and to be let go of."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Event

import pytest

from memcli.config.keys import BY_NAME
from memcli.embedding.encoders import Choice, IndexModel
from memcli.embedding.rerankers import RERANKERS, Reranking, SharedReranker
from memcli.errors import RetrieverError

NO_INDEX = IndexModel(None, None)


class Endless:
    """Scores nothing before nobody waits any more."""

    def __init__(self) -> None:
        self.has_ended = Event()

    def scores(self, query: str, texts: Sequence[str], is_over: Event) -> list[float]:
        is_over.wait()
        self.has_ended.set()
        return []


class Stuck:
    """Scores nothing before it is released, whoever waits."""

    def __init__(self) -> None:
        self.released = Event()

    def scores(self, query: str, texts: Sequence[str], is_over: Event) -> list[float]:
        self.released.wait()
        return []


def test_the_settings_name_every_reranker() -> None:
    assert BY_NAME["search.rerank"].choices == ("none", *RERANKERS)


def test_what_takes_too_long_is_told_that_nobody_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    endless = Endless()
    monkeypatch.setitem(RERANKERS, "onnx", lambda *_: endless)
    reranker = SharedReranker(Reranking("onnx", 0.05), Choice(), NO_INDEX)
    with pytest.raises(RetrieverError, match=r"no answer within 0\.05 s \(rerank\.seconds\)"):
        reranker.scores("why", ["because"])
    assert endless.has_ended.wait(30)


def test_closing_waits_for_nothing_that_nobody_waits_for(monkeypatch: pytest.MonkeyPatch) -> None:
    stuck = Stuck()
    monkeypatch.setitem(RERANKERS, "onnx", lambda *_: stuck)
    reranker = SharedReranker(Reranking("onnx", 0.05), Choice(), NO_INDEX)
    with pytest.raises(RetrieverError):
        reranker.scores("why", ["because"])
    reranker.close()
    stuck.released.set()


def test_tokens_need_vectors_of_the_bundled_model() -> None:
    with pytest.raises(RetrieverError, match="no vectors of the bundled model"):
        SharedReranker(Reranking("tokens", 60.0), Choice(), NO_INDEX).scores("why", ["because"])
