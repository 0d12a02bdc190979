"""Statements for one workspace, or for many at once, whose answers are then separated."""

from __future__ import annotations

from collections.abc import Sequence

from memcli.checking import TYPE_CHECKING
from memcli.record import Record
from memcli.store.rounds import NotYetError

if TYPE_CHECKING:
    from typing import Any

Row = tuple["Any", ...]


class Statement(Record):
    """A statement and the values of its marks $1, $2 and so on."""

    sql: str
    values: Sequence[Any] = ()


class ForMany(Record):
    """A statement to one workspace that can be asked of many at once."""

    alone: Statement
    sql: str  # $1 are the numbers of workspaces; the number stands in front of each row
    values: Sequence[Any]  # from $2 on
    workspace: int  # which is asked
    empty: list[Row]  # its rows where it has none


class Values(list["Any"]):
    """Values of a statement that is being written: each call gives the mark of one more."""

    def __call__(self, value: object) -> str:
        """Take a value and give its mark."""
        self.append(value)
        return f"${len(self)}"


class Gathering:
    """Statements of several that ask, and the rows of those that were answered."""

    def __init__(self) -> None:
        """Begin with none."""
        self._alone: dict[object, Statement] = {}
        self._lots: dict[object, dict[object, ForMany]] = {}  # those that are one statement
        self._told: dict[object, list[Row]] = {}

    def answers(self, statements: Sequence[Statement | ForMany]) -> list[list[Row]]:
        """Return the rows of each statement; NotYetError if one has to be sent first."""
        keys = [_key(alone(each)) for each in statements]
        known = [self._told.get(key) for key in keys]
        for key, each, rows in zip(keys, statements, known, strict=True):
            if rows is None:
                self._put_down(key, each)
        answers = [rows for rows in known if rows is not None]
        if len(answers) < len(statements):
            raise NotYetError
        return answers

    def _put_down(self, key: object, each: Statement | ForMany) -> None:
        if isinstance(each, ForMany):
            of_all = Statement(each.sql, each.values)
            self._lots.setdefault(_key(of_all), {})[key] = each
        else:
            self._alone[key] = each

    def pending(self) -> list[Statement]:
        """List what is to be asked; what can be is asked of many workspaces at once."""
        statements = [*self._alone.values()]
        for lot in self._lots.values():
            first, *_ = lot.values()
            workspaces = [each.workspace for each in lot.values()]
            statements.append(Statement(first.sql, (workspaces, *first.values)))
        return statements

    def take(self, found: Sequence[list[Row]]) -> None:
        """Hand out the rows of what was pending."""
        self._told.update(zip(self._alone, found, strict=False))
        for lot, rows in zip(self._lots.values(), found[len(self._alone) :], strict=True):
            of: dict[int, list[Row]] = {}
            for workspace, *row in rows:
                of.setdefault(workspace, []).append(tuple(row))
            for key, each in lot.items():
                self._told[key] = of.get(each.workspace, each.empty)
        self._alone, self._lots = {}, {}


def alone(each: Statement | ForMany) -> Statement:
    """Return the statement that asks only one workspace."""
    return each.alone if isinstance(each, ForMany) else each


def _key(statement: Statement) -> object:
    """Return what identifies a statement; to write its values takes ten times as long."""
    values = (tuple(v) if isinstance(v, list) else v for v in statement.values)
    return (statement.sql, *values)
