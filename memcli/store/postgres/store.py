"""A workspace of a shared index: `port.Store` by PostgreSQL.

Connections that have answered are kept for the next question, one for each thread that asks at the
same time. What belongs to this machine alone, who writes and who watches here, lies beside the
index that the workspace would have without a server.
"""

from __future__ import annotations

from _thread import allocate_lock as Lock
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress

from memcli.checking import TYPE_CHECKING
from memcli.errors import BusyError, IndexMissingError
from memcli.record import Record
from memcli.store.postgres.faults import is_passing, translated
from memcli.store.postgres.libpq import Connection, ServerError
from memcli.store.postgres.pool import Pool
from memcli.store.postgres.session import check_bound, check_version, opened, row_of, select_by_name

if TYPE_CHECKING:
    from memcli.store.port import Sleep, Store
    from memcli.store.postgres.address import Address
    from memcli.store.postgres.reader import SharedReader
    from memcli.store.postgres.rebuild import SharedWriter
    from memcli.store.postgres.session import Name, WorkspaceRow
    from memcli.store.run_records import Described, Work


class OnThisMachine(Record):
    """What this machine keeps for a workspace whose index is elsewhere."""

    store: Store  # the index that it would have here
    at: Callable[[str], Store]  # opens one in a file


class PostgresStore:
    """A workspace by its name; nothing is asked before it is needed."""

    def __init__(
        self,
        address: Address,
        name: Name,
        beside: OnThisMachine,
        now_ns: Callable[[], int],
        *,
        origin: str = "",
        pool: Pool | None = None,
    ) -> None:
        """Take where it is, and the clock, which gives nanoseconds since 1970.

        `origin` is what writes it, machine and folder; without one nothing can be written. `pool`
        has connections that others read by, too.
        """
        self.address, self.name, self.origin = address, name, origin
        self._beside, self._now_ns = beside, now_ns
        self._pool = pool or Pool(address)
        self._writing: list[Connection] = []  # at most one, kept for the next change
        self._readers: dict[Connection, SharedReader] = {}  # what each connection has read by
        self._guard = Lock()

    @property
    def local(self) -> str:
        """Name the file that the index would be in without a server."""
        return self._beside.store.local

    def describe(self) -> Described:
        from memcli.store.run_records import Described

        size = 0
        with suppress(IndexMissingError), self._held() as (connection, row):
            from memcli.store.postgres.counting import bytes_of

            size = bytes_of(connection, row.id)
        return Described(f"{self.address.masked} ({self.name})", "pgvector", size, "")

    def exists(self) -> bool:
        try:
            with self._held():
                return True
        except IndexMissingError:
            return False

    def has_unfolded(self) -> bool:
        """Tell that nothing is left to this machine to do."""
        return False

    @contextmanager
    def snapshot(self) -> Iterator[SharedReader]:
        with self._held() as (connection, row):
            yield self._reader(connection, row)

    def _reader(self, connection: Connection, row: WorkspaceRow) -> SharedReader:
        """Give what a connection has read this state by before, or a new one."""
        from memcli.store.postgres.reader import SharedReader

        with self._guard:
            reader = self._readers.get(connection)
            if reader is None or not reader.goes_on(row):
                reader = SharedReader(connection, self.address, row)
                others = {each: of for each, of in self._readers.items() if each.is_open}
                self._readers = {**others, connection: reader}
        return reader

    @contextmanager
    def change(self, *, wait_seconds: float, sleep: Sleep) -> Iterator[SharedWriter]:
        """Be the one writer of this machine and, by a lease, of all."""
        from memcli.store.postgres.rebuild import SharedWriter

        with self._leased(wait_seconds=wait_seconds, sleep=sleep) as (connection, row):
            yield SharedWriter(connection, self.address, row, self._now_ns)

    @contextmanager
    def locked(self, *, wait_seconds: float, sleep: Sleep) -> Iterator[None]:
        with self._leased(wait_seconds=wait_seconds, sleep=sleep):
            yield

    def show_work(self, work: Work) -> None:
        self._beside.store.show_work(work)

    def stand_in(self) -> Store | None:
        local = self._beside.store
        return local if self.origin and local.exists() else None

    def copy_to(self, path: str) -> None:
        from memcli.store.postgres.copying import copy

        with self._held() as (connection, row), translated(self.address):
            copy(connection, row, self._beside.at(path))

    def close(self) -> None:
        self._pool.close()
        with self._guard:
            kept, self._writing = self._writing, []
            self._readers = {}
        for connection in kept:
            connection.close()

    @contextmanager
    def _leased(
        self, *, wait_seconds: float, sleep: Sleep
    ) -> Iterator[tuple[Connection, WorkspaceRow]]:
        from memcli.store.postgres.lease import lease

        with self._beside.store.locked(wait_seconds=wait_seconds, sleep=sleep):
            with translated(self.address):
                connection = self._writable()
            try:
                held = lease(
                    connection, self.address, self.name, wait_seconds=wait_seconds, sleep=sleep
                )
                with ExitStack() as stack:
                    with translated(self.address):
                        row = stack.enter_context(held)
                    yield connection, row
            except BaseException:
                connection.close()
                raise
            with self._guard:
                self._writing.append(connection)

    def _writable(self) -> Connection:
        """Open a connection that may write, or take the one of the change before."""
        with self._guard:
            kept = self._writing.pop() if self._writing else None
        if kept is not None:
            try:
                self._check_writable(kept)
                return kept
            except BaseException as error:
                kept.close()
                if not (isinstance(error, ServerError) and is_passing(error)):
                    raise
        connection = opened(self.address, write=True)
        try:
            self._check_writable(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _check_writable(self, connection: Connection) -> None:
        """Refuse to write what another folder or machine writes."""
        (told,) = connection.run(select_by_name(connection, self.name))
        check_bound(check_version(told[-1], self.address, write=True), self.address, self.name)
        row = row_of(told, self.address, self.name)
        if row.origin != self.origin or not self.origin:
            raise BusyError(
                f"{self.name} in {self.address.masked} is written by {row.origin or 'nobody'}",
                hint=f"memcli store attach {self.name} --take-over",
            )

    @contextmanager
    def _held(self) -> Iterator[tuple[Connection, WorkspaceRow]]:
        """Hold one state of the workspace; a connection that has died is opened anew once."""
        with translated(self.address):
            connection, row = self._pool.begin(
                lambda connection: select_by_name(connection, self.name),
                lambda rows: row_of(rows[0], self.address, self.name),
            )
        if row.changed_at is None:
            self._pool.end(connection)
            raise IndexMissingError(
                f"nothing is stored of {self.name} in {self.address.masked} yet",
                hint="memcli index",
            )
        try:
            yield connection, row
        except BaseException:
            connection.close()
            raise
        self._pool.end(connection)
