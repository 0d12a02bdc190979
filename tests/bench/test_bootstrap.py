"""The interval of a paired difference against what the binomial distribution says of it."""

from __future__ import annotations

import pytest

from memcli.bench.metrics import paired


def test_the_interval_holds_the_middle_95_percent() -> None:
    """Half of 400 questions gain 1: the standard error of the mean is sqrt(.25 / 400) = .025."""
    found = paired([0.0] * 400, [1.0, 0.0] * 200)
    assert found.mean == 0.5
    assert found.low == pytest.approx(0.5 - 1.96 * 0.025, abs=0.005)
    assert found.high == pytest.approx(0.5 + 1.96 * 0.025, abs=0.005)


def test_the_same_gain_everywhere_is_sure() -> None:
    assert paired([0.25] * 9, [0.5] * 9) == (0.25, 0.25, 0.25)


def test_no_questions_make_no_difference_and_two_lists_must_pair() -> None:
    assert paired([], []) == (0.0, 0.0, 0.0)
    with pytest.raises(ValueError, match="argument 2 is longer"):
        paired([0.0], [0.0, 1.0])
