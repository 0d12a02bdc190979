"""The commands for a shared index: set it up, grant access, attach folders, show, delete."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress

from memcli.checking import TYPE_CHECKING, Any
from memcli.errors import BusyError, IndexMissingError, StoreError, UsageError
from memcli.record import Record
from memcli.store.postgres import schema, session
from memcli.store.postgres.errors import translated
from memcli.store.postgres.libpq import Connection, ServerError
from memcli.store.postgres.session import Name, WorkspaceRow

if TYPE_CHECKING:
    from memcli.store.postgres.address import Address

_NAMED = "tenant = $1 and name = $2 and beside_of is null"
_STOPPED = "epoch = epoch + 1, holder = null, lease_until = null"  # its writer, by a new epoch
_MEANWHILE = ("42P06", "42710", "23505")  # another process has made it already


def initialise(address: Address, *, partitions: int = 0) -> bool:
    """Make the tables in one transaction; return whether they were missing.

    If several processes call this, one makes the schema and the others wait for it.
    """
    with translated(address), closing(session.opened(address, write=True)) as connection:
        try:
            return _initialised(connection, address, partitions)
        except ServerError as error:
            if error.state not in _MEANWHILE:
                raise
            connection.run("rollback")
            return _initialised(connection, address, partitions)


def _initialised(connection: Connection, address: Address, partitions: int) -> bool:
    connection.run("begin")
    ((there,),) = connection.rows("select to_regclass('memcli.version') is not null")
    if there:
        _checked(connection, address, write=True)
        return False
    _make_extension(connection, address)
    for statement in schema.statements(partitions):
        connection.run(statement)
    connection.run("commit")
    return True


def _make_extension(connection: Connection, address: Address) -> None:
    """Create the extension pgvector; StoreError if the server has none, or one that is too old."""
    store = f"the server of {address.masked}"
    try:
        connection.run("create extension if not exists vector")
    except ServerError as error:
        if error.state in ("0A000", "58P01", "22023"):
            raise StoreError(
                f"{store} has no pgvector", hint="install pgvector 0.8 or newer on the server"
            ) from error
        if error.state == "42501":
            raise StoreError(
                f"{store} does not let this user create extensions",
                hint="let its administrator run: create extension vector",
            ) from error
        raise
    ((version,),) = connection.rows("select extversion from pg_extension where extname = 'vector'")
    if tuple(int(segment) for segment in version.split(".")[:2]) < schema.LEAST_VECTOR:
        raise StoreError(
            f"{store} has pgvector {version}, and a shared index needs 0.8 or newer",
            hint="let its administrator run: alter extension vector update",
        )


def attach(address: Address, name: Name, origin: str, *, take_over: bool) -> WorkspaceRow:
    """Make a folder of this machine the writer of a workspace; make the workspace if missing."""
    with translated(address), closing(session.opened(address, write=True)) as connection:
        session.check_bound(_checked(connection, address, write=True), address, name)
        connection.rows(
            "insert into memcli.workspaces (tenant, name, origin) values ($1, $2, $3)"
            " on conflict do nothing",
            (name.tenant, name.workspace, origin),
        )
        connection.rows(
            f"update memcli.workspaces set origin = $3, {_STOPPED} where {_NAMED}"
            " and origin <> $3 and (origin = '' or $4)",
            (name.tenant, name.workspace, origin, take_over),
        )
        (fields,) = connection.run(session.select_by_name(connection, name))
        row = session.row_of(fields, address, name)
    if row.origin != origin:
        raise BusyError(
            f"{name} in {address.masked} is written by {row.origin}",
            hint=f"memcli store attach {name} --take-over",
        )
    return row


def detach(address: Address, name: Name, origin: str) -> bool:
    """Release a workspace for another folder; return whether this one was its writer."""
    with translated(address), closing(session.opened(address, write=True)) as connection:
        rows = connection.rows(
            f"update memcli.workspaces set origin = '', {_STOPPED} where {_NAMED}"
            " and origin = $3 returning id",
            (name.tenant, name.workspace, origin),
        )
    return bool(rows)


class Contents(Record):
    """The contents of a workspace, before it is deleted."""

    origin: str
    writer: str  # the process that writes it now, or ""
    documents: int
    chunks: int
    vectors: int


def contents(address: Address, name: Name) -> Contents:
    """Count what a workspace contains; IndexMissingError if this role sees no such workspace."""
    with _connected(address, write=False) as connection:
        rows = connection.rows(
            "select w.origin, case when w.lease_until > now() then coalesce(w.holder, '') else ''"
            " end, (select count(*) from memcli.documents d where d.workspace = w.id), w.chunks,"
            " (select count(*) from memcli.vectors v where v.workspace = w.id)"
            " from memcli.workspaces w where w.tenant = $1 and w.name = $2 and w.beside_of is null",
            name,
        )
    if not rows:
        raise _missing(address, name)
    return Contents._make(rows[0])


def delete(address: Address, name: Name) -> None:
    """Delete a workspace with all of its rows, and its half-built copy."""
    with _connected(address, write=True) as connection:
        connection.run("begin; set local statement_timeout = 0; set local lock_timeout = '10s'")
        rows = connection.rows(
            "select w.id from memcli.workspaces w where w.tenant = $1 and w.name = $2"
            " order by w.beside_of nulls last for no key update",
            name,
        )
        if not rows:
            raise _missing(address, name)
        for (number,) in rows:
            connection.rows("select memcli.drop_workspace($1)", (number,))
        ((left,),) = connection.rows(
            "select count(*) from memcli.workspaces where id = any($1::bigint[])",
            ([number for (number,) in rows],),
        )
        if left:
            raise _missing(address, name)
        connection.run("commit")


def rename(address: Address, name: Name, new: Name) -> None:
    """Rename a workspace, perhaps into another tenant that this role may write."""
    with _connected(address, write=True) as connection:
        try:
            rows = connection.rows(
                f"update memcli.workspaces set tenant = $3, name = $4, {_STOPPED}"
                f" where {_NAMED} returning id",
                (*name, *new),
            )
        except ServerError as error:
            if error.state == "23505":
                raise UsageError(
                    f"{address.masked} has a workspace {new} already", hint="memcli store status"
                ) from error
            raise
    if not rows:
        raise _missing(address, name)


def _missing(address: Address, name: Name) -> IndexMissingError:
    return IndexMissingError(
        f"the shared index {address.masked} has no workspace {name}, or this user may not write it",
        hint="memcli store status",
    )


def run(address: Address, statements: Iterable[str]) -> None:
    """Run statements with the rights of an administrator in one transaction."""
    with _connected(address, write=True) as connection:
        connection.run("; ".join(("begin", *statements, "commit")))


class TenantRole(Record):
    """A role that uses a tenant."""

    role: str
    tenant: str
    writes: bool


def members(address: Address) -> list[TenantRole]:
    """List the roles of each tenant, as far as this role may see them."""
    with _connected(address, write=False) as connection:
        rows = connection.run(
            "select m.role, m.tenant, m.writes from memcli.members m order by m.tenant, m.role"
        )
    return [TenantRole._make(row) for row in rows]


@contextmanager
def _connected(address: Address, *, write: bool) -> Iterator[Connection]:
    """Connect to tables that this memcli can read, or with `write` also write."""
    with translated(address), closing(session.opened(address, write=write)) as connection:
        _checked(connection, address, write=write)
        yield connection


def _checked(connection: Connection, address: Address, *, write: bool) -> dict[str, Any]:
    version = connection.run(f"select {session.VERSION}")[0][0]
    return session.check_version(version, address, write=write)


class SeenWorkspace(Record):
    """A workspace as a role sees it."""

    name: Name
    origin: str
    revision: int
    changed_at: str | None  # ISO time with zone
    documents: int
    chunks: int
    writer: str  # the process that writes it now, or ""


class SharedStatus(Record):
    """A shared index as a role sees it."""

    store: str
    server: str  # host and port of the server that answered
    version: str
    pgvector: str  # its version
    role: str
    standby: bool
    lag_seconds: float | None  # behind the primary, or of the slowest standby; None if unknown
    tables: int  # their version
    bytes: int | None  # of the whole database; None if the role sees only a part of it
    workspaces: tuple[SeenWorkspace, ...]


_LOOK = """
select current_setting('server_version'),
  coalesce((select extversion from pg_extension where extname = 'vector'), ''),
  current_user::text, pg_is_in_recovery(), (select version from memcli.version),
  case when not row_security_active('memcli.workspaces')
    then pg_database_size(current_database()) end, (case when pg_is_in_recovery()
    then extract(epoch from now() - pg_last_xact_replay_timestamp())
    else (select extract(epoch from max(replay_lag)) from pg_stat_replication) end)::float8
