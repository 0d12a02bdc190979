from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcli.types import DATE_KEYS, named_days
from memcli.workspace import dating

DAYS = st.dates()
SPAN_DAYS = st.dates(dt.date(1900, 1, 1), dt.date(2099, 12, 31))
WORDS = st.text("abc-_ .", max_size=8)
FEBRUARY = ("2026-02-01", "2026-02-28")
WEEK_7 = ("2026-02-09", "2026-02-15")


def day(iso: str | None) -> tuple[str, str] | None:
    return (iso, iso) if iso else None


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("memory/2026-02-10.md", "2026-02-10"), ("memory/2026-02-10-standup.md", "2026-02-10"),
        ("memory/standup-2026-02-10.md", "2026-02-10"), ("memory/20260210.md", "2026-02-10"),
        ("memory/note_20260210_x.md", "2026-02-10"), ("memory/2026/02/10.md", "2026-02-10"),
        ("memory/2026/02/10/notes.md", "2026-02-10"), ("2026/02/10-standup.md", "2026-02-10"),
        ("2025-01-01/2026-02-10.md", "2026-02-10"), ("2025/01/01/2026-02-10.md", "2026-02-10"),
        ("2025-01-01/notes.md", "2025-01-01"), ("2025-01-01/2026-02-30.md", "2025-01-01"),
        ("2026-02-10-to-2026-02-12.md", "2026-02-12"), ("2026/02/10-2025-01-01.md", "2025-01-01"),
        ("2024-02-29.md", "2024-02-29"), ("2023-02-29.md", None), ("0000-01-01.md", None),
        ("12026-02-10.md", None), ("2026-02-101.md", None), ("202602101.md", None),
        ("1202602.md", None), ("memory/2026_02_10.md", "2026-02-10"),
        ("journals/2026_02_10-standup.md", "2026-02-10"),
        ("daily.journal.2026.02.10.md", "2026-02-10"), ("2026.02.10/notes.md", "2026-02-10"),
        ("2026_02-10.md", None), ("2026_02.10.md", None), ("2026_2_1.md", None),
        ("٢٠٢٦-02-10.md", None), ("2024-13-2026-01-05.md", "2026-01-05"), ("MEMORY.md", None),
        ("", None),
    ],
)  # fmt: skip
def test_path(path: str, expected: str | None) -> None:
    assert dating.path_days(path) == day(expected)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("memory/2026-02.md", FEBRUARY), ("2026-02-budget.md", FEBRUARY),
        ("budget_2026-02_v2.md", FEBRUARY), ("budget 2026-02.md", FEBRUARY),
        ("2026-02/10.md", FEBRUARY), ("2026-02/notes/a.md", FEBRUARY),
        ("2025/2026-02.md", FEBRUARY), ("2024-02.md", ("2024-02-01", "2024-02-29")),
        ("2099-12.md", ("2099-12-01", "2099-12-31")), ("memory/2026-W07.md", WEEK_7),
        ("2026-w07-review.md", WEEK_7), ("2026-W01.md", ("2025-12-29", "2026-01-04")),
        ("2026-W53.md", ("2026-12-28", "2027-01-03")), ("2026-02/2026-W07.md", WEEK_7),
        ("2026-W07/2026-02.md", FEBRUARY), ("2026-02/2026-02-10.md", day("2026-02-10")),
        ("2026-02-10/2026-02.md", FEBRUARY), ("2026-02/2026-13.md", FEBRUARY),
    ],
)  # fmt: skip
def test_weeks_and_months_in_a_path(path: str, expected: tuple[str, str]) -> None:
    assert dating.path_days(path) == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("09.03.2025.md", "2025-03-09"), ("11 March 2025.md", "2025-03-11"),
        ("journals/Mar 19th, 2025.md", "2025-03-19"), ("18. März 2025.md", "2025-03-18"),
        ("2025年3月17日.md", "2025-03-17"), ("Call on 3 May 2024 with the bank.md", "2024-05-03"),
        ("2026-2-1.md", "2026-02-01"), ("2026-11-1.md", "2026-11-01"), ("2026-2-30.md", None),
        ("2026-2-1-3.md", None), ("2026-2-1.5.md", None), ("202503131542.md", "2025-03-13"),
        ("20250313154210 friction.md", "2025-03-13"), ("202513131542.md", None),
        ("Tax 2024.md", None), ("since May 2024.md", None),
        ("3 to 7 May 2024.md", None),  # no day, week, month or quarter
    ],
)  # fmt: skip
def test_a_name_may_hold_a_date_as_questions_do(path: str, expected: str | None) -> None:
    assert dating.path_days(path) == day(expected)


def test_quarters_and_months_in_words() -> None:
    assert dating.path_days("goals/2025-Q1.md") == ("2025-01-01", "2025-03-31")
    assert dating.path_days("May 2024.md") == ("2024-05-01", "2024-05-31")
    assert named_days(("2025-01-01", "2025-03-31")) == "2025-Q1"
    assert dating.heading_days("9. März 2025: Kino") == day("2025-03-09")
    assert dating.heading_days("Meeting on 9 March 2025") is None
    assert dating.document_days({"date": "March 10, 2025"}, "a.md", ("date",)) == (
        day("2025-03-10"),
        False,
    )


