"""Change a workspace of a shared index: one transaction per document, batches of vectors.

Only one process may write a workspace. The row of the workspace names the process until a time that
each change extends. A process that takes over increases the epoch of the row. Each transaction
begins by locking the row under the epoch of its writer; if the epoch is a later one, it changes
nothing and the writer ends. memcli does not wait for a dead process of this machine.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress

from memcli.checking import TYPE_CHECKING
from memcli.errors import BusyError, StoreError
from memcli.store.change import IMPORTANT, BaseChange, Clock, waiting
from memcli.store.postgres import lineage, rows, vectors
from memcli.store.postgres.counting import count_rows, first_fault, read_counts, read_known
from memcli.store.postgres.errors import translated
from memcli.store.postgres.libpq import Connection, ServerError
from memcli.store.postgres.reader import COARSE
from memcli.store.postgres.session import (
    BOUNDS,
    Name,
    WorkspaceRow,
    meta_as_json,
    read_row,
    row_of,
    select_by_id,
    select_by_name,
)
from memcli.store.postgres.statements import Row, Statement
from memcli.store.quantize import rounded
from memcli.store.records import Counts, Facts, Key, LineCheck
from memcli.store.run_records import Pending, Stamp
from memcli.system import has_ended
from memcli.types import Document, KnownFile

if TYPE_CHECKING:
    from memcli.store.postgres.address import Address

LEASE_SECONDS = 60


# Each row is looked up by its key, whatever row counts the server assumes. For a table that is
# being filled it assumes one row, and would compare every text with all others.
_WAITING = (
    "not exists (select 1 from memcli.vectors v where v.workspace = p.workspace and v.encoder = $2"
    " and v.hash = p.hash offset 0) and not exists (select 1 from memcli.unread u"
    " where u.workspace = p.workspace and u.encoder = $2 and u.hash = p.hash offset 0)"
)


class RowWriter(BaseChange):
    """The only writer of a workspace; a `port.Change` without rebuilding."""

    def __init__(
        self, connection: Connection, address: Address, row: WorkspaceRow, now_ns: Clock
    ) -> None:
        """Take a connection, and the row under the epoch of this writer."""
        super().__init__(now_ns)
        self.connection, self.address, self.row = connection, address, row
        self._meta = dict(row.meta)

    def _translated(self) -> AbstractContextManager[None]:
        return translated(self.address)

    def _is_open(self) -> bool:
        return self.connection.in_transaction

    def _begin(self) -> None:
        """Lock the row of the workspace under this writer's epoch."""
        *_, rows = self.connection.together(
            (
                Statement("begin"),
                Statement(BOUNDS),
                Statement(select_by_id(lock=True), (self.row.id, self.row.epoch)),
            )
        )
        if not rows:
            raise BusyError(
                f"another memcli has taken over writing {self.row.tenant}/{self.row.name}",
                hint="memcli store status",
            )
        self.row = read_row(rows[0])
        self._meta = dict(self.row.meta)

    def _commit(self) -> None:
        if not self._is_open():
            return
        row, revision = self.row, self.row.revision + self._revises
        try:
            self.connection.together(
                (
                    Statement(
                        "update memcli.workspaces set revision = $2, next_id = $3, chunks = $4,"
                        " words = $5, meta = $6, changed_at = now(), left_ns = $7, lease_until ="
                        " case when holder is null then lease_until"
                        f" else now() + '{LEASE_SECONDS} seconds' end where id = $1",
                        (row.id, revision, row.next_id, row.chunks, row.words,
                         meta_as_json(self._meta), self.now_ns()),
                    ),
                    Statement("commit"),
                )
            )  # fmt: skip
        except BaseException:
            self._roll_back()
            raise
        self.row = row._replace(revision=revision, meta=dict(self._meta))
        self._revises = False

    def become(self, row: WorkspaceRow) -> None:
        """Switch to another row inside a transaction, which writes it at its end."""
        self.row, self._meta = row, dict(row.meta)

    def _roll_back(self) -> None:
        self._revises = False
        self._meta = dict(self.row.meta)
        with suppress(ServerError):
            if self._is_open():
                self.connection.run("rollback")

    @property
    def facts(self) -> Facts:
        return self.row._replace(meta=self._meta).facts

    def known(self) -> dict[Key, KnownFile]:
        with translated(self.address):
            return read_known(self.connection, self.row.id)

    def counts(self) -> Counts:
        with translated(self.address):
            return read_counts(self.connection, self.row._replace(meta=self._meta))

    def integrity(self) -> str:
        with translated(self.address):
            return first_fault(self.connection, self.row)

    def fact(self, key: str) -> str | None:
        """Read the meta value of a key."""
        return self._meta.get(key)

    def put_fact(self, key: str, value: str) -> None:
        """Write a meta value inside a transaction of the caller."""
        self._meta[key] = value

    def put(self, document: Document, stamp: Stamp, *, skip: str = "") -> None:
        row = self.row
        living = [segment.hash for chunk in document.chunks for segment in chunk.segments]
        with self.transaction():
            gone = self._drop((document.source, document.path))
            written = rows.putting(row.id, self.row.next_id, document, stamp, skip)
            self.connection.together([*written.statements, *self._usage_statements(gone, living)])
            self.row = self.row._replace(
                next_id=self.row.next_id + written.ids,
                chunks=self.row.chunks + written.chunks,
                words=self.row.words + written.words,
            )

    def touch(self, key: Key, stamp: Stamp) -> None:
        stat = stamp.stat
        with self.transaction(revise=False):
            self._rows(
                "update memcli.documents set size = $4, mtime_ns = $5, ctime_ns = $6, inode = $7,"
                " indexed_ns = $8 where workspace = $1 and source = $2 and path = $3",
                (self.row.id, *key, stat.size, stat.mtime_ns, stat.ctime_ns, stat.inode,
                 stamp.indexed_ns),
            )  # fmt: skip

    def remove(self, key: Key) -> None:
        with self.transaction():
            gone = self._drop(key)
            self.connection.together(self._usage_statements(gone, []))

    def pending(
        self, fingerprint: str, limit: int, *, within: Sequence[int] | None = None
    ) -> list[Pending]:
        among = "" if within is None else " and p.chunk = any($4::bigint[])"
        listed = () if within is None else (within,)
        result = self._rows(
            'select p.hash, p.prefix, substr(c.text, p."start" + 1, p."end" - p."start"), d.title,'
            " c.heading_path::json, coalesce(c.first_day, c.date), c.date,"
            " case when strpos(d.front_matter, '\"description\"') > 0 then d.front_matter"
            " else '{}' end"
            " from memcli.parts p cross join lateral (select * from memcli.chunks c"
            " where c.workspace = p.workspace and c.id = p.chunk offset 0) c"
            " cross join lateral (select * from memcli.documents d"
            " where d.workspace = c.workspace and d.id = c.document offset 0) d"
            f" where p.workspace = $1 and {_WAITING}{among}"
            f" order by d.always desc, coalesce(d.importance, 0) > {IMPORTANT} desc,"
            " d.date is not null, d.date desc, d.mtime_ns desc, d.path, d.source, p.chunk, p.no"
            " limit $3",
            (self.row.id, rows.encoder_of(fingerprint), limit, *listed),
        )
        return waiting(result)

    def borrow(self, fingerprint: str) -> int:
        """Copy vectors that the tenant has for waiting texts; return how many."""
        if self.is_embedded(fingerprint):
            return 0
        unused = None if self.facts.fingerprint == fingerprint else self.now
        with self.transaction(revise=False):
            count = vectors.borrow(self.connection, self.row, fingerprint, unused)
            self._revises |= count > 0
        return count

    def _count_waiting(self, fingerprint: str) -> int:
        ((count,),) = self._rows(
            "select count(distinct p.hash) from memcli.parts p where p.workspace = $1"
            f" and {_WAITING}",
            (self.row.id, rows.encoder_of(fingerprint)),
        )
        return int(count)

    def _count_rows(self) -> tuple[int, int, int, int]:
        return count_rows(self.connection, self.row._replace(meta=self._meta))

    def put_vectors(self, fingerprint: str, made: Sequence[tuple[bytes, bytes | None]]) -> None:
        """Store vectors by the hash of their text.

        Vectors of another encoder than the one in use count as unused.
        """
        with self.transaction():
            unused = None if self.facts.fingerprint == fingerprint else self.now
            pairs = [(hash_, rounded(vector)) for hash_, vector in made if vector is not None]
            self.connection.together(vectors.put(self.row.id, fingerprint, pairs, unused))
            if unread := [hash_ for hash_, vector in made if vector is None]:
                self._rows(
                    "insert into memcli.unread (workspace, encoder, hash)"
                    " select $1, $2, unnest($3::bytea[]) on conflict do nothing",
                    (self.row.id, rows.encoder_of(fingerprint), unread),
                )

    def _switch_to(self, fingerprint: str, dimension: int) -> None:
        """Search by the vectors of this encoder; if there are many, by codes first."""
        is_same = self.facts.fingerprint == fingerprint
        is_coarse = self._has_many(fingerprint)
        if is_same and is_coarse == (COARSE in self._meta):
            return
        with self.transaction():
            if not is_same:
                self.connection.together(vectors.switched(self.row.id, fingerprint, self.now))
                self._meta |= {"fingerprint": fingerprint, "dimension": str(dimension)}
            self._meta.pop(COARSE, None)
            if is_coarse:
                self._meta[COARSE] = "1"

    def _has_many(self, fingerprint: str) -> bool:
        """Return whether codes are compared first; near the limit, nothing changes."""
        most = vectors.MANY * 3 // 4 if COARSE in self._meta else vectors.MANY
        result = self._rows(
            "select count(*) from (select 1 from memcli.vectors v where v.workspace = $1"
            " and v.encoder = $2 and exists (select 1 from memcli.parts p where p.workspace = $1"
            " and p.hash = v.hash) limit $3) x",
            (self.row.id, rows.encoder_of(fingerprint), most),
        )
        return bool(result[0][0] >= most)

    def unchecked(self) -> list[str]:
        with translated(self.address):
            return lineage.unchecked(self.connection, self.row.id)

    def _line_checks(self, summary: str) -> list[LineCheck]:
        with translated(self.address):
            return lineage.line_checks(self.connection, self.row.id, summary)

    def _put_line_checks(self, summary: str, checks: Sequence[LineCheck]) -> None:
        self.connection.together(lineage.checking(self.row.id, summary, checks))

    def tidy(self, *, pages: int | None = None, unused_days: int | None = None) -> int:
        """Let the server count its rows if they were few; its vacuum removes deleted words."""
        with suppress(ServerError):
            self.connection.run("select memcli.count_rows()")
        if unused_days is None:
            return 0
        before, after = self._bounds(unused_days)
        own = rows.encoder_of(self.facts.fingerprint or "")
        with self.transaction(revise=False):
            result = self._rows(
                "select memcli.drop_vectors($1, $2, $3, $4)", (self.row.id, own, before, after)
            )
        return int(result[0][0])

    def start_over(self, fault: str) -> str:
        """Check the rows again; if they are damaged, delete all except vectors."""
        if self.integrity() == "ok":
            return f"{fault}, but a second check found it intact"
        with self.transaction():
            self._rows("set local statement_timeout = 0")
            self._rows("select memcli.drop_rows($1)", (self.row.id,))
            self._rows(
                "update memcli.vectors set unused_since = $2 where workspace = $1"
                " and unused_since is null",
                (self.row.id, self.now),
            )
            self.row = self.row._replace(chunks=0, words=0)
        return f"{fault}; what is stored of the workspace was deleted and is built again"

    def _drop(self, key: Key) -> list[bytes]:
        """Delete a document inside a transaction; return the hashes of its segments."""
        ((chunks, words, hashes),) = self.connection.rows(*rows.dropping(self.row.id, key))
        self.row = self.row._replace(chunks=self.row.chunks - chunks, words=self.row.words - words)
        return [bytes.fromhex(hash_) for hash_ in hashes]

    def _usage_statements(self, gone: Sequence[bytes], living: Sequence[bytes]) -> list[Statement]:
        return vectors.usage_statements(
            self.row.id, self.facts.fingerprint, gone=gone, living=living, now=self.now
        )

    def _rows(self, sql: str, values: Sequence[object] = ()) -> list[Row]:
        with translated(self.address):
            return self.connection.rows(sql, values)


