"""Dates in words and numbers, seen from Wednesday, 11 February 2026."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memcli.dates.find import MAX_CHARS, bounds_of, find_dates, mentions, parse_date, span_of
from memcli.errors import UsageError

TODAY = date(2026, 2, 11)

# Text, first and last day, and the words of the date; "" if they are the whole text.
CASES = [
    # Russian, Arabic, Korean, and digits of other scripts.
    ("что было 12 июня 2025 года", "2025-06-12", "2025-06-12", "12 июня 2025"),
    ("встреча 5 марта", "2025-03-05", "2025-03-05", "5 марта"),
    ("что решили в июне", "2025-06-01", "2025-06-30", "в июне"),
    ("отчёт в 2024 году", "2024-01-01", "2024-12-31", "в 2024"),
    ("что делали вчера", "2026-02-10", "2026-02-10", "вчера"),
    ("на прошлой неделе", "2026-02-02", "2026-02-08", "прошлой неделе"),
    ("3 дня назад", "2026-02-08", "2026-02-08", "3 дня назад"),
    ("звонок в пятницу", "2026-02-06", "2026-02-06", "пятницу"),
    ("اجتماع ١٢ يونيو ٢٠٢٥", "2025-06-12", "2025-06-12", "١٢ يونيو ٢٠٢٥"),
    ("ماذا فعلنا أمس", "2026-02-10", "2026-02-10", "أمس"),
    ("6월 12일에 회의", "2025-06-12", "2025-06-12", "6월 12일"),
    ("2025년 6월 12일", "2025-06-12", "2025-06-12", "2025년 6월 12일"),
    ("어제 뭐 했어", "2026-02-10", "2026-02-10", "어제"),
    ("지난주 회의", "2026-02-02", "2026-02-08", "지난주"),
    ("월요일 회의", "2026-02-09", "2026-02-09", "월요일"),
    ("6월부터 8월까지", "2025-06-01", "2025-08-31", "6월부터 8월까지"),
    ("２０２５年３月１０日", "2025-03-10", "2025-03-10", "２０２５年３月１０日"),
    ("२०२५-०६-१२", "2025-06-12", "2025-06-12", "२०२५-०६-१२"),
    ("2023年 5月 4日", "2023-05-04", "2023-05-04", "2023年 5月 4日"),
    # Numbers.
    ("what happened in 2026-W07?", "2026-02-09", "2026-02-15", "2026-W07"),
    ("plans since 2026-W01", "2025-12-29", None, "since 2026-W01"),
    ("at 2026-02-10T12:00:00Z", "2026-02-10", "2026-02-10", "2026-02-10T12:00:00Z"),
    ("plans for 2026-02", "2026-02-01", "2026-02-28", "2026-02"),
    ("2026-02-10的会议", "2026-02-10", "2026-02-10", "2026-02-10"),
    # Months.
    ("trip of may 2023", "2023-05-01", "2023-05-31", "may 2023"),
    ("December 2024 report", "2024-12-01", "2024-12-31", "December 2024"),
    ("met in february", "2026-02-01", "2026-02-28", "in february"),
    ("last February", "2025-02-01", "2025-02-28", "last February"),
    ("this May", "2026-05-01", "2026-05-31", "this May"),
    ("the Friday before 5 May 2023", "2023-04-28", "2023-04-28", "Friday before 5 May 2023"),
    ("the second week of May 2023", "2023-05-08", "2023-05-14", "second week of May 2023"),
    ("这个夏天", "2026-06-01", "2026-08-31", "这个夏天"),
    ("上上个春天", "2025-03-01", "2025-05-31", "上上个春天"),
    ("下下个秋天", "2026-09-01", "2026-11-30", "下下个秋天"),
    ("sales in h1", "2026-01-01", "2026-06-30", "in h1"),
    ("on May 7th, 2023", "2023-05-07", "2023-05-07", "May 7th, 2023"),
    ("on March 5", "2025-03-05", "2025-03-05", "March 5"),
    ("on Feb 11", "2026-02-11", "2026-02-11", "Feb 11"),
    ("born Feb 29", "2024-02-29", "2024-02-29", "Feb 29"),
    ("im 9/2025", "2025-09-01", "2025-09-30", "9/2025"),
    ("was geschah am 21.09.?", "2025-09-21", "2025-09-21", "21.09."),
    ("21.09. Ofen", "2025-09-21", "2025-09-21", "21.09."),
    ("Mo 9.2.", "2026-02-09", "2026-02-09", "9.2."),
    ("vom 21.09. bis 25.09.", "2025-09-21", "2025-09-25", "vom 21.09. bis 25.09."),
    ("zwischen 21.09. und 3.10.", "2025-09-21", "2025-10-03", "zwischen 21.09. und 3.10."),
    ("am 21.09.-25.09.", "2025-09-21", "2025-09-25", "21.09.-25.09."),
    # Years.
    ("the year 2024", "2024-01-01", "2024-12-31", "year 2024"),
    ("2023?", "2023-01-01", "2023-12-31", "2023"),
    # Parts of a year, of a month.
    ("what we did in Q3 2023", "2023-07-01", "2023-09-30", "Q3 2023"),
    ("2023 Q3", "2023-07-01", "2023-09-30", "2023 Q3"),
    ("Q3/2023", "2023-07-01", "2023-09-30", "Q3/2023"),
    ("2023-Q3", "2023-07-01", "2023-09-30", "2023-Q3"),
    ("q3 goals", "2025-07-01", "2025-09-30", "q3"),
    ("results of Q1?", "2026-01-01", "2026-03-31", "Q1"),
    ("the third quarter", "2025-07-01", "2025-09-30", "third quarter"),
    ("im dritten Quartal", "2025-07-01", "2025-09-30", "dritten Quartal"),
    ("mid Q3", "2025-07-31", "2025-08-30", "mid Q3"),
    ("from Q1 to Q3", "2025-01-01", "2025-09-30", "from Q1 to Q3"),
    ("the third quarter of 2023", "2023-07-01", "2023-09-30", "third quarter of 2023"),
    ("3. Quartal 2023", "2023-07-01", "2023-09-30", "3. Quartal 2023"),
    ("H1 2023", "2023-01-01", "2023-06-30", "H1 2023"),
    ("first half of 2023", "2023-01-01", "2023-07-01", "first half of 2023"),
    ("winter 2023", "2023-12-01", "2024-02-29", "winter 2023"),
    ("im Sommer 2024", "2024-06-01", "2024-08-31", "Sommer 2024"),
    ("this winter", "2025-12-01", "2026-02-28", "this winter"),
    ("next spring", "2026-03-01", "2026-05-31", "next spring"),
    ("next winter", "2026-12-01", "2027-02-28", "next winter"),
    ("what stood there in 1900", "1900-01-01", "1900-12-31", "in 1900"),
    ("letzten Sommer", "2025-06-01", "2025-08-31", "letzten Sommer"),
    ("early May 2023", "2023-05-01", "2023-05-10", "early May 2023"),
    ("mid-May 2023", "2023-05-11", "2023-05-20", "mid-May 2023"),
    ("notes of mid-2023-05", "2023-05-11", "2023-05-20", "mid-2023-05"),
    ("Anfang Mai 2023", "2023-05-01", "2023-05-10", "Anfang Mai 2023"),
    ("end of March 2024", "2024-03-21", "2024-03-31", "end of March 2024"),
    ("Ende März 2024", "2024-03-21", "2024-03-31", "Ende März 2024"),
    ("first week of 2024", "2024-01-01", "2024-01-07", "first week of 2024"),
    ("last week of May 2023", "2023-05-25", "2023-05-31", "last week of May 2023"),
    # From one day to another.
    ("between Aug 11 and Aug 15 2023", "2023-08-11", "2023-08-15", ""),
    ("from 3 May 2023 to 7 June", "2023-05-03", "2023-06-07", "from 3 May 2023 to 7 June"),
    ("from the 3rd to the 7th of May", "2025-05-03", "2025-05-07", ""),
    ("from February to November", "2025-02-01", "2025-11-30", "from February to November"),
    ("from November to January", "2025-11-01", "2026-01-31", "from November to January"),
    ("from Feb 29 to yesterday", "2024-02-29", "2026-02-10", "from Feb 29 to yesterday"),
    ("from 2021 to 2023", "2021-01-01", "2023-12-31", "from 2021 to 2023"),
    ("2023-05-03..2023-05-07", "2023-05-03", "2023-05-07", "2023-05-03..2023-05-07"),
    ("2023-05-03 - 2023-05-07", "2023-05-03", "2023-05-07", "2023-05-03 - 2023-05-07"),
    ("May 3-7, 2023", "2023-05-03", "2023-05-07", "May 3-7, 2023"),
    ("May 3 to 7, 2023", "2023-05-03", "2023-05-07", "May 3 to 7, 2023"),
    ("3–7 May 2023", "2023-05-03", "2023-05-07", "3–7 May 2023"),
    ("3.-7. Mai 2023", "2023-05-03", "2023-05-07", "3.-7. Mai 2023"),
    ("zwischen Mai und Juli 2023", "2023-05-01", "2023-07-31", "zwischen Mai und Juli 2023"),
    ("vom 3. Mai bis 7. Juni 2023", "2023-05-03", "2023-06-07", "vom 3. Mai bis 7. Juni 2023"),
    # Beside another date.
    ("the month before May 2023", "2023-04-01", "2023-04-30", "month before May 2023"),
    ("the week after 3 August 2023", "2023-08-04", "2023-08-10", "week after 3 August 2023"),
    ("the day before 3 August 2023", "2023-08-02", "2023-08-02", "day before 3 August 2023"),
    ("Friday after 10.01.2024", "2024-01-12", "2024-01-12", "Friday after 10.01.2024"),
    ("last weekend before 10 April 2023", "2023-04-08", "2023-04-09", ""),
    ("two weeks before 11 August 2023", "2023-07-24", "2023-07-30", ""),
    ("three days after 11 August 2023", "2023-08-14", "2023-08-14", ""),
    ("shortly before 7 Jan 2024", "2024-01-07", "2024-01-07", "7 Jan 2024"),
    # Feasts.
    ("at Christmas", "2025-12-24", "2025-12-26", "at Christmas"),
    ("zu Weihnachten", "2025-12-24", "2025-12-26", "zu Weihnachten"),
    ("on Boxing Day", "2025-12-26", "2025-12-26", "on Boxing Day"),
    ("on New Year's Eve", "2025-12-31", "2025-12-31", "on New Year's Eve"),
    ("an Easter egg of Easter 2024", "2024-03-31", "2024-04-01", "Easter 2024"),
    ("what of Good Friday 2024", "2024-03-29", "2024-03-29", "Good Friday 2024"),
    ("between Christmas and New Year", "2025-12-24", "2026-01-01", ""),
    ("the week before Christmas", "2025-12-17", "2025-12-23", "week before Christmas"),
    # Days.
    ("what did I do today", "2026-02-11", "2026-02-11", "today"),
    ("yesterday's notes", "2026-02-10", "2026-02-10", "yesterday"),
    ("the day before yesterday", "2026-02-09", "2026-02-09", "day before yesterday"),
    ("dinner last night", "2026-02-10", "2026-02-10", "last night"),
    ("due tomorrow", "2026-02-12", "2026-02-12", "tomorrow"),
    ("heute", "2026-02-11", "2026-02-11", "heute"),
    ("vorgestern", "2026-02-09", "2026-02-09", "vorgestern"),
    ("the day after tomorrow", "2026-02-13", "2026-02-13", "day after tomorrow"),
    ("übermorgen", "2026-02-13", "2026-02-13", "übermorgen"),
    # So long ago.
    ("a couple of weeks ago", "2026-01-26", "2026-02-01", "a couple of weeks ago"),
    ("a week ago", "2026-02-02", "2026-02-08", "a week ago"),
    ("ten months ago", "2025-04-01", "2025-04-30", "ten months ago"),
    ("2 years ago", "2024-01-01", "2024-12-31", "2 years ago"),
    ("vor drei Tagen", "2026-02-08", "2026-02-08", "vor drei Tagen"),
    ("vor einer Woche", "2026-02-02", "2026-02-08", "vor einer Woche"),
    # Periods.
    ("this week", "2026-02-09", "2026-02-15", "this week"),
    ("this month", "2026-02-01", "2026-02-28", "this month"),
    ("last year", "2025-01-01", "2025-12-31", "last year"),
    ("the past week", "2026-02-04", "2026-02-11", "past week"),
    ("past three months", "2025-11-11", "2026-02-11", "past three months"),
    ("nächste Woche", "2026-02-16", "2026-02-22", "nächste Woche"),
    ("vorletzte Woche", "2026-01-26", "2026-02-01", "vorletzte Woche"),
    ("next month", "2026-03-01", "2026-03-31", "next month"),
    ("next 3 days", "2026-02-11", "2026-02-14", "next 3 days"),
    ("last quarter", "2025-10-01", "2025-12-31", "last quarter"),
    ("letztes Quartal", "2025-10-01", "2025-12-31", "letztes Quartal"),
    ("the week before last", "2026-01-26", "2026-02-01", "week before last"),
    ("the week of 8 May 2023", "2023-05-08", "2023-05-14", "week of 8 May 2023"),
    ("letzte Woche", "2026-02-02", "2026-02-08", "letzte Woche"),
    ("letzten Monat", "2026-01-01", "2026-01-31", "letzten Monat"),
    ("letztes Jahr", "2025-01-01", "2025-12-31", "letztes Jahr"),
    # Weekdays.
    ("on Tuesday", "2026-02-10", "2026-02-10", "Tuesday"),
    ("wednesday standup", "2026-02-11", "2026-02-11", "wednesday"),
    ("last Wednesday", "2026-02-04", "2026-02-04", "last Wednesday"),
    ("last Friday", "2026-02-06", "2026-02-06", "last Friday"),
    ("this Friday", "2026-02-13", "2026-02-13", "this Friday"),
    ("letzten Dienstag", "2026-02-10", "2026-02-10", "letzten Dienstag"),
    ("nächsten Freitag", "2026-02-13", "2026-02-13", "nächsten Freitag"),
    ("next Wednesday", "2026-02-18", "2026-02-18", "next Wednesday"),
    ("Tuesday next week", "2026-02-17", "2026-02-17", "Tuesday next week"),
    ("on Sun", "2026-02-08", "2026-02-08", "on Sun"),
    ("Tuesday last week", "2026-02-03", "2026-02-03", "Tuesday last week"),
    # Chinese.
    ("前天", "2026-02-09", "2026-02-09", "前天"),
    ("大前天", "2026-02-08", "2026-02-08", "大前天"),
    ("上週", "2026-02-02", "2026-02-08", "上週"),
    ("上周末", "2026-02-07", "2026-02-08", "上周末"),
    ("这个月", "2026-02-01", "2026-02-28", "这个月"),
    ("十二月", "2025-12-01", "2025-12-31", "十二月"),
    ("两周前", "2026-01-26", "2026-02-01", "两周前"),
    ("三个月前", "2025-11-01", "2025-11-30", "三个月前"),
    ("周一", "2026-02-09", "2026-02-09", "周一"),
    ("星期天", "2026-02-08", "2026-02-08", "星期天"),
    ("上周一开会", "2026-02-02", "2026-02-02", "上周一"),
    ("上周一直下雨", "2026-02-02", "2026-02-08", "上周"),
    ("in 2023年5月", "2023-05-01", "2023-05-31", "2023年5月"),
    ("十二月二十五号", "2025-12-25", "2025-12-25", "十二月二十五号"),
    ("去年夏天", "2025-06-01", "2025-08-31", "去年夏天"),
    ("2023年第三季度", "2023-07-01", "2023-09-30", "2023年第三季度"),
    ("三季度", "2025-07-01", "2025-09-30", "三季度"),
    ("2023年上半年", "2023-01-01", "2023-06-30", "2023年上半年"),
    ("2023年底", "2023-09-01", "2023-12-31", "2023年底"),
    ("5月上旬", "2025-05-01", "2025-05-10", "5月上旬"),
    ("下周一", "2026-02-16", "2026-02-16", "下周一"),
    ("后天", "2026-02-13", "2026-02-13", "后天"),
    ("3天后", "2026-02-14", "2026-02-14", "3天后"),
    ("从5月到7月", "2025-05-01", "2025-07-31", "从5月到7月"),
    ("2023年5月3日至7日", "2023-05-03", "2023-05-07", "2023年5月3日至7日"),
    ("2023年5月到7月", "2023-05-01", "2023-07-31", "2023年5月到7月"),
    ("令和5年5月到7月", "2023-05-01", "2023-07-31", "令和5年5月到7月"),
    ("5月3日和6月7日之间", "2025-05-03", "2025-06-07", "5月3日和6月7日之间"),
    ("5月4日前后的会议", "2025-05-04", "2025-05-04", "5月4日"),
    ("2月", "2026-02-01", "2026-02-28", "2月"),
    ("11月到1月", "2025-11-01", "2026-01-31", "11月到1月"),
    ("从2月5日到1月10日", "2025-02-05", "2026-01-10", "从2月5日到1月10日"),
    # Japanese.
    ("平成31年4月", "2019-04-01", "2019-04-30", "平成31年4月"),
    ("2023年の夏に", "2023-06-01", "2023-08-31", "2023年の夏"),
    ("おととい", "2026-02-09", "2026-02-09", "おととい"),
    ("一昨日の話", "2026-02-09", "2026-02-09", "一昨日"),
    ("先週の火曜日", "2026-02-03", "2026-02-03", "先週の火曜日"),
    ("火曜日に", "2026-02-10", "2026-02-10", "火曜日"),
    ("先月", "2026-01-01", "2026-01-31", "先月"),
    ("昨年5月", "2025-05-01", "2025-05-31", "昨年5月"),
    ("3か月前", "2025-11-01", "2025-11-30", "3か月前"),
    ("2週間前", "2026-01-26", "2026-02-01", "2週間前"),
    ("5月4日から7日まで", "2025-05-04", "2025-05-07", "5月4日から7日まで"),
    ("这周五", "2026-02-13", "2026-02-13", "这周五"),
]


@pytest.mark.parametrize(("text", "start", "end", "words"), CASES, ids=[case[0] for case in CASES])
def test_a_date_is_found(text: str, start: str, end: str, words: str) -> None:
    (span,) = find_dates(text, TODAY)
    assert (span.start, span.end, span.text) == (start, end, words or text)
    assert text[span.at : span.at + len(span.text)] == span.text
    flag = parse_date(f" {span.text} ", TODAY)
    assert (flag.start, flag.end, flag.text, flag.at) == (start, end, span.text, 0)


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("после 5 мая 2025", "2025-05-06", None), ("до июня 2025", None, "2025-05-31"),
        ("6월이후", "2025-07-01", None), ("before August 2023", None, "2023-07-31"),
        ("since September", "2025-09-01", None), ("until last week", None, "2026-02-08"),
        ("till 2023", None, "2023-12-31"), ("after the summer of 2024", "2024-09-01", None),
        ("seit Montag", "2026-02-09", None), ("until the Sun", None, "2026-02-08"),
        ("seit drei Tagen", "2026-02-08", None), ("since Christmas", "2025-12-24", None),
        ("nach Silvester", "2026-01-01", None), ("seit Karfreitag", "2025-04-18", None),
        ("since Pentecost", "2025-06-08", None), ("seit Christi Himmelfahrt", "2025-05-29", None),
        ("since 09/2025", "2025-09-01", None), ("since 13/12", "2025-12-13", None),
        ("seit 21.09.", "2025-09-21", None), ("ab März 2024", "2024-03-01", None),
        ("bis gestern", None, "2026-02-10"), ("vor dem 5. Mai", None, "2025-05-04"),
        ("vor 5. Mai 2023", None, "2023-05-04"), ("vor 2023", None, "2022-12-31"),
        ("nach letzter Woche", "2026-02-09", None), ("5月4日之前", None, "2025-05-03"),
        ("5月4日以后", "2025-05-05", None), ("自2023年以来", "2023-01-01", None),
        ("从昨天起", "2026-02-10", None), ("截至昨天", None, "2026-02-10"),
        ("5月4日以降", "2025-05-04", None), ("5月4日まで", None, "2025-05-04"),
        ("去年から", "2025-01-01", None),
        # What is denied is open on the other side.
        ("not before August 2023", "2023-08-01", None), ("nicht vor August", "2025-08-01", None),
        ("nicht vor dem 5. Mai", "2025-05-05", None), ("not after 5 May 2023", None, "2023-05-05"),
        ("nicht nach dem 5. Mai 2023", None, "2023-05-05"), ("not since June", None, "2025-05-31"),
        ("not until August", "2025-08-01", None), ("no later than May 2023", None, "2023-05-31"),
        ("not earlier than May 2023", "2023-05-01", None),
        ("later than May 2023", "2023-06-01", None), ("früher als Mai 2023", None, "2023-04-30"),
        ("nicht später als Mai 2023", None, "2023-05-31"),
    ],
)  # fmt: skip
def test_a_bound_leaves_the_other_end_open(text: str, start: str | None, end: str | None) -> None:
    (span,) = find_dates(f"{text} ", TODAY)
    assert (span.start, span.end, span.text) == (start, end, text)


@pytest.mark.parametrize(
    ("text", "words", "start", "end"),
    [
        ("van problems not in June", "not in June", "2025-06-01", "2025-06-30"),
        ("the calls that were not on Monday", "not on Monday", "2026-02-09", "2026-02-09"),
        ("not yesterday", "not yesterday", "2026-02-10", "2026-02-10"),
        ("calls, but not last week", "not last week", "2026-02-02", "2026-02-08"),
        ("not 2 days ago", "not 2 days ago", "2026-02-09", "2026-02-09"),
        ("not the week of 8 May 2023", "not the week of 8 May 2023", "2023-05-08", "2023-05-14"),
        ("not 2023-05-03..2023-05-09", "not 2023-05-03..2023-05-09", "2023-05-03", "2023-05-09"),
        ("not from 1 to 3 May 2023", "not from 1 to 3 May 2023", "2023-05-01", "2023-05-03"),
        ("all calls except June", "except June", "2025-06-01", "2025-06-30"),
        ("excluding 2023", "excluding 2023", "2023-01-01", "2023-12-31"),
        ("nicht im Juni", "nicht im Juni", "2025-06-01", "2025-06-30"),
        ("nicht vor zwei Wochen", "nicht vor zwei Wochen", "2026-01-26", "2026-02-01"),
        ("außer letzter Woche", "außer letzter Woche", "2026-02-02", "2026-02-08"),
        ("除了6月还有什么", "除了6月", "2025-06-01", "2025-06-30"),
        ("除了上周以外", "除了上周以外", "2026-02-02", "2026-02-08"),
        ("不在6月的会议", "不在6月", "2025-06-01", "2025-06-30"),
        ("6月を除く", "6月を除く", "2025-06-01", "2025-06-30"),
    ],
)
def test_what_is_denied_is_excluded(text: str, words: str, start: str, end: str) -> None:
    (span,) = find_dates(text, TODAY)
    assert (span.text, span.start, span.end, span.excluded) == (words, start, end, True)
    with pytest.raises(ValueError, match="is not a date"):
        parse_date(span.text, TODAY)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Was it not in June that we met?", "in June"),
        ("did we not yesterday agree on the port", "yesterday"),
        ("Why not before August?", "before August"),
        ("Haben wir nicht gestern darüber gesprochen?", "gestern"),
        ("warum nicht im Juni", "im Juni"), ("whether or not in June", "in June"),
        ("not only in June", "in June"), ("nothing in June", "in June"),
        ("there was no Friday meeting", "Friday"), ("删除昨天的日志", "昨天"),
    ],
)  # fmt: skip
def test_a_denial_that_asks_of_the_day_denies_nothing(text: str, words: str) -> None:
    (span,) = find_dates(text, TODAY)
    assert (span.text, span.excluded) == (words, False)


@pytest.mark.parametrize(
    ("text", "words", "order"),
    [
        ("latest news about the pool", "latest", "newest"),
        ("the most recent session", "most recent", "newest"),
        ("die neueste Notiz", "neueste", "newest"),
        # At the head of what is asked for, or behind an article.
        ("last van problem", "last", "newest"), ("first E17 of the oven", "first", "oldest"),
        ("earliest van problem", "earliest", "oldest"), ("erste Lieferung", "erste", "oldest"),
        ("Letzte Lieferung der Mühle", "Letzte", "newest"),
        ("what was the first delivery?", "first", "oldest"),
        ("who fixed the last van problem?", "last", "newest"),
        ("What did our last delivery cost", "last", "newest"),
        ("which was our first E17", "first", "oldest"),
        ("the last two deliveries", "last two", "newest"),
        ("who did we last call", "last", "newest"),
        ("Zeig mir die letzte Rechnung", "letzte", "newest"),
        ("was kostete die letzte Lieferung", "letzte", "newest"),
        ("how long will the last delivery last", "last", "newest"),
        ("The oven stopped. Last fault?", "Last", "newest"),
        ("When did we meet? Last car broke.", "Last", "newest"),
        ("最近一次会议", "最近一次", "newest"), ("最后一批货", "最后一批", "newest"),
        ("第一批货", "第一批", "oldest"), ("最新の記録", "最新", "newest"),
        ("When did we first meet?", "first", "oldest"), ("zum ersten Mal", "ersten Mal", "oldest"),
        ("第一次见面", "第一次", "oldest"), ("初めて会った日", "初めて", "oldest"),
    ],
)  # fmt: skip
def test_an_order_of_days_is_no_stretch(text: str, words: str, order: str) -> None:
    (span,) = find_dates(text, TODAY)
    assert (span.text, span.order, span.start, span.end) == (words, order, None, None)


@pytest.mark.parametrize(
    ("text", "month_first", "day_first", "read"),
    [
        ("7/12/2023", "2023-07-12", "2023-12-07", True),
        ("7/12/23", "2023-07-12", "2023-12-07", True),
        ("7/7/2023", "2023-07-07", "2023-07-07", False),
        ("13/12/2023", "2023-12-13", "2023-12-13", False),
        ("12/13/2023", "2023-12-13", "2023-12-13", False),
        ("7/12", "2025-07-12", "2025-12-07", True),
        ("1/2", "2026-01-02", "2026-02-01", True),
        ("13/12", "2025-12-13", "2025-12-13", False),
    ],
)
def test_a_date_in_slashes_is_read_as_it_is_set(
    text: str, month_first: str, day_first: str, read: bool
) -> None:
    for start, is_set in ((month_first, False), (day_first, True)):
        (span,) = find_dates(f"on {text}?", TODAY, day_first=is_set)
        assert (span.start, span.end) == (start, start)
        assert span.read == (("day first" if is_set else "month first") if read else "")
        assert parse_date(text, TODAY, day_first=is_set).start == start


@pytest.mark.parametrize(
    "text",
    [
        "Марта любит чай",
        "до свидания",
        "книга с картинками",
        "일이 많다",
        "2026-02-30", "2026-13-01", "2023-02-29", "20261399", "February 30", "2026-00",
        "0000-01-01", "30.02.2026", "2月30日", "13月", "99999 days ago", "9999 years ago",
        "3000年前", "v2026.02.10", "version 1.2.3", "python 3.11", "$2023", "#20260210", "€2026",
        "2023%", "memory/2026-02-10.md", "/2026/02/10", "2026-02-10-release", "PROJ-2023",
        "1234567", "it may rain", "it may 7 times", "march on", "in may", "in march",
        "may march sun sat mon", "the sun", "wed them", "a Mayor", "Sundays", "Decemberist",
        "January budget", "second of May", "in 2000000", "in 2999", "from 10 to 12", "10 days",
        "a week", "last day", "the last one", "2/30/2026", "13/13/2023", "May", "12:30",
        "port 2026", "2999", "release notes 2026", "room 7/12", "a score of 7/12", "7/12 of them",
        "in 7/12 of the cases", "in 1/2", "after 1/2 of it", "after 1/2 day", "24/7", "on 24/7",
        "ticket 12/2025", "13/2025", "version 3.2.", "what is new in version 3.2.", "since 3.2.",
        "upgraded to Ubuntu 22.04.", "nach Version 3.2.", "3.2. Ofen", "am 31.02.", "um 21.09 Uhr",
        "Audi Q3", "answer to question Q3", "third quarter of the game",
        "Christmas presents for Odette", "an Easter egg", "the Easter bunny", "Merry Christmas",
        "1/2/345", "Q5 2023", "H3 2023", "summer", "in the summer", "in 2021/22",
        "every Monday", "jeden Montag", "Black Friday", "Good Friday", "USA Today", "New Year 2025",
        "after the June outage", "before the May release", "since the 2023 reunion in Graz",
        "nach dem Juni Ausfall", "before lunch", "after 5 years",
        "between you and me", "from 5 to 8 people", "since then",
        "not 2000 but 3000", "not later than expected", "not before lunch", "no", "except", "not",
        "first place", "first aid", "second half", "early bird", "the end of it", "last one",
        "When did he buy his first car?", "at 1.2.33", "10 to 12", "May 7-3, 2023",
        "五月天", "第一次世界大战",
        # What is first or last in a row, a text or a contest.
        "first name", "last name", "her first name", "the last name of Odette", "first floor",
        "first class ticket", "first prize", "last resort", "last minute", "last straw",
        "last line of the file", "the last page", "how do I get the first element",
        "what is the first argument of parse", "first three rows", "first step", "last chapter",
        "first draft", "first response target", "last verse of the song",
        "first person to walk on the moon",
        "Erste Hilfe", "in erster Linie", "erster Platz", "letzte Zeile der Datei",
        "erstes Kapitel", "die letzte Seite", "letzten Endes", "Vorname und Nachname",
        "第一名", "第一章", "最后一行", "最后一页", "最后", "首先", "第一手", "最新鲜的面包",
        # What is no place in a row.
        "at last", "at first", "first, what is the port?", "first of all", "first and foremost",
        "first come first served", "last but not least", "how long does the battery last",
        "will it last until spring", "who came first", "the last of the flour", "at the latest",
        "at the earliest", "latest by noon", "in the first place", "at first glance",
        "the bread is baked by noon at the latest",
        "in the last few releases", "zuerst", "als letztes", "am letzten Tag",
        # What someone has.
        "my first car", "his first job", "past meetings",
        "毎週火曜日", "每周三", "3月間", "夏天", "一周一次", "两个月",
        "周末", "一周年", "",
    ],
)  # fmt: skip
def test_what_only_looks_like_a_date_is_none(text: str) -> None:
    assert find_dates(text, TODAY) == ()


def test_two_dates_that_nothing_joins_are_two() -> None:
    for text in ("5月3日 5月7日", "5月3日5月7日", "5月3日和5月7日", "3 May 7 May", "3 May, 7 May"):
        assert [span.start for span in find_dates(text, TODAY)] == ["2025-05-03", "2025-05-07"]
    months = find_dates("between May 2023 or July 2023", TODAY)
    assert [span.text for span in months] == ["May 2023", "July 2023"]
    backwards = find_dates("2025年5月4日到2024年3月1日", TODAY)
    assert [span.start for span in backwards] == ["2025-05-04", "2024-03-01"]
    (span,) = find_dates("5月3日 ~ 5月7日 まで", TODAY)
    assert (span.start, span.end, span.text) == ("2025-05-03", "2025-05-07", "5月3日 ~ 5月7日")


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
        ("may", "2025-05-01", "2025-05-31"), ("January", "2026-01-01", "2026-01-31"),
        ("tue", "2026-02-10", "2026-02-10"), ("monday", "2026-02-09", "2026-02-09"),
        ("the last 30 days", "2026-01-12", "2026-02-11"),
        ("in the last 30 days", "2026-01-12", "2026-02-11"),
        ("Die letzten 30 Tage", "2026-01-12", "2026-02-11"), ("3.2.", "2026-02-03", "2026-02-03"),
    ],
)  # fmt: skip
def test_a_flag_takes_a_date_that_is_none_in_a_sentence(text: str, start: str, end: str) -> None:
    span = parse_date(text, TODAY)
    assert (span.start, span.end, span.text, span.at) == (start, end, text.strip(), 0)


def test_a_flag_takes_any_year() -> None:
    for year in ("1999", "2025", "2029", "in 2041"):
        span = parse_date(year, TODAY)
        assert (span.start, span.end) == (f"{year[-4:]}-01-01", f"{year[-4:]}-12-31")


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


ENGLISH = "January February March April May June July August September October November December"
GERMAN = "Januar Februar März April Mai Juni Juli August September Oktober November Dezember"
SIGNS = "〇一二三四五六七八九"


def chinese(number: int) -> str:
    """Write a number below a hundred as Chinese does."""
    tens, ones = divmod(number, 10)
    return (
        ("" if tens < 2 else SIGNS[tens]) + ("十" if tens else "") + (SIGNS[ones] if ones else "")
    )


def written(day: date) -> list[str]:
    """Write a day of the years 2000 to 2099 in every form that names its year."""
    year, month, number = day.year, day.month, day.day
    english, german = ENGLISH.split()[month - 1], GERMAN.split()[month - 1]
    digits = "".join(SIGNS[int(digit)] for digit in str(year))
    return [
        f"{day:%Y-%m-%d}", f"{day:%Y/%m/%d}", f"{day:%Y%m%d}", f"{day:%d.%m.%Y}", f"{day:%d.%m.%y}",
        f"{month}/{number}/{year}", f"{number} {english} {year}", f"{english} {number}, {year}",
        f"{english[:3]} {number} {year}", f"{number}. {german} {year}",
        f"{year}年{month}月{number}日", f"{year}年{month}月{number}号",
        f"{digits}年{chinese(month)}月{chinese(number)}日",
        *([f"令和{year - 2018}年{month}月{number}日"] if year > 2018 else []),
    ]  # fmt: skip


IN_2000S = st.dates(date(2000, 1, 1), date(2099, 12, 31))


@given(IN_2000S, st.dates())
def test_every_form_of_a_day_is_read_back(day: date, today: date) -> None:
    for form in written(day):
        (span,) = find_dates(f"~ {form} ~", today)
        assert (span.start, span.end, span.text) == (day.isoformat(), day.isoformat(), form)
        assert parse_date(form, today).start == day.isoformat()
    (span,) = find_dates(f"{day.day}/{day.month}/{day.year}", today, day_first=True)
    assert span.start == day.isoformat()


@given(IN_2000S, IN_2000S)
def test_every_form_of_a_day_bounds_and_joins(one: date, two: date) -> None:
    first, last = sorted((one, two))
    day, start, end = timedelta(1), first.isoformat(), last.isoformat()
    for form, other in zip(written(first)[:10], written(last)[:10], strict=True):
        expected = {
            f"since {form}": (start, None),
            f"until {form}": (None, start),
            f"before {form}": (None, (first - day).isoformat()),
            f"after {form}": ((first + day).isoformat(), None),
            f"between {form} and {other}": (start, end),
            f"from {form} to {other}": (start, end),
        }
        for text, ends in expected.items():
            (span,) = find_dates(f"{text}?", TODAY)
            assert (span.start, span.end, span.text) == (*ends, text)
    for form, other in zip(written(first)[10:13], written(last)[10:13], strict=True):
        (span,) = find_dates(f"从{form}到{other}", TODAY)
        assert (span.start, span.end) == (start, end)
        assert find_dates(f"{form}以来", TODAY)[0].end is None
        assert find_dates(f"{form}之前", TODAY)[0].start is None


WORDS = """
    last this past a 3 0 9999 99 week days month year ago vor Tagen in on of the May may 7 7th 2023
    31 Feb Sunday Sun yesterday 2026-02-10 2026-02-31 , . 上 周 一 3天前 月 年 2023年 13月 日
    before after since until between from to and early end half Q3 summer first latest week before
    not except no later than nicht 除了 以外 不早于
    next 7/12/2023 .. - – 令和 元年 五 四 到 从 之前 以来 夏 季度 先 曜日 から まで
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
        ends = [date.fromisoformat(end) for end in (span.start, span.end) if end]
        assert ends == sorted(ends)
        assert bool(ends) != bool(span.order)
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


