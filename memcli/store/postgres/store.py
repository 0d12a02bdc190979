"""One workspace of a shared index, and many: `port.Store` and `port.SharedIndex`.

Files that belong to this machine only, such as who writes and who watches here, are next to the
index that the workspace would have without a server.
"""

from __future__ import annotations

from _thread import allocate_lock as Lock
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress

from memcli.checking import TYPE_CHECKING
from memcli.errors import BusyError, IndexMissingError, StoreError
from memcli.store.postgres import session
from memcli.store.postgres.errors import translated
from memcli.store.postgres.libpq import Connection
from memcli.store.postgres.pool import pool_of
from memcli.store.run_records import StoreDescription, StoredWorkspace

if TYPE_CHECKING:
    from memcli.store.port import AskMany, Sleep, Snapshot, Store
    from memcli.store.postgres.address import Address
    from memcli.store.postgres.reader import SharedReader
    from memcli.store.postgres.writer import SharedWriter


class PostgresStore:
    """A workspace by its name; the first query connects to the server."""

    def __init__(
        self,
        address: Address,
        name: session.Name,
        local: Store,
        now_ns: Callable[[], int],
        *,
        origin: str = "",
    ) -> None:
        """Record its place, and the clock, which returns nanoseconds since 1970.

        `local` is the index that the workspace would have without a server.
        `origin` names the machine and folder that write it; without it memcli cannot write.
        """
        self.address, self.name, self.origin = address, name, origin
        self._local, self._now_ns, self.state_path = local, now_ns, local.state_path
        self._readers: dict[Connection, SharedReader] = {}  # the last reader of each connection
        self._guard = Lock()

    def describe(self) -> StoreDescription:
        size = 0
        with suppress(IndexMissingError, StoreError), self.snapshot() as reader:
            size = reader.bytes()
        return StoreDescription(f"{self.address.masked} ({self.name})", "pgvector", size, "")

    def exists(self) -> bool:
        try:
            with self._opened() as (_, row):
                return row.changed_at is not None
        except IndexMissingError:
            return False

    def has_deleted_text(self) -> bool:
        """Return False: this machine has no changes to fold."""
        return False

    @contextmanager
    def snapshot(self) -> Iterator[SharedReader]:
        """Use the reader that the connection has used for this state, or a new one."""
        from memcli.store.postgres.reader import SharedReader

        with self._opened() as (connection, row):
            if row.changed_at is None:
                raise IndexMissingError(
                    f"nothing is stored of {self.name} in {self.address.masked} yet",
                    hint="memcli index",
                )
            with self._guard:
                reader = self._readers.get(connection)
                if reader is None or not reader.is_current(row):
                    reader = SharedReader(connection, self.address, row)
                    others = {each: of for each, of in self._readers.items() if each.is_open}
                    self._readers = {**others, connection: reader}
            yield reader

    @contextmanager
    def change(self, *, wait_seconds: float, sleep: Sleep) -> Iterator[SharedWriter]:
        """Be the only writer on this machine and, by a lease, on all machines."""
        from memcli.store.postgres.writer import SharedWriter

        with self._leased(wait_seconds=wait_seconds, sleep=sleep) as (connection, row):
            yield SharedWriter(connection, self.address, row, self._now_ns)

    @contextmanager
    def locked(self, *, wait_seconds: float, sleep: Sleep) -> Iterator[None]:
        with self._leased(wait_seconds=wait_seconds, sleep=sleep):
            yield

    def local_fallback(self) -> Store | None:
        return self._local if self.origin else None

    def copy_to(self, store: Store) -> None:
        with self.snapshot() as reader, translated(self.address):
            _copy(reader, store)

    def close(self) -> None:
        pool_of(self.address).close()
        with self._guard:
            self._readers = {}

    @contextmanager
    def _leased(
        self, *, wait_seconds: float, sleep: Sleep
    ) -> Iterator[tuple[Connection, session.WorkspaceRow]]:
        writing = pool_of(self.address).writing(self._check_writable)
        with self._local.locked(wait_seconds=wait_seconds, sleep=sleep), ExitStack() as stack:
            with translated(self.address):
                connection = stack.enter_context(writing)
                granted = session.lease(
                    connection, self.address, self.name, wait_seconds=wait_seconds, sleep=sleep
                )
                row = stack.enter_context(granted)
            yield connection, row

    def _check_writable(self, connection: Connection) -> None:
        """Raise BusyError if another folder or machine writes the workspace."""
        (fields,) = connection.run(session.select_by_name(connection, self.name))
        session.check_bound(
            session.check_version(fields[-1], self.address, write=True), self.address, self.name
        )
        row = session.row_of(fields, self.address, self.name)
        if row.origin != self.origin or not self.origin:
            raise BusyError(
                f"{self.name} in {self.address.masked} is written by {row.origin or 'nobody'}",
                hint=f"memcli store attach {self.name} --take-over",
            )

    @contextmanager
    def _opened(self) -> Iterator[tuple[Connection, session.WorkspaceRow]]:
        """Open one state of the workspace; IndexMissingError if there is none.

        StoreError if this folder was attached to it, so that another index may answer.
        """
        reading = pool_of(self.address).reading(
            self.name,
            lambda connection: session.select_by_name(connection, self.name),
            lambda rows: session.row_of(rows[0], self.address, self.name),
            is_patient=not (self.origin and self._local.exists()),
        )
        with ExitStack() as stack:
            try:
                with translated(self.address):
                    connection, row = stack.enter_context(reading)
            except IndexMissingError as error:
                if not self.origin:
                    raise
                hint = f"memcli store attach {self.name}"
                raise StoreError(error.message, hint=hint) from error
            yield connection, row


