from __future__ import annotations

from datetime import date, timedelta

from hypothesis import given
from hypothesis import strategies as st

from memcli.render.dates import chart


def test_columns_are_equal_spans_from_the_first_day_to_the_last() -> None:
    counts = {"2025-01-01": 1, "2025-01-02": 1, "2025-01-07": 4, "2025-01-08": 4}
    assert chart(counts, 4) == "▂  █"
    assert chart(counts, 80) == "▂▂    ██"
    assert chart({"2025-01-01": 3}, 80) == "█"


@given(st.dictionaries(st.integers(0, 4000), st.integers(1, 9), min_size=1), st.integers(1, 100))
def test_no_day_is_lost_and_no_column_is_made_up(counts: dict[int, int], columns: int) -> None:
    start = date(2020, 1, 1)
    days = {(start + timedelta(day)).isoformat(): n for day, n in counts.items()}
    shown = chart(days, columns)
    span = max(counts) - min(counts) + 1
    assert len(shown) == min(columns, span)
    if columns >= span:
        assert len(shown) - shown.count(" ") == len(counts)
    assert "█" in shown
    assert shown[0] != " "
    assert shown[-1] != " "