def test_dates_stand_within_the_first_ten_thousand_characters() -> None:
    word, pasted = " yesterday", "x" * (MAX_CHARS - len(" yesterday"))
    assert [span.text for span in find_dates(pasted + word, TODAY)] == ["yesterday"]
    assert find_dates(f"{pasted}x{word}", TODAY) == ()
    assert MAX_CHARS == 10_000


@pytest.mark.parametrize("text", ["2月30日和3月1日", "在2月30日还是3月1日"])
def test_behind_a_day_that_does_not_exist_dates_are_read(text: str) -> None:
    assert [span.start for span in find_dates(text, TODAY)] == ["2025-03-01"]


def test_each_of_three_days_that_follow_one_another_is_read() -> None:
    found = find_dates("6月1日，6月3日，6月5日", TODAY)
    assert [span.start for span in found] == ["2025-06-01", "2025-06-03", "2025-06-05"]
    found = find_dates("6月1日到6月3日和6月5日", TODAY)
    assert [(span.start, span.end) for span in found] == [
        ("2025-06-01", "2025-06-03"),
        ("2025-06-05", "2025-06-05"),
    ]


def test_a_span_that_ends_before_it_begins_is_shown_turned_round() -> None:
    bounds = bounds_of({"--since": "7 May 2025", "--until": "1 May 2025"}, TODAY, day_first=True)
    with pytest.raises(UsageError, match="from 2025-05-07 to 2025-05-01") as caught:
        span_of(bounds)
    assert caught.value.hint == "--since '1 May 2025' --until '7 May 2025'"
    assert span_of(bounds[:1]) == ("2025-05-07", None)
    assert span_of([*bounds[:1], *bounds[:1]]) == ("2025-05-07", None)


