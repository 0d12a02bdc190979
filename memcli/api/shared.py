"""The commands of a shared index, for the folder of an opened workspace.

The files of a workspace are the truth: detaching one, or losing the server, loses nothing.
"""

from __future__ import annotations

from memcli.checking import TYPE_CHECKING
from memcli.config import attached
from memcli.errors import NotFoundError, UsageError
from memcli.store.open import address_of
from memcli.store.postgres import admin, schema
from memcli.store.postgres.address import origin_of
from memcli.store.postgres.admin import SharedStatus as SharedStatus
from memcli.store.postgres.session import Name

if TYPE_CHECKING:
    from memcli.api.workspace import Workspace
    from memcli.config.settings import Config


def script(partitions: int) -> str:
    """Return the SQL that sets up a shared index, for an administrator to run."""
    made = [
        "begin",
        *schema.statements(_checked(partitions)),
        *schema.grants(),
        "-- each login that may read a tenant; writes = true where it may write too:\n"
        "-- grant memcli_agents to agent7;\n"
        "-- insert into memcli.members values ('agent7', 'default', true)",
        "commit",
    ]
    return "".join(f"{statement};\n" for statement in made)


def initialise(config: Config, partitions: int) -> tuple[str, bool]:
    """Create the tables; return the index's address, and whether they were missing."""
    address = address_of(config)
    return address.masked, admin.initialise(address, partitions=_checked(partitions))


def upgrade(config: Config) -> tuple[str, int]:
    """Bring the tables to the newest version; give the store's address, and the one they had."""
    address = address_of(config)
    return address.masked, admin.upgrade(address)


def attach(workspace: Workspace, name: str, *, take_over: bool) -> str:
    """Attach the folder of a workspace; give the store's address."""
    config, told = workspace.config, attached.named(name)
    address = address_of(config)
    before = attached.attached(workspace.environ).get(config.workspace)
    if before is not None and attached.named(before) != told:
        raise UsageError(
            f"{config.workspace} is attached as {before} already", hint="memcli store detach"
        )
    admin.attach(address, Name(*told), origin_of(config.workspace), take_over=take_over)
    attached.remember(workspace.environ, config.workspace, attached.written(told))
    return address.masked


def detach(workspace: Workspace) -> tuple[str, str, bool]:
    """Detach the folder; return the address, the name, and whether this folder wrote it."""
    config = workspace.config
    name = attached.attached(workspace.environ).get(config.workspace)
    if name is None:
        raise NotFoundError(
            f"{config.workspace} is not attached to a shared index", hint="memcli store status"
        )
    origin = origin_of(config.workspace)
    address = address_of(config)
    was_ours = admin.detach(address, Name(*attached.named(name)), origin)
    attached.remember(workspace.environ, config.workspace, None)
    return address.masked, name, was_ours


def look(workspace: Workspace) -> tuple[SharedStatus, str | None]:
    """Look at the shared index; return the name of the folder there too, None if it has none."""
    name = attached.attached(workspace.environ).get(workspace.config.workspace)
    return admin.look(address_of(workspace.config)), name


def _checked(partitions: int) -> int:
    if not 0 <= partitions <= schema.MOST_PARTITIONS:
        raise UsageError(
            f"--partitions must be between 0 and {schema.MOST_PARTITIONS}, not {partitions}",
            hint="memcli help shared-index",
        )
    return partitions
