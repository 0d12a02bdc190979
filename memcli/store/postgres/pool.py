"""The connections of this process to a shared index, which all of its workspaces use.

At most eight threads have a connection at a time; another thread waits. A thread reads all
workspaces through one connection. Two stay open for the next question for a minute or two.
"""

from __future__ import annotations

from _thread import allocate_lock as Lock
from _thread import get_ident, start_new_thread
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os import getpid
from threading import Semaphore

from memcli.checking import TYPE_CHECKING, Made
from memcli.record import Record
from memcli.store.postgres.errors import is_passing
from memcli.store.postgres.libpq import Connection, ServerError
from memcli.store.postgres.session import BOUNDS, opened

if TYPE_CHECKING:
    from memcli.store.postgres.address import Address
    from memcli.store.postgres.statements import Row

AT_ONCE, KEPT = 8, 2
IDLE_SECONDS = 60.0
WAIT_SECONDS = 60.0  # for a free connection
_BEGIN = "begin isolation level repeatable read, read only"


class View(Record):
    """An open read transaction of a thread."""

    connection: Connection
    owner: int  # the thread
    writes: int  # changes of this process that it sees
    workspaces: list[object]  # that it reads


class Pool:
    """Connections to one index."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._guard = Lock()
        self._turns = Semaphore(AT_ONCE)
        self._depths: dict[int, int] = {}  # nested uses by each thread
        self._idle: list[tuple[int, Connection]] = []  # each with the round in which it became free
        self._round = 0  # of the thread that closes idle connections
        self._views: list[View] = []
        self._writes = 0
        self._is_reaping = False

    @contextmanager
    def reading(
        self,
        workspace: object,
        select: Callable[[Connection], str],
        read: Callable[[list[Row]], Made],
        *,
        is_patient: bool = True,
    ) -> Iterator[tuple[Connection, Made]]:
        """Read a workspace in one transaction; yield what `read` makes of its row.

        A thread that already reads another workspace uses the same transaction; the last one to end
        frees the connection. If the connection was lost, it is opened again, once.
        """
        own = get_ident()
        view = next((view for view in self._views if self._is_shared(view, own, workspace)), None)
        if view is not None:
            made = read(view.connection.run(select(view.connection)))
            view.workspaces.append(workspace)
        else:
            self._take_turn(own)
            try:
                connection, made = self._fresh(
                    lambda new: read(new.run(f"{_BEGIN}; {BOUNDS}; {select(new)}")),
                    write=False,
                    is_patient=is_patient,
                )
            except BaseException:
                self._end_turn(own)
                raise
            view = View(connection, own, self._writes, [workspace])
            self._views.append(view)
        try:
            yield view.connection, made
        except BaseException:
            self._end(view, workspace, failed=True)
            raise
        self._end(view, workspace)

    def _is_shared(self, view: View, own: int, workspace: object) -> bool:
        """Return whether a thread reads a further workspace by a view of its own."""
        is_open = view.owner == own and view.connection.is_sound
        return is_open and view.writes == self._writes and workspace not in view.workspaces

    def _fresh(
        self, use: Callable[[Connection], Made], *, write: bool, is_patient: bool = True
    ) -> tuple[Connection, Made]:
        """Use an idle connection or a new one; if an idle one was lost, try again."""
        while True:
            connection = self._idle_one(write=write)
            is_new = connection is None
            connection = connection or opened(self._address, write=write, is_patient=is_patient)
            try:
                return connection, use(connection)
            except BaseException as error:
                connection.close()
                if is_new or not (isinstance(error, ServerError) and is_passing(error)):
                    raise

    def _end(self, view: View, workspace: object, *, failed: bool = False) -> None:
        connection = view.connection
        view.workspaces.remove(workspace)
        if view.workspaces and connection.is_sound:
            return
        if failed:
            connection.close()
        elif connection.is_open:
            try:
                connection.begin_to("commit")  # no caller waits for the result
            except ServerError:
                connection.close()
        if not view.workspaces:
            self._views.remove(view)
            self._keep(connection)
            self._end_turn(view.owner)

    @contextmanager
    def writing(self, check: Callable[[Connection], None]) -> Iterator[Connection]:
        """Use a connection that may write and that passes a check."""
        own = get_ident()
        self._take_turn(own)
        try:
            connection, _ = self._fresh(check, write=True)
            try:
                yield connection
            except BaseException:
                connection.close()
                raise
            finally:
                self._writes += 1
                self._keep(connection)
        finally:
            self._end_turn(own)

    def close(self) -> None:
        """Close the idle connections."""
        with self._guard:
            idle, self._idle = self._idle, []
        for _, connection in idle:
            connection.close()

    def _take_turn(self, own: int) -> None:
        """Wait for a free connection, unless this thread has one already."""
        if not self._depths.get(own) and not self._turns.acquire(timeout=WAIT_SECONDS):
            raise ServerError("other threads of this process use its connections", "53300")
        self._depths[own] = self._depths.get(own, 0) + 1

    def _end_turn(self, own: int) -> None:
        self._depths[own] -= 1
        if not self._depths[own]:
            del self._depths[own]
            self._turns.release()

    def _idle_one(self, *, write: bool) -> Connection | None:
        with self._guard:
            for at in range(len(self._idle) - 1, -1, -1):
                if not write or self._idle[at][1].may_write:
                    return self._idle.pop(at)[1]
        return None

    def _keep(self, connection: Connection) -> None:
        if not connection.is_open:
            return
        with self._guard:
            self._idle.append((self._round, connection))
            surplus = [self._idle.pop(0)[1] for _ in range(len(self._idle) - KEPT)]
            starts, self._is_reaping = not self._is_reaping, True
        for each in surplus:
            each.close()
        if starts:
            try:
                start_new_thread(self._reap, ())
            except RuntimeError:  # the system starts no thread: the connection stays open
                self._is_reaping = False

    def _reap(self) -> None:
        """Close connections that were idle for a whole round; end when none is left."""
        waiting = Lock()
        waiting.acquire()
        while True:
            waiting.acquire(timeout=IDLE_SECONDS)
            with self._guard:
                old = [each for since, each in self._idle if since < self._round]
                self._idle = [pair for pair in self._idle if pair[0] == self._round]
                self._round += 1
                self._is_reaping = bool(self._idle)
                is_current = self._is_reaping
            for each in old:
                each.close()
            if not is_current:
                return


_pools: dict[tuple[int, str], Pool] = {}


def pool_of(address: Address) -> Pool:
    """Return the pool of this process for an index; a forked child has a pool of its own."""
    key = getpid(), address.url
    return _pools.get(key) or _pools.setdefault(key, Pool(address))
