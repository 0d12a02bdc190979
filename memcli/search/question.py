"""A question as it was asked: its text, its day, the days it names and the terms it is made of."""

from __future__ import annotations

from datetime import date

from memcli.errors import UsageError
from memcli.record import Record
from memcli.search.dates import DateSpan, find_dates
from memcli.search.query import ParsedQuery, parse
from memcli.workspace.dating import age_days


class Question(Record):
    """What is asked, and on which day: yesterday is another day tomorrow."""

    text: str
    today: date
    dates: tuple[DateSpan, ...]
    query: ParsedQuery

    @classmethod
    def read(cls, text: str, today: date, *, hint: str = 'memcli search "some words"') -> Question:
        """Read a question; words that name a day count as stop words of the query.

        UsageError, with the next command as its hint, where it holds no letter and no digit.
        """
        dates = tuple(find_dates(text, today))
        query = parse(text, soft=[(span.at, span.at + len(span.text)) for span in dates])
        if query.is_empty:
            raise UsageError("the query holds nothing to search for", hint=hint)
        return cls(text, today, dates, query)

    @property
    def words(self) -> list[str]:
        """Give the words that are looked for, as they were typed."""
        return [term.text for term in self.query.sought]

    def age_days(self, day: str) -> int:
        """Count the calendar days from an ISO date to the day of the question."""
        return age_days(day, self.today.isoformat())
