"""Vectors with the property that models are trained for by a Matryoshka loss; made up.

Such a model lets the first components alone rank texts nearly as all of them do. Here 64 numbers
say what a text is about, and every 64 components tell all of them anew, turned another way and each
with an error of its own. So the first 64 rank by one noisy telling, 256 by four: among 20,000 texts
of 384 components they share 6.4 and 8.6 of the first ten with all components, and of their first
200 none is lost (.996). Texts lie in topics. A question lies near one of them: half of the
questions as near as a repeated line, the other half as a paraphrase.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from memcli.store.run_records import Stamp
from memcli.store.sqlite.writer import Writer
from memcli.types import Chunk, Document, FileStat, Segment

LATENT = 64
ERROR = 0.4  # of a component, as a share of its spread
TOPICS = 500


def nested(count: int, dimension: int, seed: int = 7) -> Any:
    """Make the vectors of texts, unit vectors of a multiple of 64 components."""
    return _told(_about(count, seed), dimension, seed)


def questions(texts: int, count: int, dimension: int, seed: int = 7) -> Any:
    """Make the vectors of questions about some of as many texts, made of the same seed."""
    random = np.random.default_rng(seed + 1)
    about = _about(texts, seed)[random.integers(0, texts, count)]
    away = random.normal(size=about.shape) * np.where(np.arange(count) % 2, 0.8, 0.2)[:, None]
    return _told(about + away, dimension, seed + 1)


def _about(count: int, seed: int) -> Any:
    random = np.random.default_rng(seed)
    topics = np.random.default_rng(1).normal(size=(TOPICS, LATENT))
    return topics[random.integers(0, TOPICS, count)] + random.normal(size=(count, LATENT))


def _told(about: Any, dimension: int, seed: int) -> Any:
    turning, random = np.random.default_rng(2), np.random.default_rng(seed + 2)
    spread = about.std()
    blocks = []
    for _ in range(dimension // LATENT):
        turn, _ = np.linalg.qr(turning.normal(size=(LATENT, LATENT)))
        blocks.append(about @ turn + random.normal(size=about.shape) * ERROR * spread)
    told = np.concatenate(blocks, axis=1)
    return np.asarray(told / np.linalg.norm(told, axis=1, keepdims=True), dtype="<f4")


def put_segments(writer: Writer, name: str, hashes: Sequence[bytes]) -> None:
    """Store a document of one chunk, whose segments have these hashes."""
    chunk = Chunk(
        0, "a", (), 1, 1, 0, 1, 1, name, None, (),
        tuple(Segment(1, 1, 0, 1, "", hash_) for hash_ in hashes),
    )  # fmt: skip
    document = Document(
        "memory", f"{name}.md", name, None, "note", "global", "operator", "trusted", None, None,
        False, False, "{}", (chunk,),
    )  # fmt: skip
    writer.put(document, Stamp(FileStat("memory", document.path, 1, 1, 1, 1), b"h" * 32, 1))