@pytest.mark.parametrize(
    ("given_to", "text", "missing"),
    [("--since", "before May", "first day"), ("--until", "after May", "last day")],
)
def test_a_bound_of_a_stretch_that_is_open_there_says_which_day_it_lacks(
    given_to: str, text: str, missing: str
) -> None:
    with pytest.raises(UsageError) as caught:
        bounds_of({given_to: text}, TODAY, day_first=True)
    assert str(caught.value) == f"{given_to} wants a day, and {text!r} has no {missing}"


@pytest.mark.parametrize(
    ("words", "year"),
    [
        ("大前年", 2023), ("前年", 2024), ("一昨年", 2024), ("去年", 2025), ("昨年", 2025),
        ("今年", 2026), ("本年", 2026), ("明年", 2027), ("来年", 2027), ("來年", 2027),
        ("令和元年", 2019), ("令和六年", 2024), ("平成31年", 2019), ("昭和64年", 1989),
        ("二〇二四年", 2024), ("一九九〇年", 1990),
    ],
)  # fmt: skip
def test_years_by_their_names(words: str, year: int) -> None:
    (span,) = find_dates(f"{words}会议", TODAY)
    assert (span.start, span.end, span.text) == (f"{year}-01-01", f"{year}-12-31", words)


@pytest.mark.parametrize(
    ("words", "monday"),
    [
        ("上上周 先々週", "2026-01-26"), ("上周 先週 上个星期", "2026-02-02"),
        ("这周 這週 本周 今週", "2026-02-09"), ("下周 来週 來週", "2026-02-16"),
        ("下下周 再来週", "2026-02-23"),
    ],
)  # fmt: skip
def test_weeks_by_their_names(words: str, monday: str) -> None:
    sunday = date.fromisoformat(monday) + timedelta(6)
    for word in words.split():
        (span,) = find_dates(f"{word}会议", TODAY)
        assert (span.start, span.end, span.text) == (monday, sunday.isoformat(), word)