BATCH = 1000  # vectors in memory at once


def _copy(reader: SharedReader, store: Store) -> None:
    """Copy the whole content of a workspace into another store."""
    from memcli.store.postgres import vectors
    from memcli.store.postgres.rows import encoder_of, read_documents

    facts, connection = reader.facts, reader.connection
    with store.change(wait_seconds=0.0, sleep=lambda _: None) as change:
        with change.together():
            for document, stamp, skip in read_documents(connection, reader.id, reader.known()):
                change.put(document, stamp, skip=skip)
        if facts.fingerprint and facts.dimension is not None:
            last = b""
            while rows := connection.rows(
                "select hash, vector_send(vector) from memcli.vectors where workspace = $1"
                " and encoder = $2 and hash > $3 order by hash limit $4",
                (reader.id, encoder_of(facts.fingerprint), last, BATCH),
            ):
                made = [(hash_, vectors.read(sent)) for hash_, sent in rows]
                change.put_vectors(facts.fingerprint, made)
                last = rows[-1][0]
            change.search_by(facts.fingerprint, facts.dimension)
        values = {name: getattr(facts, name) for name in ("model", "chunking", "sources", "mounts")}
        change.set_facts({name: value for name, value in values.items() if value is not None})
        for summary in {each.summary for each in reader.supports()}:
            change.check(summary, reader.line_checks(summary))
    store.close()


class PostgresSharedIndex:
    """The workspaces of a tenant, or with "" of all, that a user may read; a `port.SharedIndex`."""

    def __init__(self, address: Address, tenant: str) -> None:
        self._address, self._tenant = address, tenant

    def listed(self) -> list[StoredWorkspace]:
        with self._opened() as (connection, rows):
            names: dict[int, list[str]] = dict(
                connection.rows(
                    "select workspace, json_agg(distinct source order by source)"
                    " from memcli.documents where workspace = any($1::bigint[]) group by workspace",
                    ([row.id for _, row in rows],),
                )
            )
        return [
            StoredWorkspace(
                str(name),
                name.whole,
                row.origin,
                row.revision,
                row.changed_at or "",
                tuple(names.get(row.id, ())),
            )
            for name, row in rows
        ]

    @contextmanager
    def snapshots(self) -> Iterator[tuple[dict[str, Snapshot], AskMany]]:
        from memcli.store.postgres.reader import SharedReader

        with self._opened() as (connection, rows):
            readers: dict[str, Snapshot] = {}
            for name, row in rows:
                reader = SharedReader(connection, self._address, row)
                readers[str(name)] = readers[name.whole] = reader
            yield readers, connection.each

    def close(self) -> None:
        pool_of(self._address).close()

    @contextmanager
    def _opened(
        self,
    ) -> Iterator[tuple[Connection, list[tuple[session.Name, session.WorkspaceRow]]]]:
        reading = pool_of(self._address).reading(
            self,
            lambda connection: session.select_all(connection, self._tenant),
            lambda rows: session.rows_of(rows, self._address),
        )
        with translated(self._address), reading as opened:
            yield opened