"""
_SEEN = f"""
select w.tenant, w.name, w.origin, w.revision,
  {session.CHANGED_AT},
  (select count(*) from memcli.documents d where d.workspace = w.id and d.skip = ''), w.chunks,
  case when w.lease_until > now() then coalesce(w.holder, '') else '' end
from memcli.workspaces w where w.beside_of is null order by w.tenant, w.name
"""


def look(address: Address) -> SharedStatus:
    """Read the state of a shared index, as far as the role may."""
    with _connected(address, write=False) as connection:
        ((version, vector, role, standby, tables, size, lag),) = connection.run(_LOOK)
        seen = tuple(
            SeenWorkspace(Name(tenant, workspace), *fields)
            for tenant, workspace, *fields in connection.run(_SEEN)
        )
        return SharedStatus(
            address.masked, connection.server, version, vector, role, standby, lag, tables,
            size, seen,
        )  # fmt: skip


def upgrade(address: Address) -> int:
    """Upgrade the tables to the newest version; return the previous version."""
    with translated(address), closing(session.opened(address, write=True)) as connection:
        version: int = _checked(connection, address, write=False)["version"]
        if version < schema.FIRST:
            raise StoreError(
                f"the shared index {address.masked} has tables that no release of memcli made",
                hint="let their owner run: drop schema memcli cascade; then memcli store init",
            )
        if version < schema.VERSION:
            migrate(connection)
        return version


LOCKED = "55P03"
MOST_TRIES, PAUSE = 60, 1.0
_BOUNDS = "set local lock_timeout = '2s'; set local statement_timeout = 0"


def migrate(connection: Connection) -> None:
    """Run every step; ServerError if the role does not own the tables.

    Readers are not affected, and writers of an older memcli continue. Each step is a transaction
    that can run again, so an upgrade that was killed continues when you repeat it. If a step needs
    a table for itself, it waits two seconds at most, then lets others pass and tries again.
    """
    for step in _steps(connection):
        for turn in range(MOST_TRIES):
            try:
                connection.run("; ".join(("begin", _BOUNDS, *step, "commit")))
                break
            except ServerError as error:
                connection.run("rollback")
                if error.state != LOCKED or turn == MOST_TRIES - 1:
                    raise
                time.sleep(PAUSE)


def _steps(connection: Connection) -> Iterator[Sequence[str]]:
    constraints = {name for (name,) in connection.run(_CONSTRAINTS)}
    for table, check in schema.CHECKS:
        name = check.split()[1]
        if name not in constraints:
            yield [f"alter table memcli.{table} add {check} not valid"]
            with suppress(ServerError):  # for rows that a role has forged before
                connection.run(f"alter table memcli.{table} validate constraint {name}")
    yield [*schema.functions(), f"update memcli.version set version = {schema.VERSION}"]


_CONSTRAINTS = "select conname from pg_constraint where connamespace = 'memcli'::regnamespace"
