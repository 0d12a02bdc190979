"""The commands of a shared index, for the folder of an opened workspace.

The notes are in the files, so nobody loses a note if a folder is detached or the server is lost.
"""

from __future__ import annotations

import re

from memcli.checking import TYPE_CHECKING
from memcli.config import attached
from memcli.errors import NotFoundError, StoreError, UsageError
from memcli.store.open import address_of
from memcli.store.postgres import admin, schema
from memcli.store.postgres.address import origin_of
from memcli.store.postgres.admin import Contents as Contents
from memcli.store.postgres.admin import SharedStatus as SharedStatus
from memcli.store.postgres.admin import members as members
from memcli.store.postgres.admin import run as run
from memcli.store.postgres.session import Name

if TYPE_CHECKING:
    from memcli.api.workspace import Workspace
    from memcli.config.settings import Config

# PostgreSQL cuts longer names. Without the characters that end a name in SQL.
_ROLE = re.compile(r"[^\W\d][\w.@-]{0,62}")


def script(partitions: int) -> str:
    """Return the SQL that sets up a shared index, for an administrator to run."""
    statements = ("begin", *schema.statements(_checked(partitions)), "commit")
    return "".join(f"{statement};\n" for statement in statements)


def initialise(config: Config, partitions: int) -> bool:
    """Create the tables; return whether they were missing."""
    return admin.initialise(address_of(config), partitions=_checked(partitions))


def upgrade(config: Config) -> tuple[int, int]:
    """Upgrade the tables to the version of this memcli; return both versions.

    Newer tables stay as they are.
    """
    before = admin.upgrade(address_of(config))
    return before, max(before, schema.VERSION)


def attach(workspace: Workspace, name: str, *, take_over: bool) -> None:
    """Attach the folder of a workspace."""
    config, key = workspace.config, attached.named(name)
    before = attached.attached(workspace.environ).get(config.workspace)
    if before is not None and attached.named(before) != key:
        raise UsageError(
            f"{config.workspace} is attached as {before} already", hint="memcli store detach"
        )
    own = origin_of(config.workspace)
    admin.attach(address_of(config), Name(*key), own, take_over=take_over)
    attached.remember(workspace.environ, config.workspace, attached.written(key))


def detach(workspace: Workspace) -> tuple[str, bool, str]:
    """Detach the folder, whether or not the server answers.

    Return the name there, whether this folder was the writer, and why the server does not know it
    yet ("" if it does).
    """
    config = workspace.config
    name = attached.attached(workspace.environ).get(config.workspace)
    if name is None:
        raise NotFoundError(
            f"{config.workspace} is not attached to a shared index", hint="memcli store status"
        )
    address, own = address_of(config), Name(*attached.named(name))
    problem, was_ours = "", True
    try:
        was_ours = admin.detach(address, own, origin_of(config.workspace))
    except StoreError as error:
        problem = error.message
    attached.remember(workspace.environ, config.workspace, None)
    return name, was_ours, problem


def look(workspace: Workspace) -> tuple[SharedStatus, str | None]:
    """Return the status of the shared index, and the name of the folder there or None."""
    name = attached.attached(workspace.environ).get(workspace.config.workspace)
    return admin.look(address_of(workspace.config)), name


def contents(config: Config, name: str) -> Contents:
    """Count what a workspace contains."""
    return admin.contents(address_of(config), Name(*attached.named(name)))


def delete(workspace: Workspace, name: str) -> None:
    """Delete a workspace of the shared index, and detach the folders of this machine from it."""
    own = attached.named(name)
    admin.delete(address_of(workspace.config), Name(*own))
    _follow(workspace, own, None)


def rename(workspace: Workspace, name: str, new: str) -> None:
    """Rename a workspace, also for the folders of this machine."""
    old, target = attached.named(name), attached.named(new)
    if old == target:  # it would stop a process that is writing
        raise UsageError(f"{name} has this name already", hint="memcli store status")
    admin.rename(address_of(workspace.config), Name(*old), Name(*target))
    _follow(workspace, old, attached.written(target))


def _follow(workspace: Workspace, old: tuple[str, str], new: str | None) -> None:
    for folder, name in attached.attached(workspace.environ).items():
        if attached.named(name) == old:
            attached.remember(workspace.environ, folder, new)


def access_script(role: str, tenant: str, *, writes: bool, leaves: bool) -> tuple[str, ...]:
    """Return the SQL that gives a role access to a tenant, or takes it away."""
    attached.check_tenant(tenant)
    if not _ROLE.fullmatch(role):
        raise UsageError(
            "the name of a role has letters, digits, dots, dashes and underscores, and begins with"
            f" a letter, unlike {role[:80]!r}",
            hint="memcli help shared-index",
        )
    if leaves:
        return tuple(schema.leaving(role, tenant))
    return tuple(schema.joining(role, tenant, writes=writes))


def _checked(partitions: int) -> int:
    if not 0 <= partitions <= schema.MOST_PARTITIONS:
        raise UsageError(
            f"the number of partitions must be between 0 and {schema.MOST_PARTITIONS},"
            f" not {partitions}",
            hint="memcli help shared-index",
        )
    return partitions