@pytest.mark.parametrize(
    ("season", "first", "last"),
    [
        ("summer", "2025-06-01", "2025-08-31"),
        ("autumn", "2025-09-01", "2025-11-30"),
        ("winter", "2025-12-01", "2026-02-28"),
    ],
)
def test_the_last_season_is_over(season: str, first: str, last: str) -> None:
    end = date.fromisoformat(last)
    (span,) = find_dates(f"last {season}", end + timedelta(1))
    assert (span.start, span.end) == (first, last)
    (span,) = find_dates(f"last {season}", end)
    assert span.end is not None
    assert span.end < first


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("自从2024年5月", "2024-05-01", None), ("自2024年5月", "2024-05-01", None),
        ("不早于2024年5月", "2024-05-01", None), ("早于2024年5月", None, "2024-04-30"),
        ("不晚于2024年5月", None, "2024-05-31"), ("晚于2024年5月", "2024-06-01", None),
        ("直到2024年5月", None, "2024-05-31"),
    ],
)  # fmt: skip
def test_a_lead_is_read_whole(text: str, start: str | None, end: str | None) -> None:
    (span,) = find_dates(text, TODAY)
    assert (span.text, span.start, span.end) == (text, start, end)


def test_before_the_first_day_there_is_nothing() -> None:
    (span,) = find_dates("999年前以前", date(1000, 6, 1))
    assert (span.start, span.text) == ("0001-01-01", "999年前")