RETRY_SECONDS = 0.25
_BOOT = "/proc/sys/kernel/random/boot_id"


def machine() -> str:
    """Name this machine and, if the system shows it, this start of the machine."""
    boot = ""
    with suppress(OSError), open(_BOOT, encoding="ascii") as file:
        boot = file.read().strip()
    return f"{socket.gethostname()} {boot}".strip()


def holder() -> str:
    """Name this process among those of all machines."""
    return f"{machine()} {os.getpid()}"


def is_dead(name: str) -> bool:
    """Return whether a holder is a process of this machine that has ended."""
    place, _, pid = name.rpartition(" ")
    if place != machine() or not pid.isdigit():
        return False
    # One writer per process: a holder with our own number is left over from an earlier process.
    return int(pid) == os.getpid() or has_ended(int(pid))


@contextmanager
def lease(
    connection: Connection,
    address: Address,
    name: Name,
    *,
    wait_seconds: float,
    sleep: Callable[[float], None],
) -> Iterator[WorkspaceRow]:
    """Take the lease of a workspace, waiting up to `wait_seconds`; else BusyError.

    StoreError if the user may only read the workspace.
    """
    waited = 0.0
    while (row := _taken(connection, address, name)) is None:
        if waited >= wait_seconds:
            raise BusyError(
                f"another memcli writes {name} in {address.masked}", hint="memcli index --wait 600"
            )
        sleep(RETRY_SECONDS)
        waited += RETRY_SECONDS
    try:
        yield row
    finally:
        with suppress(ServerError):  # the lease ends by itself
            if connection.in_transaction:
                connection.run("rollback")
            connection.rows(
                "update memcli.workspaces set holder = null, lease_until = null"
                " where tenant = $1 and name = $2 and beside_of is null and epoch = $3",
                (name.tenant, name.workspace, row.epoch),
            )


def _taken(connection: Connection, address: Address, name: Name) -> WorkspaceRow | None:
    """Take the lease if it is free, or if its holder has ended."""
    (fields,) = connection.run(select_by_name(connection, name))
    row = row_of(fields, address, name)
    if row.holder and row.is_active and not is_dead(row.holder):
        return None
    rows = connection.rows(
        "update memcli.workspaces set holder = $3, epoch = epoch + 1, lease_until = now() +"
        f" '{LEASE_SECONDS} seconds', changed_at = coalesce(changed_at, now())"
        " where id = $1 and epoch = $2 returning epoch",
        (row.id, row.epoch, holder()),
    )
    if rows:
        return row._replace(epoch=rows[0][0], holder=holder())
    right = "select from memcli.members where role = session_user and tenant = $1 and writes"
    if not connection.rows(right, (name.tenant,)):
        grants = f"memcli store grants --role NAME --tenant {name.tenant} --write"
        raise StoreError(
            f"the shared index {address.masked} lets this user read {name}, not write it",
            hint=f"let its owner run: {grants}",
        )
    return None
