"""The words that dates consist of, and the days that they mean; pure.

The grammars are `english_german`, with the rules in `absolute`, `parts` and `holidays`, and
`chinese_japanese`.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta

from memcli.record import Record

Days = tuple[date, date]


class Seen(Record):
    """The day of the question, and how 7/12/2023 is read."""

    today: date
    day_first: bool


# A rule of the English and German grammar gets the words of a text from one place on, as they are
# typed and in lower case, with empty strings after the last word.
DateMatch = tuple[int, Days]  # number of words, and their meaning
Rule = Callable[[list[str], list[str], Seen], DateMatch | None]


class Reading(Record):
    """The meaning of words: a range of days (None: open), or an order of days."""

    first: date | None = None
    last: date | None = None
    order: str = ""  # newest | oldest
    excluded: bool = False  # all other days are meant


def _table(*groups: str, first: int = 1) -> dict[str, int]:
    """Map each word to the index of its group."""
    return {word: number for number, group in enumerate(groups, first) for word in group.split()}


MONTHS = _table(
    "january jan januar jänner январь января январе يناير",
    "february feb februar февраль февраля феврале فبراير",
    "march mar märz maerz март марта марте مارس",
    "april apr апрель апреля апреле أبريل ابريل إبريل",
    "may mai май мая мае مايو",
    "june jun juni июнь июня июне يونيو",
    "july jul juli июль июля июле يوليو",
    "august aug август августа августе أغسطس اغسطس",
    "september sep sept сентябрь сентября сентябре سبتمبر",
    "october oct oktober okt октябрь октября октябре أكتوبر اكتوبر",
    "november nov ноябрь ноября ноябре نوفمبر",
    "december dec dezember dez декабрь декабря декабре ديسمبر",
)
AMBIGUOUS_MONTHS = ("may", "march", "mar", "august")
WEEKDAYS = _table(
    "monday montag понедельник понедельника",
    "tuesday dienstag вторник вторника",
    "wednesday mittwoch среда среду среды",
    "thursday donnerstag четверг четверга",
    "friday freitag пятница пятницу пятницы",
    "saturday samstag sonnabend суббота субботу субботы",
    "sunday sonntag воскресенье воскресенья",
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
    "eleven elf",
    "twelve zwölf",
)
DAY_WORDS = _table(
    "大前天",
    "vorgestern 前天 一昨日 おととい позавчера",
    "yesterday gestern 昨天 昨日 昨晚 昨夜 きのう вчера أمس امس",
    "today tonight heute 今天 今日 今晚 今早 今朝 今夜 сегодня",
    "tomorrow 明天 明日 завтра",
    "übermorgen 后天 後天 明後日 あさって послезавтра",
    "大后天 大後天",
    first=-3,
)
DAY, WEEK, MONTH, QUARTER, YEAR, WEEKEND = range(6)
UNITS = _table(
    "day days tag tage tagen 天 日 день дня дней",
    "week weeks woche wochen 周 週 週間 星期 礼拜 禮拜 неделя неделю недели неделе недель",
    "month months monat monate monaten 月 месяц месяца месяце месяцев",
    "quarter quarters quartal quartale quartalen 季度",
    "year years jahr jahre jahren 年 год года году лет",
    "weekend wochenende 周末 週末",
    first=DAY,
)
# Meteorological seasons of the northern hemisphere.
SEASONS = _table(
    "spring frühling frühjahr 春",
    "summer sommer 夏",
    "autumn fall herbst 秋",
    "winter 冬",
    first=0,
)
ORDINALS = _table(
    "first 1st ersten erste erstes",
    "second 2nd zweiten zweite zweites",
    "third 3rd dritten dritte drittes",
    "fourth 4th vierten vierte viertes",
)
LAST_WORDS = _table(
    "last past letzte letzten letzter letztes letztem vorige vorigen voriges vergangene vergangenen"
    " прошлый прошлой прошлую прошлом"
)
THIS_WORDS = _table("this diese diesen dieser dieses этой этом эту")
NEXT_WORDS = _table("next coming nächste nächsten nächster nächstes kommende kommenden")
BEFORE_LAST_WORDS = _table("vorletzte vorletzten vorletzter vorletztes")
# Words before a date that make it a bound, or only introduce it.
AT_WORDS = _table("in on during from im am vom von в во في")
SINCE_WORDS = _table("since seit ab с со منذ")
UNTIL_WORDS = _table("until till bis")
BEFORE_WORDS = _table("before vor до")
AFTER_WORDS = _table("after nach после")
EXCEPT_WORDS = _table("not nicht except excluding außer ausser")
YEAR_WORDS = _table("year jahr jahre")
_FIRST_YEAR, _LAST_YEAR = 1900, 2100  # other numbers are more often amounts


def as_number(word: str) -> int | None:
    """Read a number of up to four digits, or a number word up to ten."""
    return int(word) if word.isdecimal() and len(word) <= 4 else NUMBERS.get(word)


def as_year(word: str) -> int | None:
    """Read a number that is more likely a year than an amount."""
    year = int(word) if word.isdecimal() and len(word) == 4 else 0
    return year if _FIRST_YEAR <= year <= _LAST_YEAR else None


def as_weekday(word: str) -> int | None:
    """Read a weekday; short ones need a capital, because `sun` and `wed` are words."""
    low = word.lower()
    short = _SHORT_WEEKDAYS.get(low) if word[:1].isupper() else None
    return WEEKDAYS.get(low, short)


def one_day(day: date) -> Days:
    """Return the span of one day."""
    return day, day


def year_days(year: int) -> Days:
    """Return the first and the last day of a year."""
    return date(year, 1, 1), date(year, 12, 31)


def month_days(year: int, month: int) -> Days:
    """Return the first and the last day of a month."""
    following = date(year + month // 12, month % 12 + 1, 1)
    return date(year, month, 1), following - timedelta(1)


def quarter_days(year: int, quarter: int) -> Days:
    """Return the first and the last day of a quarter, 1 to 4."""
    return month_days(year, 3 * quarter - 2)[0], month_days(year, 3 * quarter)[1]


def begun(days_of: Callable[[int], Days], today: date) -> Days:
    """Return the days of this year if they have begun, else those of the year before."""
    days = days_of(today.year)
    return days if days[0] <= today else days_of(today.year - 1)


def latest_quarter(quarter: int, today: date) -> Days:
    """Return the last such quarter that has begun."""
    return begun(lambda year: quarter_days(year, quarter), today)


def shift_of(word: str) -> int | None:
    """Return how far back a period is: 0 for this, 1 for last and -1 for next."""
    near = (THIS_WORDS, LAST_WORDS, NEXT_WORDS)
    return next((by for words, by in zip(near, (0, 1, -1), strict=True) if word in words), None)


def half_days(year: int, half: int) -> Days:
    """Return the first and the last day of half a year, 1 or 2."""
    return quarter_days(year, 2 * half - 1)[0], quarter_days(year, 2 * half)[1]


def season_days(year: int, season: int) -> Days:
    """Return the first and the last day of a season; a winter ends in the year after."""
    first, month = month_days(year, 3 * season + 3)[0], 3 * season + 5
    return first, month_days(year + month // 13, (month - 1) % 12 + 1)[1]


def near_season(season: int, back_by: int, today: date) -> Days:
    """Return this season (0), the last one that is over (1) or the next one (-1)."""
    return near(lambda year: season_days(year, season), back_by, today)


def near(days_of: Callable[[int], Days], back_by: int, today: date) -> Days:
    """Return what comes every year and is not over (0), the last that is (1), or the next (-1)."""
    every = [days_of(year) for year in range(today.year - 2, today.year + 3)]
    if back_by > 0:
        return [days for days in every if days[1] < today][-1]
    return next(days for days in every if (days[0] > today if back_by else today <= days[1]))


def share(days: Days, number: int, of: int) -> Days:
    """Return one of so many equal shares of a range, from 0: the middle third is 1 of 3."""
    length = (days[1] - days[0]).days + 1
    first, last = (days[0] + timedelta(length * n // of) for n in (number, number + 1))
    return first, last - timedelta(1)


def back(unit: int, number: int, today: date) -> Days:
    """Return the whole day, week, month, quarter, year or weekend `count` before this one."""
    if unit == DAY:
        return one_day(today - timedelta(number))
    if unit == MONTH:
        year, month = divmod(today.year * 12 + today.month - 1 - number, 12)
        return month_days(year, month + 1)
    if unit == QUARTER:
        year, quarter = divmod(today.year * 4 + (today.month - 1) // 3 - number, 4)
        return quarter_days(year, quarter + 1)
    if unit == YEAR:
        return year_days(today.year - number)
    monday = today - timedelta(today.weekday() + 7 * number)
    return monday + timedelta(5 if unit == WEEKEND else 0), monday + timedelta(6)


def before(unit: int, number: int, today: date) -> date:
    """Return the day `count` days, weeks, months, quarters or years before today."""
    if unit in (DAY, WEEK):
        return today - timedelta(number * (7 if unit == WEEK else 1))
    months = {QUARTER: 3, YEAR: 12}.get(unit, 1)
    first, last = back(MONTH, number * months, today)
    return first.replace(day=min(today.day, last.day))


def recent(weekday: int, today: date) -> date:
    """Return the last such weekday that is not after today."""
    return today - timedelta((today.weekday() - weekday) % 7)


def latest(today: date, month: int, day: int) -> date:
    """Return the last such day that is not after today; 29 February may be years ago."""
    for year in range(today.year, today.year - 9, -1):
        if (month, day) == (2, 29) and year % 4:
            continue
        if (candidate := date(year, month, day)) <= today:
            return candidate
    raise ValueError(day)
