"""A question: its text, its day, the days that it names, and its terms."""

from __future__ import annotations

from datetime import date, datetime

from memcli.checking import TYPE_CHECKING
from memcli.errors import UsageError
from memcli.record import Record
from memcli.search.query import ParsedQuery, parse
from memcli.workspace.dating import age_at, day_of

if TYPE_CHECKING:
    from memcli.config.settings import Config
    from memcli.dates.find import DateSpan

# A text in ASCII without a digit names a date only if it contains one of these; this check is
# cheaper than loading the grammar.
DATE_STEMS = (
    "day", "tag", "tomorrow", "ago", "night", "morning", "afternoon", "evening", "heut", "gest",
    "week", "woche", "month", "monat", "quart", "year", "jahr", "end", "ende", "couple",
    "jan", "feb", "mar", "maerz", "apr", "may", "mai", "jun", "jul", "aug", "sep", "oct", "okt",
    "nov", "dec", "dez", "mon", "tue", "wed", "mittwoch", "thu", "fri", "sat", "sonnabend", "sun",
    "spring", "summer", "sommer", "autumn", "fall", "herbst", "winter", "half",
    "christmas", "xmas", "weihnacht", "silvester", "easter", "oster", "himmelfahrt",
    "ascension", "pentecost", "whitsun", "pfingst", "boxing", "karfreit",
    "latest", "newest", "recent", "last", "first", "erst", "letzt", "earliest", "oldest", "neuest",
)  # fmt: skip

# A question with one of these asks about the past, whatever its verb.
_PAST = frozenset(
    """before previously previous formerly former originally initially earlier ago first last ever
    once yesterday history until
    früher vorher damals zuvor ursprünglich zuerst anfangs gestern ehemals ehemalige vorige letzte
    letzten letzter letztes bisher""".split()  # noqa: SIM905 (a table to be read)
)
_ASKS = frozenset(
    """who who's whose what what's which where where's when when's how is are am do does can may
    must should wer wen wem was wann wo woher wohin womit wie welche welcher welches welchen welchem
    ist sind hat haben darf dürfen muss müssen kann können gibt""".split()  # noqa: SIM905 (a table to be read)
)
_HAN_ASKS = tuple("什么 谁 哪 吗 几 怎 何 多 是不是 有没有".split())  # noqa: SIM905

SECRET_CHARS = 18  # of a word that contains a key, at least
SECRET_MARKS = ("://", "uthorization: ")  # before shorter ones


class Question(Record):
    """A question and its day, which decides what `yesterday` means."""

    text: str
    today: date
    dates: tuple[DateSpan, ...]
    query: ParsedQuery
    moment: datetime | None = None  # when it is asked, if known
    typed: str = ""  # if it was read together with earlier questions; see `follow_up`

    @classmethod
    def read(
        cls,
        text: str,
        question_date: date,
        *,
        day_first: bool = False,
        hint: str = 'memcli search "some words"',
    ) -> Question:
        """Read a question that is asked on a day, or at a moment.

        Words that name a day count as stop words of the query.

        `day_first` is that of `dates.find_dates`.

        UsageError, with the next command as its hint, if it contains no letter and no digit.
        """
        today = day_of(question_date)
        dates = _wished(text, today, day_first=day_first) if _may_name_a_date(text) else ()
        query = parse(text, soft=[(span.at, span.stops_at) for span in dates])
        if dates and not query.asks_for_dates_alone:
            from memcli.dates.intent import loosened

            dates = loosened(text, dates)
            # Their latest project in July 2023 is not the latest in July.
            if any(span.start and span.end and not span.excluded for span in dates):
                dates = tuple(span for span in dates if not span.order)
            query = parse(
                text, soft=[(span.at + span.literal_length, span.stops_at) for span in dates]
            )
            if not all(span.order for span in dates):
                query = query.beside_dates()
        if query.is_empty:
            raise UsageError("the query contains nothing to search for", hint=hint)
        return cls(
            text,
            today,
            dates,
            query,
            question_date if isinstance(question_date, datetime) else None,
        )

    @classmethod
    def by(
        cls,
        config: Config,
        text: str,
        question_date: date,
        *,
        hint: str = 'memcli search "some words"',
    ) -> Question:
        """Read a question as the settings want it, `redacted_question` included."""
        day_first = config("search.date_order") == "dmy"
        return cls.read(
            redacted_question(text, config), question_date, day_first=day_first, hint=hint
        )

    @property
    def words(self) -> list[str]:
        """Return the words of the search, as typed."""
        return [term.text for term in self.query.counted_terms]

    def age_days(self, written: str) -> float:
        """Count the days from an ISO date, or moment, to the question.

        They are whole calendar days unless both have a time of day.
        """
        return age_at(written, self.moment or self.today)


def redacted_question(text: str, config: Config) -> str:
    """Return a question with its secrets redacted: a pasted line may contain one.

    The replacement is the same as in notes, so lines with the secret are found.
    """
    # This check costs less than loading the rules.
    may_hold_one = any(len(word) >= SECRET_CHARS for word in text.split())
    may_hold_one = may_hold_one or any(mark in text for mark in SECRET_MARKS)
    if not may_hold_one or config("secrets") != "redact":
        return text
    from memcli.secrets.finding import redacted

    return redacted(text)


def _may_name_a_date(text: str) -> bool:
    low = text.lower()
    return (
        not text.isascii() or any(map(str.isdigit, text)) or any(stem in low for stem in DATE_STEMS)
    )


def _wished(text: str, today: date, *, day_first: bool) -> tuple[DateSpan, ...]:
    """Find the dates that the answer should be of."""
    from memcli.dates.find import find_dates

    dates = find_dates(text, today, day_first=day_first)
    if not dates:
        return ()
    from memcli.dates.intent import before_today, wishes

    return wishes(text, before_today(text, dates, today))


def asks_about_now(text: str) -> bool:
    """Return whether a text asks, by its words, about the present. It may name a date.

    A question about the past, or for a list or a number of things, does not.
    """
    words = [word.strip(",.?!:;") for word in text.casefold().replace("’", "'").split()]
    if not _PAST.isdisjoint(words):
        return False
    is_question = not _ASKS.isdisjoint(words[:3]) or any(map(text.__contains__, _HAN_ASKS))
    if not (is_question or text.endswith(("?", "？"))):
        return False
    from memcli.language.tense import tells_of_past
    from memcli.search.reading_value import asks_for_several

    # `Welche Bank` is one bank; a table of plurals has the word.
    return not (tells_of_past(text) or asks_for_several(text.replace("elche ", "")))
