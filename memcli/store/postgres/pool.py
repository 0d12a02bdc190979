"""Connections that have answered are kept for the next question.

There is one for each thread that asks at the same time.
"""

from __future__ import annotations

from _thread import allocate_lock as Lock
from collections.abc import Callable

from memcli.checking import TYPE_CHECKING
from memcli.store.postgres.faults import is_passing
from memcli.store.postgres.libpq import Connection, ServerError
from memcli.store.postgres.session import BOUNDS, opened

if TYPE_CHECKING:
    from typing import TypeVar

    from memcli.store.postgres.address import Address
    from memcli.store.postgres.statements import Row

    Made = TypeVar("Made")

_BEGIN = "begin isolation level repeatable read, read only"


class Pool:
    """Connections to a server that only read."""

    def __init__(self, address: Address) -> None:
        """Take where the server is; nothing is asked before it is needed."""
        self._address = address
        self._idle: list[Connection] = []
        self._guard = Lock()

    def begin(
        self, select: Callable[[Connection], str], read: Callable[[list[Row]], Made]
    ) -> tuple[Connection, Made]:
        """Begin a transaction of one view by a SELECT, and give what `read` makes of its rows.

        A connection that has died meanwhile is opened anew, once.
        """
        while True:
            with self._guard:
                connection = self._idle.pop() if self._idle else None
            is_new = connection is None
            connection = connection or opened(self._address, write=False)
            try:
                return connection, read(connection.run(f"{_BEGIN}; {BOUNDS}; {select(connection)}"))
            except BaseException as error:
                connection.close()
                if is_new or not (isinstance(error, ServerError) and is_passing(error)):
                    raise

    def end(self, connection: Connection) -> None:
        """End the transaction of a connection, and keep it."""
        try:
            connection.begin_to("commit")  # nobody has to wait for it
        except ServerError:
            connection.close()
            return
        with self._guard:
            self._idle.append(connection)

    def close(self) -> None:
        """Close the connections that are kept."""
        with self._guard:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()
