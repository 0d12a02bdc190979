"""Easter and the feasts that are counted from it."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.search.feasts import easter


@pytest.mark.parametrize(
    "day",
    # The earliest there can be, the latest, and some between.
    [
        "1818-03-22", "1943-04-25", "1954-04-18", "1981-04-19", "2000-04-23", "2008-03-23",
        "2011-04-24", "2024-03-31", "2025-04-20", "2026-04-05", "2027-03-28", "2038-04-25",
    ],
)  # fmt: skip
def test_easter_is_where_calendars_have_it(day: str) -> None:
    assert easter(int(day[:4])) == date.fromisoformat(day)


@given(st.integers(1583, 9999))
def test_easter_is_the_sunday_after_the_full_moon_of_spring(year: int) -> None:
    """The moon is the one of the church, reckoned as Calendrical Calculations does."""
    century = year // 100 + 1
    epact = (14 + 11 * (year % 19) - 3 * century // 4 + (5 + 8 * century) // 25) % 30
    epact += epact == 0 or (epact == 1 and year % 19 > 10)
    moon = date(year, 4, 19) - timedelta(epact)
    assert easter(year) == moon + timedelta(7 - (moon.weekday() + 1) % 7)
