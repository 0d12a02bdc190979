"""What is embedded of texts that an encoder cannot take whole."""

from __future__ import annotations

import pytest

from memcli.compaction.similarity import embedder
from tests.hashing import HashingEncoder


@pytest.mark.parametrize("words", [4, 5, 9, 400])
def test_a_text_is_cut_at_its_end_until_it_can_be_taken(words: int) -> None:
    encoder = HashingEncoder(max_tokens=4)
    text = "pool " * words
    (found,) = embedder(encoder)([text]) or []
    assert found in encoder.encode([text[:end] for end in range(1, 20)])
    (heron,) = encoder.encode(["heron"])
    assert embedder(encoder)(["heron", text, "heron"]) == [heron, found, heron]
