"""How much each retriever counts: by the settings, the query's words and the model."""

from __future__ import annotations

from pathlib import Path

import pytest

from memcli.config.settings import load
from memcli.embedding.encoders import Vector
from memcli.embedding.models import LENGTH
from memcli.embedding.multilingual import e5_fingerprint
from memcli.search.options import SearchOptions, options_of
from memcli.search.retrievers import FERTILITY_LIMIT, length_prior, retriever_weights
from memcli.types import Filters


@pytest.fixture
def options(tmp_path: Path) -> SearchOptions:
    return options_of(load(str(tmp_path), {}, {}), filters=Filters())


def vector(fingerprint: str, fertility: float = 1.0) -> Vector:
    return Vector(b"", fingerprint, None, fertility)


@pytest.mark.parametrize(
    ("fingerprint", "fertility", "expected"),
    [
        ("all-MiniLM-L6-v2-int8;x", 1.0, 0.6),
        ("all-MiniLM-L6-v2-int8;x", 2 * FERTILITY_LIMIT, 0.3),
        (e5_fingerprint(), 1.0, 0.3),
        ("bge-m3;x", 1.0, 0.6),
    ],
)
def test_what_a_model_is_believed(
    options: SearchOptions, fingerprint: str, fertility: float, expected: float
) -> None:
    weights = retriever_weights(options, vector(fingerprint, fertility), keyword=True)
    assert weights == pytest.approx((expected, 1 - expected))


def test_a_leg_alone_counts_whole(options: SearchOptions) -> None:
    assert retriever_weights(options, vector(e5_fingerprint()), keyword=False) == (1.0, 0.0)
    assert retriever_weights(options, None, keyword=True) == (0.0, 1.0)


def test_the_length_of_segments_counts_for_the_bundled_model_only(options: SearchOptions) -> None:
    bundled, unknown = vector("all-MiniLM-L6-v2-int8;x"), vector("bge-m3;x")
    assert length_prior(options, bundled, {1}).weight == LENGTH
    assert length_prior(options, unknown, {1}).weight == 0.0
