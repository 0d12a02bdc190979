"""Statements for one workspace, or for many at once, whose answers are split afterwards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress

from memcli.checking import Any, Given, Made
from memcli.record import Record

Row = tuple["Any", ...]

_NONE: list[Row] = [([],)]  # of a workspace with nothing to aggregate


class Statement(Record):
    """A statement, and the values of its parameters $1, $2 and so on."""

    sql: str
    values: Sequence[Any] = ()


class ForMany(Record):
    """A statement for one workspace that can run for many workspaces at once."""

    alone: Statement
    sql: str  # $1 is the list of workspaces; each row begins with its workspace
    values: Sequence[Any]  # from $2 on
    workspace: int  # the workspace that is read


class Values(list["Any"]):
    """The values of a statement: each call adds one and returns its parameter."""

    def __call__(self, value: object) -> str:
        """Add a value and return its parameter."""
        self.append(value)
        return f"${len(self)}"


class StatementPendingError(Exception):
    """The statement was noted; ask again after it was sent."""


class Gathering:
    """The statements of several readers of one connection, and the rows of answered ones.

    The statements of all readers are collected and sent together. Then each reader that had to wait
    is asked again, and finds its answer. So a question must be the same each time, and must not
    change anything that it depends on.
    """

    def __init__(self, send: Callable[[Sequence[Statement]], list[list[Row]]]) -> None:
        self._send = send  # returns the rows of each statement
        self._alone: dict[object, Statement] = {}
        self._lots: dict[object, dict[object, ForMany]] = {}  # statements that can run as one
        self._answers: dict[object, list[Row]] = {}

    def ask(self, ask: Callable[[Given], Made], items: Sequence[Given]) -> list[Made]:
        """Ask each of some objects until all have answered; return the answers in order."""
        made: dict[int, Made] = {}
        while True:
            for place, each in enumerate(items):
                if place not in made:
                    with suppress(StatementPendingError):
                        made[place] = ask(each)
            if len(made) == len(items):
                return [made[place] for place in range(len(items))]
            self._take(self._send(self._pending()))

    def answers(self, statements: Sequence[Statement | ForMany]) -> list[list[Row]]:
        """Return the rows of each statement; StatementPendingError if one must be sent first."""
        keys = [_key(alone(each)) for each in statements]
        known = [self._answers.get(key) for key in keys]
        for key, each, rows in zip(keys, statements, known, strict=True):
            if rows is None and isinstance(each, ForMany):
                of_all = Statement(each.sql, each.values)
                self._lots.setdefault(_key(of_all), {})[key] = each
            elif rows is None:
                self._alone[key] = alone(each)
        answers = [rows for rows in known if rows is not None]
        if len(answers) < len(statements):
            raise StatementPendingError
        return answers

    def _pending(self) -> list[Statement]:
        """List the statements to send; those that can are combined for many workspaces."""
        statements = [*self._alone.values()]
        for lot in self._lots.values():
            first, *_ = lot.values()
            workspaces = [each.workspace for each in lot.values()]
            statements.append(Statement(first.sql, (workspaces, *first.values)))
        return statements

    def _take(self, answers: Sequence[list[Row]]) -> None:
        self._answers.update(zip(self._alone, answers, strict=False))
        for lot, rows in zip(self._lots.values(), answers[len(self._alone) :], strict=True):
            of: dict[int, list[Row]] = {}
            for workspace, *row in rows:
                of.setdefault(workspace, []).append(tuple(row))
            for key, each in lot.items():
                self._answers[key] = of.get(each.workspace, _NONE)
        self._alone, self._lots = {}, {}


def alone(each: Statement | ForMany) -> Statement:
    """Return the statement for one workspace only."""
    return each.alone if isinstance(each, ForMany) else each


def _key(statement: Statement) -> object:
    """Return the key of a statement; writing its values as text takes ten times as long."""
    values = (tuple(v) if isinstance(v, list) else v for v in statement.values)
    return (statement.sql, *values)
