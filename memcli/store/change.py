"""The rules of every writer: transactions, which can be grouped, and facts.

Each kind of store defines how a transaction begins and ends and how its rows are written.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cache

from memcli.store.records import DAY_SECONDS, EMBEDDED_AT, Facts, LineCheck
from memcli.store.run_records import Pending
from memcli.types import named_days

# Importance in front matter, 0 to 1: above this, a document comes before newer ones.
IMPORTANT = 0.5

Clock = Callable[[], int]  # nanoseconds since 1970
# Hash, prefix, text, title, headings, first and last day, and front matter that may describe it.
Row = tuple[bytes, str, str, str, Sequence[str], str | None, str | None, str]


class BaseChange(ABC):
    """The methods of a `port.Change` that are the same in every store."""

    def __init__(self, now_ns: Clock) -> None:
        self.now_ns = now_ns
        self.notices: list[str] = []  # the repairs that were made to open the store
        self._is_together = self._is_torn = False  # see `together`
        self._revises = False  # whether answers may differ since the last commit

    @contextmanager
    def transaction(self, *, revise: bool = True) -> Iterator[None]:
        """Run statements as one change; unless no answer can differ it raises the revision."""
        with self._translated():
            try:
                if not (self._is_together and self._is_open()):
                    self._begin()
                yield
                self._revises |= revise
                if not self._is_together:
                    self._commit()
            except BaseException:
                self._is_torn = True
                self._roll_back()
                raise

    @contextmanager
    def together(self) -> Iterator[Callable[[], None]]:
        """Commit the changes inside together at the end, or when the yielded function is called.

        An error between two changes loses none of them; one within a change loses those since the
        last commit.
        """
        self._is_together, self._is_torn = True, False

        def commit() -> None:
            with self._translated():
                self._commit()

        try:
            yield commit
        finally:
            self._is_together = False
            if self._is_torn:
                self._roll_back()
            else:
                commit()

    def _commit(self) -> None:
        """Commit what is open, if anything is; if that fails, roll back."""
        if self._is_open():
            try:
                self._end()
            except BaseException:
                self._roll_back()
                raise
            self._revises = False

    @property
    def now(self) -> int:
        """Return the time in seconds since 1970."""
        return self.now_ns() // 1_000_000_000

    def set_facts(self, facts: Mapping[str, str], *, revise: bool = True) -> None:
        if any(self.fact(name) != value for name, value in facts.items()):
            with self.transaction(revise=revise):
                for name, value in facts.items():
                    self.put_fact(name, value)

    def unembedded(self, fingerprint: str) -> int:
        return 0 if self.is_embedded(fingerprint) else self._count_waiting(fingerprint)

    def is_embedded(self, fingerprint: str | None) -> bool:
        """Return whether, as far as is remembered, no text waits and search uses the vectors."""
        facts = self.facts
        return (
            fingerprint is not None
            and facts.fingerprint == fingerprint
            and (self.fact(EMBEDDED_AT) or "").split(" ")[0] == str(facts.revision)
            and self._is_searchable()
        )

    def search_by(self, fingerprint: str, dimension: int, *, none_waits: bool = False) -> None:
        if none_waits and self.is_embedded(fingerprint):
            return
        self._switch_to(fingerprint, dimension)
        revision = self.facts.revision
        if none_waits and not (self.fact(EMBEDDED_AT) or "").startswith(f"{revision} "):
            with self.transaction(revise=False):
                self._put_embedded(revision)

    def check(self, summary: str, checks: Sequence[LineCheck]) -> None:
        known = self.line_checks(summary)
        if known and known != list(checks):
            with self.transaction():
                self._put_line_checks(summary, checks)

    def _bounds(self, unused_days: int) -> tuple[int, int]:
        """Return the times up to and from which a vector has been unused for some days.

        A time so many days ahead counts, too: the clock has been put back since.
        """
        days = unused_days * DAY_SECONDS
        return self.now - days, self.now + days

    def _inherit(self, facts: Facts) -> None:
        """Copy what another store remembers of its vectors, and search by them."""
        values = {"model": facts.model, "language": facts.language}
        self.set_facts({name: value for name, value in values.items() if value is not None})
        if facts.fingerprint and facts.dimension is not None and self.facts.fingerprint is None:
            self.search_by(facts.fingerprint, facts.dimension)

    def _put_embedded(self, revision: int) -> None:
        """Remember inside a transaction that no text waits, and the counts."""
        self.put_fact(EMBEDDED_AT, " ".join(map(str, (revision, *self._count_rows()))))

    def _is_searchable(self) -> bool:
        """Return whether search uses all vectors as they are."""
        return True

    @property
    @abstractmethod
    def facts(self) -> Facts:
        """Return the facts that the store remembers."""

    @abstractmethod
    def _switch_to(self, fingerprint: str, dimension: int) -> None:
        """Search by this encoder's vectors from now on."""

    @abstractmethod
    def fact(self, key: str) -> str | None:
        """Read a fact by its name."""

    @abstractmethod
    def put_fact(self, key: str, value: str) -> None:
        """Remember something by a name, inside a transaction of the caller."""

    @abstractmethod
    def _count_waiting(self, fingerprint: str) -> int:
        """Count the distinct texts that wait for a vector by looking at each."""

    @abstractmethod
    def _count_rows(self) -> tuple[int, int, int, int]:
        """Count documents, chunks, segments, and segments that are left out."""

    @abstractmethod
    def line_checks(self, summary: str) -> list[LineCheck]:
        """Read where the source lines of a summary were looked for last."""

    @abstractmethod
    def _put_line_checks(self, summary: str, checks: Sequence[LineCheck]) -> None:
        """Write inside a transaction where the source lines of a summary are."""

    @abstractmethod
    def _translated(self) -> AbstractContextManager[None]:
        """Turn errors inside into errors of memcli."""

    @abstractmethod
    def _is_open(self) -> bool:
        """Return whether a transaction is open, failed ones included."""

    @abstractmethod
    def _begin(self) -> None:
        """Begin a transaction that may write."""

    @abstractmethod
    def _end(self) -> None:
        """End a transaction that is open, and raise the revision if it revises."""

    @abstractmethod
    def _roll_back(self) -> None:
        """Undo what is open, if anything is, in any state."""


def waiting(rows: Iterable[Row]) -> list[Pending]:
    """Return each text once, in the order of the rows."""
    described = cache(_description)
    texts = {
        hash_: Pending(
            hash_,
            prefix,
            text,
            title,
            tuple(headings),
            named_days((first_day, date)) if first_day and date else None,
            described(front_matter),
        )
        for hash_, prefix, text, title, headings, first_day, date, front_matter in rows
    }
    return list(texts.values())


def _description(front_matter: str) -> str:
    from memcli.markdown.segments import description_of

    return description_of(json.loads(front_matter))
