"""The cross-encoder of a local folder, with a model of four nodes made here."""

from __future__ import annotations

from pathlib import Path
from threading import Event

import pytest

from memcli.embedding.encoders import Choice, IndexModel
from memcli.embedding.rerankers import CrossEncoder, Reranking, SharedReranker
from memcli.errors import RetrieverError
from tests.embedding.cross_model import make_cross_encoder

TEXTS = ["The car pool.", "A pump, a pump!", "Nothing."]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_cross_encoder(tmp_path / "cross")


def kept(folder: str, *, seconds: float = 60.0, max_tokens: int = 512) -> SharedReranker:
    wanted = Reranking("onnx", seconds, folder, max_tokens)
    return SharedReranker(wanted, Choice(), IndexModel(None, None))


def test_a_pair_gives_one_score(folder: Path) -> None:
    """The query has a type of its own, and counts for nothing in this model."""
    assert kept(str(folder)).scores("pump", TEXTS) == [-1.0, 10.0, 0.0]


def test_of_two_numbers_the_difference_counts(tmp_path: Path) -> None:
    folder = make_cross_encoder(tmp_path, numbers=2)
    assert kept(str(folder)).scores("pump", TEXTS) == [-1.0, 10.0, 0.0]


def test_a_model_need_not_tell_query_and_text_apart(tmp_path: Path) -> None:
    folder = make_cross_encoder(tmp_path, has_types=False)
    assert kept(str(folder)).scores("pump", TEXTS) == [4.0, 15.0, 5.0]


def test_a_longer_pair_is_cut(folder: Path) -> None:
    text = "word " * 40 + "pump"
    assert kept(str(folder)).scores("pool", [text]) == [5.0]
    assert kept(str(folder), max_tokens=16).scores("pool", [text]) == [0.0]


def test_what_cannot_be_a_cross_encoder_is_named(folder: Path, tmp_path: Path) -> None:
    three = make_cross_encoder(tmp_path / "three", numbers=3)
    for place, reason in (
        ("", "rerank.folder is not set in your own configuration"),
        ("models", "rerank.folder must be a whole path, not models"),
        (str(tmp_path), f"{tmp_path} has no model.onnx"),
        (str(three), "the model gives 3 numbers per pair"),
    ):
        with pytest.raises(RetrieverError, match=reason):
            kept(place).scores("pump", TEXTS)
    (folder / "model.onnx").write_bytes(b"no model")
    with pytest.raises(RetrieverError, match="cannot be opened"):
        kept(str(folder)).scores("pump", TEXTS)


def test_a_model_that_is_opened_stays_open_until_it_is_closed(folder: Path) -> None:
    reranker = kept(str(folder))
    first = reranker.scores("pump", TEXTS)
    (folder / "model.onnx").unlink()
    assert reranker.scores("pump", TEXTS) == first
    reranker.close()
    with pytest.raises(RetrieverError, match=r"has no model\.onnx"):
        reranker.scores("pump", TEXTS)


def test_nobody_waits_for_the_pairs_that_are_left(folder: Path) -> None:
    is_over = Event()
    is_over.set()
    assert CrossEncoder(str(folder), max_tokens=16).scores("pump", TEXTS, is_over) == []