@pytest.mark.parametrize(
    "path",
    [
        "2026-13.md", "2026-00.md", "2026-W00.md", "2026-W54.md",
        "2025-W53.md",  # a year of 52 weeks
        "2026-W7.md", "2026-W07-3.md", "2026-2.md", "2026.md", "2026/notes.md", "2026/02/notes.md",
        "202602.md", "2026_02.md", "2026.02.md", "2026-02-30.md", "2026-02-1.md", "2026-02-101.md",
        "2026-02_10.md", "2026-02.1.md", "2026-021.md", "2026-02b.md", "notes2026-02.md",
        "v2026-02.md", "v2026.02.1.md", "V2026.02.10.md", "1.2026.03.md", "1.2026.02.10.md",
        "2026.02.10.1.md", "release-1.2026-03.md", "+49-2026-0317.md", "555-2026-02.md",
        "030-2026-02-1.md", "4711-02.md", "8080-10/a.md", "1234-W10.md", "２０２６-02.md",
    ],
)  # fmt: skip
def test_what_looks_like_a_date_and_is_none(path: str) -> None:
    assert dating.path_days(path) is None


@given(DAYS, WORDS, WORDS, st.sampled_from(["-", "/", "", "_", "."]))
def test_every_day_in_a_slug(when: dt.date, before: str, after: str, joint: str) -> None:
    written = f"{when.year:04}{joint}{when.month:02}{joint}{when.day:02}"
    assert dating.path_days(f"x/{before}{written}{after}.md") == day(when.isoformat())


@given(SPAN_DAYS, st.text("-_ .", max_size=8), st.text("-_ .", max_size=8))
def test_every_week_and_month_in_a_slug(when: dt.date, before: str, after: str) -> None:
    year, week, _ = when.isocalendar()
    first = when - dt.timedelta(when.weekday())
    days = (first.isoformat(), (first + dt.timedelta(6)).isoformat())
    if 1900 <= year < 2100:
        assert dating.path_days(f"x/{before}{year}-W{week:02}{after}.md") == days
        assert named_days(days) == f"{year}-W{week:02}"
    found = dating.path_days(f"x/{before}{when:%Y-%m}{after}.md")
    assert found is not None
    first, last = map(dt.date.fromisoformat, found)
    assert (first.day, (last + dt.timedelta(1)).day) == (1, 1)
    assert first <= when <= last
    assert (last - first).days < 31
    assert named_days(found) == f"{when:%Y-%m}"


@given(st.text("0123456789-/_.Wx", max_size=40))
def test_what_is_found_stands_in_the_path(path: str) -> None:
    found = dating.path_days(path)
    if found is not None:
        name = named_days(found)
        forms = (name, name.replace("-", "/"), name.replace("-", ""), name.replace("-", "_"))
        assert any(form in path for form in (*forms, name.replace("-", ".")))
        assert dating.value_days(name) == found


@given(DAYS, DAYS)
def test_the_file_name_comes_before_its_folders(one: dt.date, two: dt.date) -> None:
    assert dating.path_days(f"{one.isoformat()}/{two.isoformat()}.md") == day(two.isoformat())


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2026-02-10", "2026-02-10"), (" 2026-02-10T09:30:00Z ", "2026-02-10"),
        ("2026/02/10", "2026-02-10"), ("20260210", "2026-02-10"), (20260210, "2026-02-10"),
        (dt.date(2026, 2, 10), "2026-02-10"),
        (dt.datetime(2026, 2, 10, 23, 59, tzinfo=dt.UTC), "2026-02-10"), ("2026-02-30", None),
        ("on 2026-02-10", None), ("yesterday", None), (20261301, None), (10**50, None),
        (-20260210, None), (True, None), (None, None), (2026.5, None), (["2026-02-10"], None),
    ],
)  # fmt: skip
def test_value(value: object, expected: str | None) -> None:
    assert dating.value_days(value) == day(expected)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2026_02_10", day("2026-02-10")), ("2026.02.10", day("2026-02-10")), ("2026-02", FEBRUARY),
        ("2026-W07", WEEK_7), ("2026-02-30", None), ("2026.02", None), (2026.02, None),
        (202602, None), ("about 2026-02", None),
    ],
)  # fmt: skip
def test_other_forms_of_a_value(value: object, expected: tuple[str, str] | None) -> None:
    assert dating.value_days(value) == expected


