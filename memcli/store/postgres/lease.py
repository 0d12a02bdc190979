"""The right to write a workspace: one process has it, by an epoch that all of its changes name.

Who holds it says so in the row of the workspace, until a time that each change puts off. Whoever
takes it over gives the row the next epoch, and nothing that the one before still tries is done. A
process of this machine that has died is told by its number, and is not waited for.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from memcli.checking import TYPE_CHECKING
from memcli.errors import BusyError
from memcli.store.postgres.libpq import Connection, ServerError
from memcli.store.postgres.session import WorkspaceRow, row_of, select_by_name
from memcli.store.postgres.writer import LEASE_SECONDS
from memcli.system import has_ended

if TYPE_CHECKING:
    from memcli.store.postgres.address import Address
    from memcli.store.postgres.session import Name

RETRY_SECONDS = 0.25
_BOOT = "/proc/sys/kernel/random/boot_id"


def machine() -> str:
    """Name this machine and the time since it was started, where the system tells that."""
    boot = ""
    with suppress(OSError), open(_BOOT, encoding="ascii") as file:
        boot = file.read().strip()
    return f"{socket.gethostname()} {boot}".strip()


def holder() -> str:
    """Name this process among those of all machines."""
    return f"{machine()} {os.getpid()}"


def is_dead(name: str) -> bool:
    """Tell of a holder that it is a process of this machine which has ended."""
    place, _, pid = name.rpartition(" ")
    if place != machine() or not pid.isdigit():
        return False
    # One writer for each process: what has its number is left over.
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
    """Hold the right to write a workspace, waiting for it up to `wait_seconds`; else BusyError."""
    waited = 0.0
    while (row := _taken(connection, address, name)) is None:
        if waited >= wait_seconds:
            raise BusyError(
                f"another memcli writes {name} in {address.masked}",
                hint="memcli index --wait 600",
            )
        sleep(RETRY_SECONDS)
        waited += RETRY_SECONDS
    try:
        yield row
    finally:
        with suppress(ServerError):  # it runs out by itself
            if connection.in_transaction:
                connection.run("rollback")
            connection.rows(
                "update memcli.workspaces set holder = null, lease_until = null"
                " where tenant = $1 and name = $2 and beside_of is null and epoch = $3",
                (name.tenant, name.workspace, row.epoch),
            )


def _taken(connection: Connection, address: Address, name: Name) -> WorkspaceRow | None:
    """Take the right where nobody has it, or who has it has ended."""
    (told,) = connection.run(select_by_name(connection, name))
    row = row_of(told, address, name)
    if row.holder and row.is_held and not is_dead(row.holder):
        return None
    found = connection.rows(
        "update memcli.workspaces set holder = $3, epoch = epoch + 1, lease_until = now() +"
        f" '{LEASE_SECONDS} seconds', changed_at = coalesce(changed_at, now())"
        " where id = $1 and epoch = $2 returning epoch",
        (row.id, row.epoch, holder()),
    )
    return row._replace(epoch=found[0][0], holder=holder()) if found else None