def test_a_year_is_one_up_to_the_next() -> None:
    assert [span.start for span in find_dates("the year 2027", TODAY)] == ["2027-01-01"]
    assert find_dates("the year 2028", TODAY) == ()


@pytest.mark.parametrize(
    ("text", "days", "names"),
    [
        ("Nyssen now says 3 October.", ("2026-10-03", "2026-10-03"), True),
        ("on October 3rd, 2026, at noon", ("2026-10-03", "2026-10-03"), True),
        ("am 3. Oktober", ("2026-10-03", "2026-10-03"), True),
        ("Am 03.10. ist Feiertag.", ("2026-10-03", "2026-10-03"), True),
        ("Stand 3.10.2026", ("2026-10-03", "2026-10-03"), True),
        ("The server runs Python 3.10.", ("2026-10-03", "2026-10-03"), False),
        ("see 2026-10-03.md", ("2026-10-03", "2026-10-03"), True),
        ("10月3日", ("2026-10-03", "2026-10-03"), True),
        ("on 3 October 2025", ("2026-10-03", "2026-10-03"), False),
        ("on 13 October or October 31", ("2026-10-03", "2026-10-03"), False),
        ("3 in October, version 1.3.10.2", ("2026-10-03", "2026-10-03"), False),
        ("| May | 148 | 9,176 |", ("2026-05-01", "2026-05-31"), True),
        ("May I ask?", ("2026-05-01", "2026-05-31"), False),
        ("the game in October", ("2026-10-01", "2026-10-31"), True),
        ("the game in October 2024", ("2026-10-01", "2026-10-31"), False),
    ],
)
def test_a_text_names_a_day_or_a_month(text: str, days: tuple[str, str], *, names: bool) -> None:
    assert mentions(text, *days, "2026-09-18") == mentions(text, *days, None) == names
    assert not mentions(text, *days, "2025-01-18")  # of that year