@pytest.mark.parametrize(
    ("metadata", "path", "expected"),
    [
        ({"date": "2025-01-01"}, "2026-02-10.md", "2025-01-01"),
        ({"date": "soon"}, "2026-02-10.md", "2026-02-10"),
        ({}, "MEMORY.md", None),
        # The name says what a note is about, a stamp when somebody last saved it.
        ({"modified": "2026-03-01", "created": "2026-02-09"}, "2026-02-10.md", "2026-02-10"),
        ({"date": "2026-02-08", "modified": "2026-03-01"}, "fact.md", "2026-02-08"),
        ({"date": 7, "modified": "2026-03-01T09:30:00Z"}, "fact.md", "2026-03-01"),
        ({"updated": "2026-03-02", "created": "2026-03-03"}, "fact.md", "2026-03-02"),
        ({"modified": "", "updated": None, "created": "2026-03-03"}, "fact.md", "2026-03-03"),
        ({"day": "2026-03-03", "Date": "2026-03-03"}, "fact.md", None),
    ],
)
def test_front_matter_then_path_then_stamps(
    metadata: dict[str, object], path: str, expected: str | None
) -> None:
    days, stamped = dating.document_days(metadata, path, DATE_KEYS)
    assert days == day(expected)
    assert stamped == (expected in ("2026-03-01", "2026-03-02", "2026-03-03"))


def test_a_source_orders_the_keys_otherwise() -> None:
    metadata = {"modified": "2026-03-01", "created": "2026-02-09", "day": "2026-01-01"}
    assert dating.document_days(metadata, "a.md", ("created", "modified"))[0] == day("2026-02-09")
    assert dating.document_days(metadata, "a.md", ("created", "day")) == (day("2026-01-01"), False)
    assert dating.document_days(metadata, "a.md", ()) == (None, False)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-02-10", "2026-02-10"), (" 2026-02-10 Tuesday", "2026-02-10"),
        ("2026-02-10: stand-up", "2026-02-10"), ("2026-02-10, Tue – review", "2026-02-10"),
        ("[[2026-02-10]]", "2026-02-10"), ("**2026-02-10** review", "2026-02-10"),
        ("2026-02-10T09:00", "2026-02-10"), ("Review of 2026-02-10", None), ("2026-02-30", None),
        ("2026-02-101", None), ("2026-02-10-11", None), ("2026-02-10th", None), ("", None),
    ],
)  # fmt: skip
def test_heading(text: str, expected: str | None) -> None:
    assert dating.heading_days(text) == day(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-02", FEBRUARY), ("2026-02: budget", FEBRUARY), ("[[2026-W07]]", WEEK_7),
        ("2026-W07 review", WEEK_7), ("2026-W07.", WEEK_7), ("2026-02.1", None), ("2026-13", None),
        ("2025-W53", None), ("2026-02b", None), ("2026-02-W07", None), ("2026", None),
        ("4711-02", None), ("Review of 2026-02", None),
    ],
)  # fmt: skip
def test_a_heading_of_a_week_or_a_month(text: str, expected: tuple[str, str] | None) -> None:
    assert dating.heading_days(text) == expected


@given(DAYS, DAYS)
def test_age(when: dt.date, today: dt.date) -> None:
    age = dating.age_days(when.isoformat(), today.isoformat())
    assert when + dt.timedelta(days=age) == today
    assert dating.age_days(today.isoformat(), when.isoformat()) == -age


def test_long_input_is_linear() -> None:
    assert dating.path_days("2026-02-" * 100_000 + "1") is None
    assert dating.path_days("2026.02." * 100_000 + "1") is None
    assert dating.heading_days("[" * 1_000_000) is None
    assert dating.value_days("9" * 1_000_000) is None
    assert dating.value_days(10**5000) is None


@pytest.mark.parametrize(
    ("metadata", "told"),
    [
        ({"date": "2026-02-10T14:30:05+02:00"}, "2026-02-10T14:30:05+02:00"),
        ({"date": "2026-02-10 14:30"}, "2026-02-10T14:30"),
        ({"date": "2026/02/10 (Tue) 23:40"}, "2026-02-10T23:40"),
        ({"updated": "2026-02-10T09:00Z", "date": "2026-02-10T08:00Z"}, "2026-02-10T08:00Z"),
        ({"date": "2026-02-10", "updated": "2026-02-10T09:00Z"}, "2026-02-10T09:00Z"),
        ({"date": "2026-02-10"}, ""),
        ({"date": "2026-02-11T14:30"}, ""),  # of another day
        ({"date": "2026-02-10 25:00"}, ""),
        ({"date": "2026-02-10 1:2:3:44:55"}, ""),
        ({"title": "At 14:30"}, ""),
    ],
)
def test_a_moment_is_a_day_with_the_time_behind_it(metadata: dict[str, str], told: str) -> None:
    assert dating.written_at(metadata, "2026-02-10") == told


@pytest.mark.parametrize(
    ("moment", "days"),
    [
        ("2026-02-10T06:00", 1.25),
        ("2026-02-11T12:00:00+02:00", 1 / 12),
        ("2026-02-11T18:00", -0.25),
    ],
)
def test_an_exact_age_counts_the_time_of_day(moment: str, days: float) -> None:
    now = dt.datetime.fromisoformat("2026-02-11T12:00+00:00")
    assert dating.age_at(moment, now) == pytest.approx(days)


def test_the_day_of_a_moment_is_its_own() -> None:
    day = dt.date(2026, 2, 10)
    assert dating.day_of(dt.datetime(2026, 2, 10, 23, 59)) == dating.day_of(day) == day
