"""Which parts of soft rules come up with a question: those that it asks for."""

from __future__ import annotations

import pytest

from memcli.context.retrieve import _is_requested
from tests.search.makers import candidate, fused


@pytest.mark.parametrize(
    ("literal", "confidence", "asked"),
    [
        (True, None, True), (True, 0.1, True), (False, 0.4, True), (False, 0.9, True),
        (False, 0.39, False), (False, None, False),
    ],
)  # fmt: skip
def test_a_rule_is_asked_for_by_its_words_or_by_a_sure_match(
    *, literal: bool, confidence: float | None, asked: bool
) -> None:
    (passage,) = fused(candidate(1, literal=literal))
    assert _is_requested(passage._replace(confidence=confidence)) == asked
