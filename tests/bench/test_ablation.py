"""Variants held against the settings as they are, with seeded intervals."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.bench.metrics import NAMES, paired
from memcli.bench.quality import ABLATIONS, row
from memcli.bench.quality_text import ablation_table
from memcli.search.options import PROFILES
from memcli.search.stages import SWITCHES


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=30))
def test_the_interval_is_the_same_each_time_and_turns_with_its_sides(
    pairs: list[tuple[float, float]],
) -> None:
    before, after = [a for a, _ in pairs], [b for _, b in pairs]
    found = paired(before, after)
    assert found == paired(before, after)
    assert min(b - a for a, b in pairs) - 1e-9 <= found.low <= found.high
    assert found.high <= max(b - a for a, b in pairs) + 1e-9
    turned = paired(after, before)
    assert turned.mean == pytest.approx(-found.mean)


def test_a_row_has_the_means_and_the_change_of_each_question() -> None:
    before = [dict.fromkeys(NAMES, 1.0), dict.fromkeys(NAMES, 0.5)]
    after = [dict.fromkeys(NAMES, 0.75), dict.fromkeys(NAMES, 0.25)]
    found = row("without x", after, before)
    assert (found["nDCG@10"], found["change"]) == (0.5, -0.25)
    assert ablation_table([found]).splitlines()[1] == (
        "without x  " + "  ".join(["  0.500"] * 7) + "  -0.250 [-0.250, -0.250]"
    )


def test_every_stage_of_the_default_is_switched_off_once() -> None:
    switched = [name for name in SWITCHES if name in PROFILES["default"].stages]
    assert [v.without for v in ABLATIONS if v.without] == [frozenset((s,)) for s in switched]
    assert [v.name for v in ABLATIONS if v.without] == [f"without {s}" for s in switched]
    assert len({variant.name for variant in ABLATIONS}) == len(ABLATIONS)
