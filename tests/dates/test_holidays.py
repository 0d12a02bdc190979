"""Easter and the feasts that are counted from it."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memcli.dates.find import find_dates
from memcli.dates.holidays import easter


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
@example(1734)  # a sum of the rule is just below its bound, and in the other just at it
@example(3165)
def test_easter_is_the_sunday_after_the_full_moon_of_spring(year: int) -> None:
    """The moon is the one of the church, reckoned as Calendrical Calculations does."""
    century = year // 100 + 1
    epact = (14 + 11 * (year % 19) - 3 * century // 4 + (5 + 8 * century) // 25) % 30
    epact += epact == 0 or (epact == 1 and year % 19 > 10)
    moon = date(year, 4, 19) - timedelta(epact)
    assert easter(year) == moon + timedelta(7 - (moon.weekday() + 1) % 7)


def test_the_next_feast_is_none_that_has_begun() -> None:
    for today, first in ((date(2026, 4, 4), "2026-04-05"), (date(2026, 4, 5), "2027-03-28")):
        (span,) = find_dates("next Easter", today)
        assert span.start == first


@pytest.mark.parametrize(
    ("names", "first", "last"),
    [
        ("Christmas|Xmas|Weihnachten", "2025-12-24", "2025-12-26"),
        ("Christmas Eve|Heiligabend", "2025-12-24", "2025-12-24"),
        ("Christmas Day", "2025-12-25", "2025-12-25"),
        ("Boxing Day", "2025-12-26", "2025-12-26"),
        ("New Year Eve|Silvester", "2025-12-31", "2025-12-31"),
        ("New Year|New Year Day|Neujahr", "2026-01-01", "2026-01-01"),
        ("Good Friday|Karfreitag", "2025-04-18", "2025-04-18"),
        ("Easter|Ostern", "2025-04-20", "2025-04-21"),
        ("Easter Sunday|Ostersonntag", "2025-04-20", "2025-04-20"),
        ("Easter Monday|Ostermontag", "2025-04-21", "2025-04-21"),
        ("Ascension|Himmelfahrt|Christi Himmelfahrt", "2025-05-29", "2025-05-29"),
        ("Pentecost|Whitsun|Pfingsten", "2025-06-08", "2025-06-09"),
    ],
)
def test_a_feast_is_on_its_days(names: str, first: str, last: str) -> None:
    for name in names.split("|"):
        (span,) = find_dates(f"last {name}", date(2026, 2, 11))
        assert (span.text, span.start, span.end) == (f"last {name}", first, last)
