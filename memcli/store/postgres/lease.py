"""The right to write a workspace of a shared index.

Only one process may write a workspace. The row of the workspace names the process until a time that
each change extends. A process that takes over increases the epoch of the row. Each transaction
begins by locking the row under the epoch of its writer; if the epoch is a later one, it changes
nothing and the writer ends. memcli does not wait for a dead process of this machine.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from memcli.checking import TYPE_CHECKING
from memcli.errors import BusyError, StoreError
from memcli.store.postgres.libpq import Connection, ServerError
from memcli.store.postgres.session import Name, WorkspaceRow, row_of, select_by_name
from memcli.system import has_ended

if TYPE_CHECKING:
    from memcli.store.postgres.address import Address

LEASE_SECONDS = 60
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
