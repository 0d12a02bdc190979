"""Dates in words and numbers, seen from Wednesday, 11 February 2026."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memcli.search.dates import find_dates, parse_date

TODAY = date(2026, 2, 11)

CASES = [
    # Numbers.
    ("what happened on 2026-02-10?", "2026-02-10", "2026-02-10", "2026-02-10"),
    ("2026/02/10 notes", "2026-02-10", "2026-02-10", "2026/02/10"),
    ("log of 20260210", "2026-02-10", "2026-02-10", "20260210"),
    ("am 10.02.2026 besprochen", "2026-02-10", "2026-02-10", "10.02.2026"),
    ("at 2026-02-10T12:00:00Z", "2026-02-10", "2026-02-10", "2026-02-10T12:00:00Z"),
    ("plans for 2026-02", "2026-02-01", "2026-02-28", "2026-02"),
    ("2024-02-29", "2024-02-29", "2024-02-29", "2024-02-29"),
    ("2026-02-10的会议", "2026-02-10", "2026-02-10", "2026-02-10"),
    # Months.
    ("trip of May 2023", "2023-05-01", "2023-05-31", "May 2023"),
    ("trip of may 2023", "2023-05-01", "2023-05-31", "may 2023"),
    ("December 2024 report", "2024-12-01", "2024-12-31", "December 2024"),
    ("met in May", "2025-05-01", "2025-05-31", "in May"),
    ("met in february", "2026-02-01", "2026-02-28", "in february"),
    ("since January", "2026-01-01", "2026-01-31", "since January"),
    ("last February", "2025-02-01", "2025-02-28", "last February"),
    ("on 7 May 2023", "2023-05-07", "2023-05-07", "7 May 2023"),
    ("on May 7th, 2023", "2023-05-07", "2023-05-07", "May 7th, 2023"),
    ("the 7th of May", "2025-05-07", "2025-05-07", "7th of May"),
    ("on March 5", "2025-03-05", "2025-03-05", "March 5"),
    ("on Feb 11", "2026-02-11", "2026-02-11", "Feb 11"),
    ("born Feb 29", "2024-02-29", "2024-02-29", "Feb 29"),
    ("am 7. Mai 2023", "2023-05-07", "2023-05-07", "7. Mai 2023"),
    ("im Mai", "2025-05-01", "2025-05-31", "im Mai"),
    ("März 2024", "2024-03-01", "2024-03-31", "März 2024"),
    # Years.
    ("what did we do in 2023", "2023-01-01", "2023-12-31", "in 2023"),
    ("the year 2024", "2024-01-01", "2024-12-31", "year 2024"),
    # Days.
    ("what did I do today", "2026-02-11", "2026-02-11", "today"),
    ("yesterday's notes", "2026-02-10", "2026-02-10", "yesterday"),
    ("the day before yesterday", "2026-02-09", "2026-02-09", "day before yesterday"),
    ("dinner last night", "2026-02-10", "2026-02-10", "last night"),
    ("due tomorrow", "2026-02-12", "2026-02-12", "tomorrow"),
    ("heute", "2026-02-11", "2026-02-11", "heute"),
    ("gestern", "2026-02-10", "2026-02-10", "gestern"),
    ("vorgestern", "2026-02-09", "2026-02-09", "vorgestern"),
    # So long ago.
    ("3 days ago", "2026-02-08", "2026-02-08", "3 days ago"),
    ("a week ago", "2026-02-02", "2026-02-08", "a week ago"),
    ("two weeks ago", "2026-01-26", "2026-02-01", "two weeks ago"),
    ("ten months ago", "2025-04-01", "2025-04-30", "ten months ago"),
    ("2 years ago", "2024-01-01", "2024-12-31", "2 years ago"),
    ("vor drei Tagen", "2026-02-08", "2026-02-08", "vor drei Tagen"),
    ("vor einer Woche", "2026-02-02", "2026-02-08", "vor einer Woche"),
    # Periods.
    ("last week", "2026-02-02", "2026-02-08", "last week"),
    ("this week", "2026-02-09", "2026-02-15", "this week"),
    ("last month", "2026-01-01", "2026-01-31", "last month"),
    ("this month", "2026-02-01", "2026-02-28", "this month"),
    ("last year", "2025-01-01", "2025-12-31", "last year"),
    ("last weekend", "2026-02-07", "2026-02-08", "last weekend"),
    ("the past week", "2026-02-04", "2026-02-11", "past week"),
    ("in the last 7 days", "2026-02-04", "2026-02-11", "last 7 days"),
    ("past three months", "2025-11-11", "2026-02-11", "past three months"),
    ("letzte Woche", "2026-02-02", "2026-02-08", "letzte Woche"),
    ("letzten Monat", "2026-01-01", "2026-01-31", "letzten Monat"),
    ("letztes Jahr", "2025-01-01", "2025-12-31", "letztes Jahr"),
    # Weekdays.
    ("on Tuesday", "2026-02-10", "2026-02-10", "Tuesday"),
    ("wednesday standup", "2026-02-11", "2026-02-11", "wednesday"),
    ("last Wednesday", "2026-02-04", "2026-02-04", "last Wednesday"),
    ("last Friday", "2026-02-06", "2026-02-06", "last Friday"),
    ("this Friday", "2026-02-13", "2026-02-13", "this Friday"),
    ("on Sun", "2026-02-08", "2026-02-08", "on Sun"),
    ("Tuesday last week", "2026-02-03", "2026-02-03", "Tuesday last week"),
    ("am Montag", "2026-02-09", "2026-02-09", "Montag"),
    # Chinese.
    ("今天做了什么", "2026-02-11", "2026-02-11", "今天"),
    ("昨天", "2026-02-10", "2026-02-10", "昨天"),
    ("前天", "2026-02-09", "2026-02-09", "前天"),
    ("大前天", "2026-02-08", "2026-02-08", "大前天"),
    ("张三上周去了哪", "2026-02-02", "2026-02-08", "上周"),
    ("上週", "2026-02-02", "2026-02-08", "上週"),
    ("上个星期", "2026-02-02", "2026-02-08", "上个星期"),
    ("本周", "2026-02-09", "2026-02-15", "本周"),
    ("上周末", "2026-02-07", "2026-02-08", "上周末"),
    ("上个月", "2026-01-01", "2026-01-31", "上个月"),
    ("这个月", "2026-02-01", "2026-02-28", "这个月"),
    ("去年", "2025-01-01", "2025-12-31", "去年"),
    ("去年5月", "2025-05-01", "2025-05-31", "去年5月"),
    ("2023年5月8日", "2023-05-08", "2023-05-08", "2023年5月8日"),
    ("2023年5月", "2023-05-01", "2023-05-31", "2023年5月"),
    ("2023年", "2023-01-01", "2023-12-31", "2023年"),
    ("5月8日", "2025-05-08", "2025-05-08", "5月8日"),
    ("十二月", "2025-12-01", "2025-12-31", "十二月"),
    ("3天前", "2026-02-08", "2026-02-08", "3天前"),
    ("两周前", "2026-01-26", "2026-02-01", "两周前"),
    ("三个月前", "2025-11-01", "2025-11-30", "三个月前"),
    ("周一", "2026-02-09", "2026-02-09", "周一"),
    ("星期天", "2026-02-08", "2026-02-08", "星期天"),
    ("上周一开会", "2026-02-02", "2026-02-02", "上周一"),
    ("上周一直下雨", "2026-02-02", "2026-02-08", "上周"),
    ("in 2023年5月", "2023-05-01", "2023-05-31", "2023年5月"),
    ("这周五", "2026-02-13", "2026-02-13", "这周五"),
]


@pytest.mark.parametrize(("text", "start", "end", "words"), CASES, ids=[case[0] for case in CASES])
def test_a_date_is_found(text: str, start: str, end: str, words: str) -> None:
    (span,) = find_dates(text, TODAY)
    assert (span.start, span.end, span.text) == (start, end, words)
    assert text[span.at : span.at + len(span.text)] == words


@pytest.mark.parametrize(
    "text",
    [
        "2026-02-30", "2026-13-01", "2023-02-29", "20261399", "February 30", "2026-00",
        "0000-01-01", "30.02.2026", "2月30日", "13月", "99999 days ago", "9999 years ago",
        "3000年前", "v2026.02.10", "version 1.2.3", "python 3.11", "$2023", "#20260210", "€2026",
        "2023%", "memory/2026-02-10.md", "/2026/02/10", "2026-02-10-release", "PROJ-2023", "2023",
        "1234567", "it may rain", "it may 7 times", "march on", "in may", "in march",
        "may march sun sat mon", "the sun", "wed them", "a Mayor", "Sundays", "Decemberist",
        "January budget", "second of May", "in 2000000", "in 2999", "from 10 to 12", "10 days",
        "a week", "last day", "the last one", "2/10/2026", "May", "12:30",
        "每周一", "下周一", "一周一次", "两个月", "周末", "一周年", "",
    ],
)  # fmt: skip
def test_what_only_looks_like_a_date_is_none(text: str) -> None:
    assert find_dates(text, TODAY) == ()


def test_dates_come_in_order_and_apart() -> None:
    text = "昨天 or last week, 2026-02-01 und im Mai 2023"
    found = find_dates(text, TODAY)
    assert [span.text for span in found] == ["昨天", "last week", "2026-02-01", "Mai 2023"]


@pytest.mark.parametrize(
    ("today", "text", "start"),
    [
        pytest.param(date(2026, 1, 1), "last month", "2025-12-01", id="month-before-january"),
        pytest.param(date(2026, 3, 31), "past month", "2026-02-28", id="shorter-month"),
        pytest.param(date(2024, 2, 29), "past year", "2023-02-28", id="leap-day"),
        pytest.param(date(2026, 2, 9), "last week", "2026-02-02", id="monday"),
        pytest.param(date(2026, 2, 15), "last week", "2026-02-02", id="sunday"),
        pytest.param(date(2026, 2, 15), "last weekend", "2026-02-07", id="weekend-on-sunday"),
        pytest.param(date(2026, 5, 1), "in May", "2026-05-01", id="month-that-has-begun"),
        pytest.param(date(2026, 5, 1), "last May", "2025-05-01", id="last-is-never-this"),
        pytest.param(date(2026, 12, 31), "in December 2026", "2026-12-01", id="december"),
    ],
)
def test_edges_of_the_calendar(today: date, text: str, start: str) -> None:
    (span,) = find_dates(text, today)
    assert span.start == start


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("2026-02-10", "2026-02-10", "2026-02-10"),
        (" 2026-02 ", "2026-02-01", "2026-02-28"),
        ("2023", "2023-01-01", "2023-12-31"),
        ("may", "2025-05-01", "2025-05-31"),
        ("January", "2026-01-01", "2026-01-31"),
        ("tue", "2026-02-10", "2026-02-10"),
        ("monday", "2026-02-09", "2026-02-09"),
        ("last week", "2026-02-02", "2026-02-08"),
        ("in 2023", "2023-01-01", "2023-12-31"),
        ("2 days ago", "2026-02-09", "2026-02-09"),
        ("上周", "2026-02-02", "2026-02-08"),
    ],
)
def test_a_flag_takes_a_date_as_a_whole(text: str, start: str, end: str) -> None:
    span = parse_date(text, TODAY)
    assert (span.start, span.end, span.text, span.at) == (start, end, text.strip(), 0)


@pytest.mark.parametrize("text", ["", "soon", "2026-02-10 x", "x yesterday", "today today", "12"])
def test_a_flag_that_is_no_date_says_what_to_write(text: str) -> None:
    with pytest.raises(ValueError, match="is not a date: write 2026-02-10"):
        parse_date(text, TODAY)


def test_a_flag_with_a_day_that_does_not_exist_says_so() -> None:
    with pytest.raises(ValueError, match="2026-02-30 is not in the calendar"):
        parse_date("2026-02-30", TODAY)


@given(st.dates(date(1900, 1, 1), date(2099, 12, 31)), st.sampled_from(["%Y-%m-%d", "%Y%m%d"]))
def test_iso_dates_round_trip(day: date, form: str) -> None:
    (span,) = find_dates(f"on {day.strftime(form)}.", TODAY)
    assert span.start == span.end == day.isoformat()
    assert parse_date(day.isoformat(), TODAY).start == day.isoformat()


WORDS = """
    last this past a 3 0 9999 99 week days month year ago vor Tagen in on of the May may 7 7th 2023
    31 Feb Sunday Sun yesterday 2026-02-10 2026-02-31 , . 上 周 一 3天前 月 年 2023年 13月 日
"""


@given(
    st.one_of(
        st.text(max_size=40), st.lists(st.sampled_from(WORDS.split()), max_size=12).map(" ".join)
    ),
    st.dates(),
)
@example("last month past year 9999 days ago 前年5月", date.min)
@example("this week this weekend tomorrow", date.max)
def test_no_text_breaks(text: str, today: date) -> None:
    end = 0
    for span in find_dates(text, today):
        assert date.fromisoformat(span.start) <= date.fromisoformat(span.end)
        assert text[span.at : span.at + len(span.text)] == span.text != ""
        assert span.at >= end
        end = span.at + len(span.text)


@given(st.integers(0, 400), st.dates(date(1990, 1, 1), date(2090, 1, 1)))
def test_days_ago_count_back(number: int, today: date) -> None:
    expected = (today - timedelta(number)).isoformat()
    for text in (f"{number} days ago", f"vor {number} Tagen", f"{number}天前"):
        (span,) = find_dates(text, today)
        assert span.start == span.end == expected


@pytest.mark.parametrize(
    "text", ["in " * 300_000, "7 " * 500_000, "上周" * 300_000, "1-" * 500_000, " " * 1_000_000]
)
def test_a_megabyte_is_read(text: str) -> None:
    find_dates(text, TODAY)
