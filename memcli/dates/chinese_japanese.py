"""The grammar of dates in Chinese and Japanese, and of some in Korean; pure.

One pattern finds every single date. Words that join two dates, or make a date a bound, come
directly before or after it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta

from memcli.dates import words
from memcli.dates.words import Days, Reading
from memcli.record import Record

# A text without any of these contains no date of this grammar.
SIGNS = frozenset("天日月年周週期拜曜季昨今朝夜最次回批初おあき년월일제늘작올주달")

_DIGITS = {sign: n for n, sign in enumerate("〇一二三四五六七八九")} | {"零": 0, "两": 2, "兩": 2}
_NUMBER = r"(?:\d{1,2}|[一二三四五六七八九十]{1,3})"
_DAY_SIGN = "[日号號]"
_ERAS = {"令和": 2018, "平成": 1988, "昭和": 1925}  # the year before the first
_NEAR_YEARS = {
    "大前年": 3, "前年": 2, "一昨年": 2, "去年": 1, "昨年": 1, "今年": 0, "本年": 0,
    "明年": -1, "来年": -1, "來年": -1,
}  # fmt: skip
_SHIFTS = {
    "上上": 2, "先々": 2, "上": 1, "先": 1, "这": 0, "這": 0, "本": 0, "今": 0,
    "下": -1, "来": -1, "來": -1, "下下": -2, "再来": -2,
}  # fmt: skip
_YEAR = (
    r"(?:(?P<year>(?<!\d)(?:19|20)\d\d|[一二][〇零一二三四五六七八九]{3})年"
    rf"|(?P<era>{'|'.join(_ERAS)})(?P<of_era>元|{_NUMBER})年"
    rf"|(?P<near>{'|'.join(_NEAR_YEARS)}))"
)
_OF_YEAR = (
    rf"(?P<month>(?<![\d个個十]){_NUMBER})月(?![间間饼餅天])"
    rf"(?:[の ]?(?P<day>{_NUMBER}){_DAY_SIGN}|份?(?P<part>[初底末]|[上中下]旬)|份)?"
    r"|第?(?P<quarter>[1-4一二三四])(?:季度|四半期)|[Qq](?P<q>[1-4])(?!\w)"
    r"|(?P<half>[上下])半年"
)
_WEEK = "周|週間?|星期|礼拜|禮拜"
# The number of a weekday may belong to what follows: 上周一直 (all of last week), 上周三个会
# (three meetings last week).
_WEEKDAY = r"[一二三四五六日天](?![直些起样樣边邊共般个個次定天场場位名件])"
_WEEKDAYS = ("一二三四五六日", "一二三四五六天", "月火水木金土日")
_WORDS = sorted((word for word in words.DAY_WORDS if word > "\u3000"), key=len, reverse=True)
# A month without a year has its own groups.
_WITHOUT_YEAR = re.sub(r"P<(.+?)>", r"P<\1_>", _OF_YEAR)
_DATE = (
    rf"{_YEAR}[の的 ]?(?:{_OF_YEAR}|(?P<season>[春夏秋冬])[天季]?|年?(?P<edge>[初底末]))?"
    rf"|{_WITHOUT_YEAR}"
    rf"|(?<![\d第十])(?P<n>\d{{1,3}}|[一二两兩三四五六七八九十]{{1,3}})[个個か箇ヶケカ]?"
    rf"(?P<unit>天|日|{_WEEK}|月|年)[之以]?(?P<way>前|后|後)"
    rf"|(?P<which>{'|'.join(sorted(_SHIFTS, key=len, reverse=True))})[个個]?"
    rf"(?:(?P<period>周末|週末|月(?!曜)|季度)|(?P<this_season>[春夏秋冬])[天季]"
    rf"|(?:{_WEEK})の?(?P<of_week>[月火水木金土日]曜日?|{_WEEKDAY})?)"
    rf"|(?<![个個每毎隔\d一二两兩三四五六七八九十])(?:周|週|星期|礼拜|禮拜)(?P<weekday>{_WEEKDAY})"
    r"|(?<![每毎])(?<![每毎][周週])(?P<曜>[月火水木金土日])曜日?"
    rf"|(?P<word>{'|'.join(_WORDS)})"
)
# Words between two dates, after them, and before them. They are not a pattern, because a pattern
# with so many characters takes a millisecond to compile.
_TO = ("到", "至", "~", "〜", "～", "–", "—", "-", "から")
_AND = ("和", "与", "與", "と")
_AND_ENDS = ("之间", "之間", "间", "間", "の間")
_RANGE_ENDS = ("まで", "为止", "為止", *_AND_ENDS, "期间", "期間")
_SINCE_LEADS = ("从", "從", "自", "自从", "自從", "不早于", "不早於")
# They are tried in this order: 不早于 ends with 早于.
_LEADS: dict[str, tuple[str, ...]] = {
    "until": ("截至", "截止", "直到", "不晚于", "不晚於", "不迟于", "不遲於"),
    "since": _SINCE_LEADS,
    "before": ("早于", "早於"),
    "after": ("晚于", "晚於"),
    "except": ("除了", "不在"),
}
_LINKS = ("", "的", "の")
# Words that make a date a bound, and characters that turn a single one into another word:
# 前面, 后来, 起床.
_BOUNDS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("before", ("之前", "以前", "より前", "前"), "面往后後端任台天年日"),
    ("until", ("まで", "为止", "為止"), ""),
    ("since", ("以来", "以來", "至今", "以降", "开始", "開始", "から", "起"), "床来來初"),
    ("except", ("以外", "之外", "除外", "を除く", "を除いて"), ""),
    ("after", ("之后", "之後", "以后", "以後", "より後", "后", "後"), "来來天面端悔"),
)
_ORDERS = {
    "newest": (
        "最新", "最近一次", "最近的一次", "上一次", "上次", "上回", "前回", "最后一次", "最後一次",
        "最後に", "最后一批", "最後一批", "最近一批", "上一批",
    ),
    "oldest": ("第一次", "首次", "最早", "最初", "初めて", "第一批", "首批"),
}  # fmt: skip
_NO_ORDER = ("第一次世界", "第一次工业", "最新鲜", "最新鮮", "第一批判")


# Korean words with as many characters as the Chinese or Japanese ones, so that indexes stay valid.
_KOREAN = {
    "어제": "昨日", "오늘": "今日", "내일": "明日", "작년": "去年", "올해": "今年", "내년": "明年",
    "지난주": "先週の", "이번주": "今週の", "다음주": "来週の", "지난달": "上个月",
    "이번달": "本个月", "이전": "以前", "이후": "以後", "부터": "から", "까지": "まで",
    "월요일": "月曜日", "화요일": "火曜日", "수요일": "水曜日", "목요일": "木曜日",
    "금요일": "金曜日", "토요일": "土曜日", "일요일": "日曜日", "년": "年", "월": "月", "일": "日",
}  # fmt: skip
_KOREAN_WORD = rf"(?<=\d)[년월일]|{'|'.join(word for word in _KOREAN if len(word) > 1)}"


class _Atom(Record):
    """A single date."""

    start: int
    end: int
    days: Days
    has_year: bool


def read(text: str, today: date) -> Iterator[tuple[int, int, Reading]]:
    """Yield the dates of a text: start, end and meaning."""
    if any("\uac00" <= sign <= "\ud7a3" for sign in text):
        text = re.sub(_KOREAN_WORD, lambda word: _KOREAN[word[0]], text)
    atoms = list(_atoms(text, today))
    at = 0
    while at < len(atoms):
        match = _joined(text, atoms[at : at + 2]) or (1, *_bounded(text, atoms[at]))
        yield match[1:]
        at += match[0]
    for order, signs in _ORDERS.items():
        for word in signs:
            start = text.find(word)
            if start >= 0 and not text.startswith(_NO_ORDER, start):
                yield start, start + len(word), Reading(order=order)


def as_number(sign: str) -> int:
    """Read a number below a hundred: 4, 十二, 二十五, 三十."""
    if sign.isdecimal():
        return int(sign)
    tens, ten, ones = sign.rpartition("十")
    if any(part and part not in _DIGITS for part in (tens, ones)):
        raise ValueError(sign)
    return (_DIGITS.get(tens, 1) if ten else 0) * 10 + _DIGITS.get(ones, 0)


def _atoms(text: str, today: date) -> Iterator[_Atom]:
    for match in re.finditer(_DATE, text):
        try:
            days = _days(match, today)
        except (ValueError, OverflowError):  # not in the calendar
            continue
        if days:
            has_year = bool(match["year"] or match["era"] or match["near"])
            yield _Atom(match.start(), match.end(), days, has_year)


def _days(match: re.Match[str], today: date) -> Days | None:
    if match["year"] or match["era"] or match["near"]:
        return _of_year(match, _year(match, today))
    if match["month_"] or match["quarter_"] or match["q_"] or match["half_"]:
        return _without_year(match, today)
    if match["n"]:
        number, unit = as_number(match["n"]), words.UNITS[match["unit"]]
        return words.back(unit, number if match["way"] == "前" else -number, today)
    if match["word"]:
        return words.back(words.DAY, -words.DAY_WORDS[match["word"]], today)
    name = (match["weekday"] or match["of_week"] or match["曜"] or "")[:1]
    number = next((signs.index(name) for signs in _WEEKDAYS if name and name in signs), 0)
    if not match["which"]:
        return words.one_day(words.recent(number, today))
    shift = _SHIFTS[match["which"]]
    if match["this_season"]:
        return words.near_season(words.SEASONS[match["this_season"]], max(-1, min(1, shift)), today)
    if match["period"]:
        return words.back(words.UNITS[match["period"]], shift, today)
    week = words.back(words.WEEK, shift, today)
    return words.one_day(week[0] + timedelta(number)) if name else week


def _year(match: re.Match[str], today: date) -> int:
    if match["near"]:
        return today.year - _NEAR_YEARS[match["near"]]
    if match["era"]:
        number = 1 if match["of_era"] == "元" else as_number(match["of_era"])
        return _ERAS[match["era"]] + number
    return int("".join(str(_DIGITS.get(sign, sign)) for sign in match["year"]))


def _of_year(match: re.Match[str], year: int) -> Days:
    if match["season"]:
        return words.season_days(year, words.SEASONS[match["season"]])
    if match["edge"]:
        return words.share(words.year_days(year), "初 底末".index(match["edge"]) and 2, 3)
    return _of_that_year(match, "", year) or words.year_days(year)


def _of_that_year(match: re.Match[str], mark: str, year: int) -> Days | None:
    """Return the day, month, quarter or half year in the groups that end in `mark`."""
    if quarter := match["quarter" + mark] or match["q" + mark]:
        return words.quarter_days(year, as_number(quarter))
    if half := match["half" + mark]:
        return words.half_days(year, 1 if half == "上" else 2)
    if not match["month" + mark]:
        return None
    month = as_number(match["month" + mark])
    if day := match["day" + mark]:
        return words.one_day(date(year, month, as_number(day)))
    part = match["part" + mark]
    days = words.month_days(year, month)
    return words.share(days, {"初": 0, "上": 0, "中": 1}.get(part[0], 2), 3) if part else days


def _without_year(match: re.Match[str], today: date) -> Days | None:
    """Read a part of the year: the last one that has begun."""
    if match["day_"]:
        return words.one_day(
            words.latest(today, as_number(match["month_"]), as_number(match["day_"]))
        )
    days = _of_that_year(match, "_", today.year)
    if days and days[0] > today:
        return _of_that_year(match, "_", today.year - 1)
    return days


def _joined(text: str, atoms: list[_Atom]) -> tuple[int, int, int, Reading] | None:
    """Read two joined dates: 5月3日到7日, 从5月到7月, 5月と7月の間."""
    one = atoms[0]
    to = _joint(text, one.end, _TO)
    start = one.start - len(_lead(text, one.start, _SINCE_LEADS))
    if to > one.end and (until := _day_behind(text, to, one)):
        return 1, start, _behind(text, until[0], _RANGE_ENDS), Reading(one.days[0], until[1])
    if len(atoms) < 2:
        return None
    two = atoms[1]
    end = _behind(text, two.end, _RANGE_ENDS)
    is_pair = _behind(text, two.end, _AND_ENDS) > two.end
    if two.start != to and not (is_pair and two.start == _joint(text, one.end, _AND)):
        return None
    if two.start == one.end:
        return None
    try:
        return 2, start, end, Reading(*_in_order(one, two))
    except ValueError:  # not in the calendar
        return None


def _day_behind(text: str, at: int, one: _Atom) -> tuple[int, date] | None:
    """Read the 7日 of 5月3日到7日: its end and its day."""
    match = re.compile(f"({_NUMBER}){_DAY_SIGN}").match(text, at)
    first, last = one.days
    if not match or first != last:
        return None
    try:
        day = first.replace(day=as_number(match[1]))
    except ValueError:  # not in the calendar
        return None
    return (match.end(), day) if day >= first else None


def _in_order(one: _Atom, two: _Atom) -> Days:
    """Return the days from one date to another; if only one has a year, both have it."""
    first, last = one.days[0], two.days[1]
    if one.has_year and not two.has_year:
        last = last.replace(year=first.year)
    elif two.has_year and not one.has_year:
        first = first.replace(year=last.year)
    elif first > last and not one.has_year:
        first = first.replace(year=first.year - 1)
    if first > last:
        raise ValueError(first)
    return first, last


def _bounded(text: str, atom: _Atom) -> tuple[int, int, Reading]:
    """Read a date that is a bound or excluded: 5月4日以后, 从昨天起, 除了上周."""
    for name, signs, unlike in _BOUNDS:
        end = _bound_end(text, atom.end, signs, unlike)
        if end > atom.end and (reading := _meaning(name, atom.days)):
            lead = _lead(text, atom.start, _LEADS.get(name, ()))
            return atom.start - len(lead), end, reading
    for name, signs in _LEADS.items():
        lead = _lead(text, atom.start, signs)
        if lead and (reading := _meaning(name, atom.days)):
            return atom.start - len(lead), atom.end, reading
    return atom.start, atom.end, Reading(*atom.days)


def _meaning(name: str, days: Days) -> Reading | None:
    """Return the days before, after or around a range; None after the last day of the calendar."""
    first, last = days
    day = timedelta(1)
    if name == "except":
        return Reading(first, last, excluded=True)
    if name in ("since", "until"):
        return Reading(first) if name == "since" else Reading(None, last)
    if name == "before":
        return Reading(None, first - day) if first > date.min else None
    return Reading(last + day) if last < date.max else None


def _lead(text: str, at: int, signs: tuple[str, ...]) -> str:
    """Return the longest of the words that ends right before a place, or ""."""
    return max((word for word in signs if text.endswith(word, 0, at)), key=len, default="")


def _behind(text: str, at: int, signs: tuple[str, ...]) -> int:
    """Return the end of the word at a place; the place itself if there is none."""
    return at + max((len(word) for word in signs if text.startswith(word, at)), default=0)


def _joint(text: str, at: int, signs: tuple[str, ...]) -> int:
    """Return where the next date would begin after a joining word and its spaces."""
    first = at + _spaces(text, at)
    end = _behind(text, first, signs)
    return end + _spaces(text, end) if end > first else at


def _spaces(text: str, at: int) -> int:
    near = text[at : at + 10]
    return len(near) - len(near.lstrip())


def _bound_end(text: str, at: int, signs: tuple[str, ...], unlike: str) -> int:
    """Return the end of the bound after a date that ends at a place, or the place itself."""
    for word in signs:
        for link in _LINKS:
            end = at + len(link) + len(word)
            is_other = len(word) == 1 and text[end : end + 1] in tuple(unlike)
            if text.startswith(link + word, at) and not is_other:
                return end
    return at
