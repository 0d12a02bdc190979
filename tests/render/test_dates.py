"""What people are told of the dates that were read, seen from Wednesday, 11 February 2026."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.dates.find import find_dates
from memcli.render.dates import chart, line
from memcli.render.jsonio import dates_of

TODAY = date(2026, 2, 11)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("last week", 'Read "last week" as 2026-02-02 to 2026-02-08.'),
        ("yesterday", 'Read "yesterday" as 2026-02-10.'),
        ("before August 2023", 'Read "before August 2023" as up to 2023-07-31.'),
        ("since September", 'Read "since September" as 2025-09-01 and later.'),
        ("7/12/2023", 'Read "7/12/2023" as 2023-07-12 (month first; search.date_order).'),
        ("13/12/2023", 'Read "13/12/2023" as 2023-12-13.'),
        (
            "the latest since June",
            'Read "latest" as a wish for the newest, "since June" as 2025-06-01 and later.',
        ),
        ("前天 and 前天", 'Read "前天" as 2026-02-09.'),
        ("not in June", 'Read "not in June" as any day but 2025-06-01 to 2025-06-30.'),
        ("not before June", 'Read "not before June" as 2025-06-01 and later.'),
        ("2026-02-10 or 2026-02", ""),
        ("nothing of the kind", ""),
    ],
)
def test_one_line_says_how_dates_were_read(text: str, told: str) -> None:
    assert line(find_dates(text, TODAY)) == told


def test_a_program_is_told_the_same() -> None:
    found = find_dates("the first session since 7/12/2023, not in May", TODAY, day_first=True)
    assert dates_of(found) == [
        {"text": "first", "start": None, "end": None, "order": "oldest"},
        {"text": "since 7/12/2023", "start": "2023-12-07", "end": None, "read": "day first"},
        {"text": "not in May", "start": "2025-05-01", "end": "2025-05-31", "excluded": True},
    ]


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
