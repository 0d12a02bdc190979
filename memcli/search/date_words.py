"""The words that dates are made of, and the days they stand for; the grammar is `dates`."""

from __future__ import annotations

from datetime import date, timedelta

Days = tuple[date, date]


def _table(*groups: str, first: int = 1) -> dict[str, int]:
    """Give each word the number of its group."""
    return {word: number for number, group in enumerate(groups, first) for word in group.split()}


MONTHS = _table(
    "january jan januar jänner",
    "february feb februar",
    "march mar märz maerz",
    "april apr",
    "may mai",
    "june jun juni",
    "july jul juli",
    "august aug",
    "september sep sept",
    "october oct oktober okt",
    "november nov",
    "december dec dezember dez",
)
AMBIGUOUS_MONTHS = ("may", "march", "mar", "august")
WEEKDAYS = _table(
    "monday montag",
    "tuesday dienstag",
    "wednesday mittwoch",
    "thursday donnerstag",
    "friday freitag",
    "saturday samstag sonnabend",
    "sunday sonntag",
    first=0,
)
_SHORT_WEEKDAYS = _table("mon", "tue tues", "wed", "thu thur thurs", "fri", "sat", "sun", first=0)
NUMBERS = _table(
    "a an one ein eine einem einer einen 一",
    "two zwei 二 两 兩",
    "three drei 三",
    "four vier 四",
    "five fünf 五",
    "six sechs 六",
    "seven sieben 七",
    "eight acht 八",
    "nine neun 九",
    "ten zehn 十",
)
DAY_WORDS = _table(
    "大前天",
    "vorgestern 前天",
    "yesterday gestern 昨天 昨日 昨晚",
    "today tonight heute 今天 今日 今晚 今早",
    "tomorrow 明天",
    first=-3,
)
DAY, WEEK, MONTH, YEAR, WEEKEND = range(5)
UNITS = _table(
    "day days tag tage tagen 天 日",
    "week weeks woche wochen 周 週 星期 礼拜 禮拜",
    "month months monat monate monaten 月",
    "year years jahr jahre jahren 年",
    "weekend wochenende 周末 週末",
    first=DAY,
)
AT_WORDS = _table("in on during since until till before after im am seit bis vor nach")
LAST_WORDS = _table("last past letzte letzten letzter letztes vorige vorigen voriges vergangene")
THIS_WORDS = _table("this diese diesen dieser dieses")
YEAR_WORDS = _table("year jahr jahre")
NEAR_YEARS = {"今年": 0, "去年": 1, "前年": 2}
_FIRST_YEAR, _LAST_YEAR = 1900, 2100  # another number is more often an amount


def as_number(word: str) -> int | None:
    """Read a number of up to four digits, or a number word up to ten."""
    return int(word) if word.isdecimal() and len(word) <= 4 else NUMBERS.get(word)


def as_year(word: str) -> int | None:
    """Read a number that is more likely a year than an amount."""
    year = int(word) if word.isdecimal() and len(word) == 4 else 0
    return year if _FIRST_YEAR <= year <= _LAST_YEAR else None


def as_weekday(word: str) -> int | None:
    """Read a weekday; the short ones need a capital, for `sun` and `wed` are words."""
    low = word.lower()
    short = _SHORT_WEEKDAYS.get(low) if word[:1].isupper() else None
    return WEEKDAYS.get(low, short)


def one_day(day: date) -> Days:
    """Give the span of one day."""
    return day, day


def year_days(year: int) -> Days:
    """Give the first and the last day of a year."""
    return date(year, 1, 1), date(year, 12, 31)


def month_days(year: int, month: int) -> Days:
    """Give the first and the last day of a month."""
    following = date(year + month // 12, month % 12 + 1, 1)
    return date(year, month, 1), following - timedelta(1)


def back(unit: int, number: int, today: date) -> Days:
    """Give the whole day, week, month, year or weekend that lies so many before this one."""
    if unit == DAY:
        return one_day(today - timedelta(number))
    if unit == MONTH:
        year, month = divmod(today.year * 12 + today.month - 1 - number, 12)
        return month_days(year, month + 1)
    if unit == YEAR:
        return year_days(today.year - number)
    monday = today - timedelta(today.weekday() + 7 * number)
    return monday + timedelta(5 if unit == WEEKEND else 0), monday + timedelta(6)


def before(unit: int, number: int, today: date) -> date:
    """Give the day that lies so many days, weeks, months or years before today."""
    if unit in (DAY, WEEK):
        return today - timedelta(number * (7 if unit == WEEK else 1))
    first, last = back(MONTH, number * (12 if unit == YEAR else 1), today)
    return first.replace(day=min(today.day, last.day))


def recent(weekday: int, today: date) -> date:
    """Give the last such weekday that is not after today."""
    return today - timedelta((today.weekday() - weekday) % 7)


def latest(today: date, month: int, day: int) -> date:
    """Give the last such day that is not after today; 29 February may be years ago."""
    for year in range(today.year, today.year - 9, -1):
        if (month, day) == (2, 29) and year % 4:
            continue
        if (found := date(year, month, day)) <= today:
            return found
    raise ValueError(day)
