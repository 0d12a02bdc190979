"""Tokens of a query against those of a text, by the bundled model."""

from __future__ import annotations

from pathlib import Path
from threading import Event

import numpy as np
import onnx
import onnxruntime  # type: ignore[import-untyped]
import pytest

from memcli.embedding import models, session
from memcli.embedding.models import INT8, ModelFile, locate
from memcli.embedding.onnx_c_api import QuickSession
from memcli.embedding.token_similarity import StateCache, TokenReranker
from memcli.embedding.wordpiece import WordPiece
from memcli.errors import RetrieverError

QUERY = "When did the pool run dry?"
TEXTS = [
    "The pool ran dry in June, when the pump failed.",
    "Her cat sleeps all day.",
    "When did the pool run dry?",
    "naïve Überraschung 東京",
    "word " * 300,
]


@pytest.fixture(scope="module")
def located() -> ModelFile:
    return locate(models=(INT8,))[0]


@pytest.fixture(scope="module")
def likenesses(located: ModelFile) -> list[float]:
    return TokenReranker(located).scores(QUERY, TEXTS, Event())


def last_layer(located: ModelFile, texts: list[str]) -> list[np.ndarray]:
    """Give the states of the last layer, the input of the pooling, by the runtime's package."""
    proto = onnx.load_from_string(models.read_graph(located.model))
    made = {node.output[0]: node for node in proto.graph.node}
    pooled = next(node for node in proto.graph.node if node.op_type == "ReduceSum")
    name = made[pooled.input[0]].input[0]
    proto.graph.output.append(onnx.ValueInfoProto(name=name))
    wanted, options = session.settings(located), onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel(wanted.level)
    for key, value in wanted.entries:
        options.add_session_config_entry(key, value)
    model = onnxruntime.InferenceSession(
        proto.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    words = WordPiece()
    rows = [np.array([words.ids(text, INT8.max_tokens)]) for text in texts]
    return [model.run([name], {"ids": row, "mask": np.ones_like(row)})[0][0] for row in rows]


def test_the_likeness_is_the_mean_of_the_best_cosines(
    located: ModelFile, likenesses: list[float]
) -> None:
    states = [rows[1:-1] for rows in last_layer(located, [QUERY, *TEXTS])]
    asked, *told = [rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in states]
    expected = [float((asked @ rows.T).max(axis=1).mean()) for rows in told]
    assert likenesses == pytest.approx(expected, abs=1e-5)
    assert likenesses[2] == pytest.approx(1.0, abs=1e-5)
    assert likenesses[0] > likenesses[1]


@pytest.mark.parametrize("threads", [1, 2])
def test_threads_change_nothing(
    located: ModelFile, likenesses: list[float], monkeypatch: pytest.MonkeyPatch, threads: int
) -> None:
    monkeypatch.setattr("memcli.embedding.token_similarity.usable_cores", lambda: threads)
    model = TokenReranker(located)
    assert model.scores(QUERY, TEXTS, Event()) == likenesses
    assert model.scores(QUERY, TEXTS[::-1], Event()) == likenesses[::-1]


def test_states_are_kept_until_others_need_the_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memcli.embedding.token_similarity.KEPT_BYTES", 10)
    kept = StateCache()
    kept.put((1,), b"aaaa")
    kept.put((2,), b"bbbb")
    assert kept.get((1,)) == b"aaaa"  # read again, so the other one goes first
    kept.put((3,), b"cccc")
    assert [kept.get((n,)) for n in (1, 2, 3)] == [b"aaaa", None, b"cccc"]
    kept.put((3,), b"cc")
    kept.put((4,), b"dddd")
    assert [kept.get((n,)) for n in (1, 3, 4)] == [b"aaaa", b"cc", b"dddd"]
    kept.put((5,), b"e" * 11)
    assert [kept.get((n,)) for n in (1, 3, 4, 5)] == [None] * 4


def test_a_question_whose_many_short_passages_were_read_runs_only_its_own_words(
    located: ModelFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memcli.embedding.token_similarity.usable_cores", lambda: 1)
    model, runs = TokenReranker(located), []

    def run(_self: QuickSession, _inputs: object, _output: bytes, floats: int) -> bytes:
        runs.append(floats)
        return b"\0" * 4 * floats

    monkeypatch.setattr(QuickSession, "run", run)
    texts = [str(number) for number in range(10)] * 26
    texts = [f"{'a ' * (at // 10)}{text}" for at, text in enumerate(texts)]
    for _ in range(2):
        model.scores(QUERY, texts, Event())
    assert len(runs) == len(texts) + 2


def test_what_is_kept_changes_no_likeness(located: ModelFile, likenesses: list[float]) -> None:
    model = TokenReranker(located)
    assert [model.scores(QUERY, [text], Event())[0] for text in TEXTS] == likenesses
    assert model.scores(QUERY, TEXTS, Event()) == likenesses
    assert model.scores(TEXTS[0], [QUERY], Event()) == pytest.approx(
        TokenReranker(located).scores(TEXTS[0], [QUERY], Event())
    )


def test_without_words_there_is_nothing_to_compare(located: ModelFile) -> None:
    model = TokenReranker(located)
    assert model.scores(QUERY, [""], Event()) == [0.0]
    with pytest.raises(RetrieverError, match="no word in the query"):
        model.scores(" ", TEXTS, Event())


def test_nobody_waits_for_the_texts_that_are_left(located: ModelFile) -> None:
    is_over = Event()
    is_over.set()
    assert TokenReranker(located).scores(QUERY, TEXTS, is_over) == [0.0] * len(TEXTS)


def test_a_missing_model_is_one_error(located: ModelFile, tmp_path: Path) -> None:
    with pytest.raises(RetrieverError):
        TokenReranker(located._replace(path=str(tmp_path / "model.onnx")))
