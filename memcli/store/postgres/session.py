"""A connection to a shared index, the row of a workspace, and the right to write it.

Only one process may write a workspace. The row of the workspace names the process until a time that
each change extends. A process that takes over increases the epoch of the row. Each transaction
begins by locking the row under the epoch of its writer; if the epoch is a later one, it changes
nothing and the writer ends. memcli does not wait for a dead process of this machine.
"""

from __future__ import annotations

import json
import os
import re
import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress

from memcli.checking import TYPE_CHECKING, Any
from memcli.config.attached import SLASH, is_name, written
from memcli.errors import BusyError, ConfigError, IncompleteError, IndexMissingError, StoreError
from memcli.record import Record
from memcli.store.postgres import schema
from memcli.store.postgres.libpq import Connection, ServerError
from memcli.store.records import Facts
from memcli.system import has_ended

if TYPE_CHECKING:
    from memcli.store.port import Sleep
    from memcli.store.postgres.address import Address

# Limits of a transaction for a lock, a statement, and a client that has gone away.
BOUNDS = (
    "select set_config('lock_timeout', '5s', true), set_config('statement_timeout', '30s', true),"
    " set_config('idle_in_transaction_session_timeout', '60s', true)"
)
# The version of the tables, and whether the policies between tenants bind this role.
VERSION = (
    "(select row_to_json(v) from (select *, row_security_active('memcli.workspaces') as is_bound"
    " from memcli.version) v)"
)
CHANGED_AT = """to_char(w.changed_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"+00:00"')"""
_COLUMNS = (
    "w.id, w.tenant, w.name, w.origin, w.holder, w.epoch, w.revision, w.next_id, w.chunks,"
    f" w.words, w.meta, {CHANGED_AT}, w.left_ns, w.lease_until > now(),"
    " exists (select 1 from memcli.keywords k where k.workspace = w.id and not k.whole),"
    " exists (select 1 from memcli.speakers s where s.workspace = w.id),"
    " exists (select 1 from memcli.lineage l where l.workspace = w.id)"
)
_SELECT = (
    f"select {_COLUMNS}, {VERSION} from (select 1) one"
    " left join memcli.workspaces w on w.beside_of is null"
)
LEASE_SECONDS = 60
RETRY_SECONDS = 0.25
_BOOT = "/proc/sys/kernel/random/boot_id"
FIRST_PAUSE = 0.1  # seconds
# Messages of a server that will accept connections in a few seconds.
_STARTS = re.compile(
    r"Connection refused|is starting up|is shutting down|not yet accepting|in recovery mode"
    r"|too many clients|remaining connection slots"
)


class Name(Record):
    """The name of a workspace in a shared index."""

    tenant: str
    workspace: str

    def __str__(self) -> str:
        """Write it as `--workspace-name` takes it: `ops`, or `team/ops` with a tenant."""
        return written((self.tenant, self.workspace))

    @property
    def whole(self) -> str:
        """Write it with its tenant, even with the default one."""
        return f"{self.tenant}{SLASH}{self.workspace}"


BROKEN: Mapping[str, str] = {}  # settings that memcli cannot have written


class WorkspaceRow(Record):
    """The row of a workspace in a shared index."""

    id: int
    tenant: str
    name: str
    origin: str  # machine and folder that write it, or ""
    holder: str | None  # the process that writes it now, or wrote it last
    epoch: int  # grows with each new writer
    revision: int
    next_id: int
    chunks: int
    words: int
    meta: Mapping[str, str]  # BROKEN if it cannot be read
    changed_at: str | None  # None before the first change
    left_ns: int  # when a copy that is being built was last worked on
    is_active: bool | None
    has_long: bool  # chunks whose words are not stored
    has_speakers: bool
    has_summaries: bool

    @property
    def facts(self) -> Facts:
        """Return the settings that the index was made with; ValueError if they are damaged."""
        if self.meta is BROKEN:
            raise ValueError("the settings of the index cannot be read")
        fields: dict[str, Any] = {
            name: self.meta[name] for name in Facts._fields if name in self.meta
        }
        dimension = int(fields.pop("dimension")) if "dimension" in fields else None
        for name in ("sources", "mounts"):
            json.loads(fields.get(name, "[]"))
        return Facts()._replace(**fields, revision=self.revision, dimension=dimension)


