"""Many workspaces of a shared index, asked together by one connection in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from memcli.checking import TYPE_CHECKING
from memcli.config.attached import named
from memcli.store.postgres.faults import translated
from memcli.store.postgres.pool import pool_of
from memcli.store.postgres.session import Name, rows_of, select_all
from memcli.store.postgres.store import PostgresStore
from memcli.store.run_records import Stored

if TYPE_CHECKING:
    from memcli.store.port import Snapshot
    from memcli.store.postgres.address import Address
    from memcli.store.postgres.libpq import Connection
    from memcli.store.postgres.session import WorkspaceRow
    from memcli.store.postgres.store import OnThisMachine
    from memcli.store.rounds import Each


class PostgresCrowd:
    """The workspaces that the user may read, of one tenant or of all; a `port.Crowd`."""

    def __init__(
        self, address: Address, tenant: str, beside: OnThisMachine, now_ns: Callable[[], int]
    ) -> None:
        """Take where the store is, and the tenant, "" for all; `beside` keeps what is written."""
        self._address = address
        self._tenant, self._beside, self._now_ns = tenant, beside, now_ns
        self._pool = pool_of(address)

    @property
    def place(self) -> str:
        return self._address.masked

    def listed(self) -> list[Stored]:
        with self._held() as (connection, rows):
            found: dict[int, list[str]] = dict(
                connection.rows(
                    "select workspace, json_agg(distinct source order by source)"
                    " from memcli.documents where workspace = any($1::bigint[]) group by workspace",
                    ([row.id for _, row in rows],),
                )
            )
        return [
            Stored(
                str(name),
                name.whole,
                row.origin,
                row.revision,
                row.changed_at or "",
                tuple(found.get(row.id, ())),
            )
            for name, row in rows
        ]

    def store(self, stored: Stored) -> PostgresStore:
        name = Name(*named(stored.whole))
        return PostgresStore(self._address, name, self._beside, self._now_ns)

    @contextmanager
    def snapshots(self) -> Iterator[tuple[dict[str, Snapshot], Each]]:
        from memcli.store.postgres.reader import SharedReader

        with self._held() as (connection, rows):
            readers: dict[str, Snapshot] = {}
            for name, row in rows:
                reader = SharedReader(connection, self._address, row)
                readers[str(name)] = readers[name.whole] = reader
            yield readers, connection.each

    def close(self) -> None:
        self._pool.close()

    @contextmanager
    def _held(self) -> Iterator[tuple[Connection, list[tuple[Name, WorkspaceRow]]]]:
        with translated(self._address):
            connection, rows = self._pool.begin(
                self,
                lambda connection: select_all(connection, self._tenant),
                lambda told: rows_of(told, self._address),
            )
            try:
                yield connection, rows
            except BaseException:
                self._pool.end(connection, self, failed=True)
                raise
            self._pool.end(connection, self)
