from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.workspace.dating import age_days, document_date, heading_date, path_date, value_date

DAYS = st.dates()
WORDS = st.text("abc-_ .", max_size=8)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("memory/2026-02-10.md", "2026-02-10"),
        ("memory/2026-02-10-standup.md", "2026-02-10"),
        ("memory/standup-2026-02-10.md", "2026-02-10"),
        ("memory/20260210.md", "2026-02-10"),
        ("memory/note_20260210_x.md", "2026-02-10"),
        ("memory/2026/02/10.md", "2026-02-10"),
        ("memory/2026/02/10/notes.md", "2026-02-10"),
        ("2026/02/10-standup.md", "2026-02-10"),
        ("2025-01-01/2026-02-10.md", "2026-02-10"),
        ("2025/01/01/2026-02-10.md", "2026-02-10"),
        ("2025-01-01/notes.md", "2025-01-01"),
        ("2025-01-01/2026-02-30.md", "2025-01-01"),
        ("2026-02-10-to-2026-02-12.md", "2026-02-12"),
        ("2026/02/10-2025-01-01.md", "2025-01-01"),
        ("2024-02-29.md", "2024-02-29"),
        ("2023-02-29.md", None),
        ("0000-01-01.md", None),
        ("12026-02-10.md", None),
        ("2026-02-101.md", None),
        ("202602101.md", None),
        ("1202602.md", None),
        ("2026_02_10.md", None),
        ("2026-2-1.md", None),
        ("2026-02.md", None),
        ("2026-02/10.md", None),
        ("٢٠٢٦-02-10.md", None),
        ("2024-13-2026-01-05.md", "2026-01-05"),
        ("MEMORY.md", None),
        ("", None),
    ],
)
def test_path(path: str, expected: str | None) -> None:
    assert path_date(path) == expected


@given(DAYS, WORDS, WORDS, st.sampled_from(["-", "/", ""]))
def test_every_day_in_a_slug(day: dt.date, before: str, after: str, joint: str) -> None:
    written = f"{day.year:04}{joint}{day.month:02}{joint}{day.day:02}"
    assert path_date(f"x/{before}{written}{after}.md") == day.isoformat()


@given(st.text("0123456789-/x", max_size=40))
def test_what_is_found_stands_in_the_path(path: str) -> None:
    found = path_date(path)
    if found is not None:
        forms = (found, found.replace("-", "/"), found.replace("-", ""))
        assert any(form in path for form in forms)
        assert dt.date.fromisoformat(found).isoformat() == found


@given(DAYS, DAYS)
def test_the_file_name_comes_before_its_folders(one: dt.date, two: dt.date) -> None:
    assert path_date(f"{one.isoformat()}/{two.isoformat()}.md") == two.isoformat()


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2026-02-10", "2026-02-10"),
        (" 2026-02-10T09:30:00Z ", "2026-02-10"),
        ("2026/02/10", "2026-02-10"),
        ("20260210", "2026-02-10"),
        (20260210, "2026-02-10"),
        (dt.date(2026, 2, 10), "2026-02-10"),
        (dt.datetime(2026, 2, 10, 23, 59, tzinfo=dt.UTC), "2026-02-10"),
        ("2026-02-30", None),
        ("on 2026-02-10", None),
        ("yesterday", None),
        (20261301, None),
        (10**50, None),
        (-20260210, None),
        (True, None),
        (None, None),
        (2026.5, None),
        (["2026-02-10"], None),
    ],
)
def test_value(value: object, expected: str | None) -> None:
    assert value_date(value) == expected


def test_front_matter_first_then_path() -> None:
    assert document_date("2025-01-01", "2026-02-10.md") == "2025-01-01"
    assert document_date("soon", "2026-02-10.md") == "2026-02-10"
    assert document_date(None, "MEMORY.md") is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-02-10", "2026-02-10"),
        (" 2026-02-10 Tuesday", "2026-02-10"),
        ("2026-02-10: stand-up", "2026-02-10"),
        ("2026-02-10, Tue – review", "2026-02-10"),
        ("[[2026-02-10]]", "2026-02-10"),
        ("**2026-02-10** review", "2026-02-10"),
        ("2026-02-10T09:00", "2026-02-10"),
        ("Review of 2026-02-10", None),
        ("2026-02-30", None),
        ("2026-02-101", None),
        ("2026-02-10-11", None),
        ("2026-02-10th", None),
        ("", None),
    ],
)
def test_heading(text: str, expected: str | None) -> None:
    assert heading_date(text) == expected


@given(DAYS, DAYS)
def test_age(day: dt.date, today: dt.date) -> None:
    age = age_days(day.isoformat(), today.isoformat())
    assert day + dt.timedelta(days=age) == today
    assert age_days(today.isoformat(), day.isoformat()) == -age


def test_long_input_is_linear() -> None:
    assert path_date("2026-02-" * 100_000) is None
    assert heading_date("[" * 1_000_000) is None
    assert value_date("9" * 1_000_000) is None
    assert value_date(10**5000) is None