def read_row(columns: Sequence[Any]) -> WorkspaceRow:
    """Read the row of a workspace, whoever wrote it."""
    row = WorkspaceRow._make(columns)
    try:
        meta = json.loads(str(row.meta))
    except (ValueError, RecursionError):
        meta = None
    is_sound = isinstance(meta, dict) and all(isinstance(value, str) for value in meta.values())
    return row._replace(meta=meta if is_sound else BROKEN)


def opened(
    address: Address, *, write: bool, is_patient: bool = True, sleep: Sleep = time.sleep
) -> Connection:
    """Connect; StoreError if the server is too old.

    If it `is_patient`, it retries a server that refuses connections or is starting, until
    `connect_timeout`.
    """
    waited, pause = 0.0, FIRST_PAUSE
    while True:
        try:
            connection = Connection(address.parameters(write=write))
            break
        except ServerError as error:
            pause = min(pause, address.patience - waited)
            if pause <= 0 or not is_patient or not _STARTS.search(str(error)):
                raise
        sleep(pause)
        waited, pause = waited + pause, pause * 2
    if connection.server_version < schema.LEAST_SERVER:
        version = connection.server_version // 10000
        connection.close()
        raise StoreError(
            f"the server of {address.masked} is PostgreSQL {version}, and a shared index needs"
            f" {schema.LEAST_SERVER // 10000} or newer",
            hint="name another server in store.url",
        )
    return connection


def select_by_name(connection: Connection, name: Name) -> str:
    """Write the SELECT of a workspace's row, without values."""
    tenant, workspace = connection.literal(name.tenant), connection.literal(name.workspace)
    return f"{_SELECT} and w.tenant = {tenant} and w.name = {workspace}"


def select_all(connection: Connection, tenant: str) -> str:
    """Write the SELECT of the rows of all workspaces, or those of a tenant, without values."""
    own = f" and w.tenant = {connection.literal(tenant)}" if tenant else ""
    return f"{_SELECT} and w.changed_at is not null{own} order by w.tenant, w.name"


def select_by_id(*, lock: bool) -> str:
    """Write the SELECT of a workspace's row by number and epoch."""
    locking = " for no key update of w" if lock else ""
    return f"select {_COLUMNS} from memcli.workspaces w where w.id = $1 and w.epoch = $2{locking}"


def row_of(values: tuple[object, ...], address: Address, name: Name) -> WorkspaceRow:
    """Read the row of `select_by_name`; an error if it is missing, or if the tables are newer."""
    *columns, version = values
    check_version(version, address, write=False)
    if columns[0] is None:
        raise IndexMissingError(
            f"the shared index {address.masked} has no workspace {name}, or not for this user",
            hint="memcli store status",
        )
    return read_row(columns)


def rows_of(values: list[tuple[object, ...]], address: Address) -> list[tuple[Name, WorkspaceRow]]:
    """Read the rows of `select_all`; an error if the tables are newer.

    A workspace with a name that memcli never makes is left out: no command can name it.
    """
    check_version(values[0][-1], address, write=False)
    rows = [read_row(columns) for *columns, _ in values if columns[0] is not None]
    return [(Name(row.tenant, row.name), row) for row in rows if is_name(row.tenant, row.name)]


def check_version(version: object, address: Address, *, write: bool) -> dict[str, Any]:
    """Return the version of the tables; an error if this memcli cannot read or write them.

    memcli reads the tables of every older version, and writes only those of its own.
    """
    parts = version if isinstance(version, dict) else {}
    store = f"the shared index {address.masked}"
    if not parts:
        hint = "let the owner of the tables run: memcli store init"
        raise IncompleteError(f"{store} is not set up", hint=hint)
    least = parts["least_writer" if write else "least_reader"]
    if least > schema.VERSION:
        raise StoreError(
            f"{store} was set up by a newer memcli (tables {parts['version']})",
            hint="upgrade memcli",
        )
    if write and parts["version"] < schema.VERSION:
        raise StoreError(
            f"{store} has the tables of an older memcli ({parts['version']}), which this one"
            " reads but does not write",
            hint="let the owner of the tables run: memcli store upgrade",
        )
    return parts


def check_bound(session: Mapping[str, Any], address: Address, name: Name) -> None:
    """Refuse to write notes as a role that the policies between tenants do not bind."""
    if not session["is_bound"]:
        raise ConfigError(
            f"the role that owns the shared index {address.masked} does not write notes, because"
            " the rules between tenants do not bind it",
            hint=f"memcli store grants --role agent --tenant {name.tenant} --write",
        )


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
    sleep: Sleep,
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
