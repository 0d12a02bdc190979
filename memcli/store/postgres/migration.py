"""Upgrade the tables of a shared index while it is in use.

Readers are not affected. Writers of an older memcli continue if they may write the new tables;
otherwise they stop at the first step. Writers of this one begin after the last step. Each step is a
transaction that can run again, so an upgrade that was killed continues when you repeat it. If a
step needs a table for itself, it waits two seconds at most, then lets others pass and tries again.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress

from memcli.checking import TYPE_CHECKING
from memcli.store.postgres import schema
from memcli.store.postgres.libpq import ServerError

if TYPE_CHECKING:
    from memcli.store.port import Sleep
    from memcli.store.postgres.libpq import Connection

LOCKED = "55P03"
MOST_TRIES, PAUSE = 60, 1.0
_BOUNDS = "set local lock_timeout = '2s'; set local statement_timeout = 0"


def migrate(connection: Connection, version: int, *, sleep: Sleep = time.sleep) -> None:
    """Run every step from this version; ServerError if the role does not own the tables."""
    for step in _steps(connection, version):
        for turn in range(MOST_TRIES):
            try:
                connection.run("; ".join(("begin", _BOUNDS, *step, "commit")))
                break
            except ServerError as error:
                connection.run("rollback")
                if error.state != LOCKED or turn == MOST_TRIES - 1:
                    raise
                sleep(PAUSE)


def _steps(connection: Connection, version: int) -> Iterator[Sequence[str]]:
    known = "(select id from memcli.workspaces)"
    if version < schema.LEAST_WRITER:
        yield [
            f"update memcli.version set least_writer = {schema.LEAST_WRITER}",
            "update memcli.workspaces set epoch = epoch + 1, holder = null, lease_until = null",
        ]
    yield [
        "delete from memcli.workspaces w where w.beside_of is not null and not exists (select 1"
        " from memcli.workspaces m where m.id = w.beside_of and m.tenant = w.tenant"
        " and m.name = w.name and m.beside_of is null)"
    ]
    # Rows without a workspace: left by a manual deletion, or inserted by a stranger.
    for table in schema.OF_WORKSPACES:
        yield [f"delete from memcli.{table} where workspace not in {known}"]
    yield [
        "alter table memcli.workspaces alter column id drop identity if exists",
        f"alter table memcli.workspaces alter column id set default {schema.RANDOM}",
    ]
    constraints = {name for (name,) in connection.run(_CONSTRAINTS)}
    if "workspaces_same_name" not in constraints:
        yield [schema.SAME_NAME_KEY, schema.SAME_NAME]
    partitions: dict[str, list[str]] = {}
    for table, partition in connection.run(_PARTITIONS):
        partitions.setdefault(table, []).append(partition)
    for table in schema.OF_WORKSPACES:
        name = f"{table}_workspace_fkey"
        if name not in constraints:
            late = "" if partitions else " not valid"
            yield [
                f"alter table memcli.{table} add constraint {name} foreign key (workspace)"
                f" references memcli.workspaces on delete cascade{late}"
            ]
            if late:
                yield [f"alter table memcli.{table} validate constraint {name}"]
    for table, check in schema.CHECKS:
        name = check.split()[1]
        if name not in constraints:
            yield [f"alter table memcli.{table} add {check} not valid"]
            with suppress(ServerError):  # for rows that a role has forged before
                connection.run(f"alter table memcli.{table} validate constraint {name}")
    _make_index(connection, is_cut=bool(partitions))
    yield [*schema.functions()]
    for table in ("members", "workspaces", *schema.TABLES):
        yield [
            *(f"drop policy if exists {name} on memcli.{table}" for name in ("reads", "writes")),
            *schema.policies(table),
            *(
                f"alter table memcli.{each} enable row level security"
                for each in partitions.get(table, ())
            ),
        ]
    every = ", ".join(f"memcli.{name}" for name in ("version", "members", "workspaces"))
    every += "".join(f", memcli.{table}" for table in schema.TABLES)
    for (role,) in connection.run(_GROUPS):
        yield [f"revoke all on {every} from {role}", *schema.grants(role)]
    yield [
        f"update memcli.version set version = {schema.VERSION},"
        f" least_reader = {schema.LEAST_READER}, least_writer = {schema.LEAST_WRITER}"
    ]


def _make_index(connection: Connection, *, is_cut: bool) -> None:
    """Make the index of hashes; writers continue unless the table is partitioned."""
    if not connection.run("select 1 from pg_index where indexrelid ="
                          " to_regclass('memcli.vectors_hash') and indisvalid"):  # fmt: skip
        connection.run("drop index if exists memcli.vectors_hash")
        how = "" if is_cut else " concurrently"
        connection.run(schema.HASH_INDEX.replace("create index", f"create index{how}"))


_CONSTRAINTS = "select conname from pg_constraint where connamespace = 'memcli'::regnamespace"
_PARTITIONS = (
    "select p.relname, c.relname from pg_inherits i join pg_class c"
    " on c.oid = i.inhrelid join pg_class p on p.oid = i.inhparent"
    " where c.relnamespace = 'memcli'::regnamespace and c.relkind = 'r'"
)
_GROUPS = (
    "select quote_ident(r.rolname) from pg_class c, aclexplode(c.relacl) a join pg_roles r"
    " on r.oid = a.grantee where c.oid = 'memcli.documents'::regclass"
    " and a.privilege_type = 'INSERT' and a.grantee <> c.relowner"
)
