"""Open the shared store that the user's own configuration names, for a folder attached to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from memcli.checking import TYPE_CHECKING
from memcli.config.attached import attached, named
from memcli.config.keys import BY_NAME
from memcli.errors import ConfigError
from memcli.store.postgres.address import HINT, Address, checked, origin_of
from memcli.store.postgres.session import Name
from memcli.store.postgres.store import OnThisMachine, PostgresStore

if TYPE_CHECKING:
    from memcli.config.settings import Config
    from memcli.store.port import Crowd, Store

URL = "store.url"


def address_of(config: Config) -> Address:
    """Give where the shared store is; ConfigError where none is named."""
    url, origin = config.values[URL]
    if not url:
        raise ConfigError(
            "no shared store is named: store.url of your own configuration is empty", hint=HINT
        )
    return checked(url, from_environment=origin == BY_NAME[URL].variable)


def shared_store(
    config: Config,
    environ: Mapping[str, str],
    local: Store,
    at: Callable[[str], Store],
    now_ns: Callable[[], int],
) -> Store | None:
    """Open the workspace that a folder is attached to; None where it is attached to none.

    `local` is the index that it has here, and `at` opens one in a file.
    """
    name = attached(environ).get(config.workspace)
    if name is None:
        return None
    here, origin = OnThisMachine(local, at), origin_of(config.workspace)
    return PostgresStore(address_of(config), Name(*named(name)), here, now_ns, origin=origin)


def named_shared_store(
    config: Config,
    name: str,
    local: Store,
    at: Callable[[str], Store],
    now_ns: Callable[[], int],
) -> Store:
    """Open a workspace by its name, to be read; UsageError for what is no name."""
    here = OnThisMachine(local, at)
    return PostgresStore(address_of(config), Name(*named(name)), here, now_ns)


def crowd(
    config: Config,
    tenant: str,
    local: Store,
    at: Callable[[str], Store],
    now_ns: Callable[[], int],
) -> Crowd:
    """Give all workspaces of a tenant, or with "" of every one, to be read."""
    from memcli.store.postgres.crowd import PostgresCrowd

    return PostgresCrowd(address_of(config), tenant, OnThisMachine(local, at), now_ns)
