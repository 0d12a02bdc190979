"""Open the store of a configuration; only this module knows which kinds exist."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress

from memcli.checking import TYPE_CHECKING
from memcli.config.keys import BY_NAME, FLAG_ORIGIN
from memcli.config.settings import Config, cache_folder, folder_of
from memcli.config.sources import HINT
from memcli.errors import BusyError, ConfigError, StoreError

if TYPE_CHECKING:
    from memcli.store.port import SharedIndex, Store
    from memcli.store.postgres.address import Address
    from memcli.store.run_records import Orphan
    from memcli.store.tiers import Tier

URL = "store.url"
FILE = "index.sqlite"
REPORTED = "reported"  # next to an index: it was reported that its folder is gone
VECTORS = "vectors.sqlite"  # in the cache folder: vectors that all indexes of the user share


def open_store(config: Config, environ: Mapping[str, str], now_ns: Callable[[], int]) -> Store:
    """Open the store of a workspace; nothing is read yet.

    The index of an attached folder is the shared one.
    """
    shared = os.path.join(cache_folder(environ), VECTORS)
    local = store_at(store_path(config, environ), now_ns, _tiers(config), shared)
    if name := shared_name(config, environ):
        from memcli.store.postgres.address import origin_of

        return _shared(config, name, local, now_ns, origin=origin_of(config.workspace))
    return local


def shared_name(config: Config, environ: Mapping[str, str]) -> str:
    """Return the name of the workspace in its shared index; "" if its index is on this machine.

    That is so if no URL is set, the folder is not attached, the settings name an index file, or
    `--with` adds sources for one command.
    """
    is_usual = (
        not config("store.path") and config.values["files.agent_memories"].origin != FLAG_ORIGIN
    )
    if not (config(URL) and is_usual):
        return ""
    from memcli.config.attached import attached

    return attached(environ).get(config.workspace, "")


def _tiers(config: Config) -> Sequence[Tier]:
    """Read the tiers of the encoder, if it has any; most have none."""
    cut = config.values.get(f"{config('embedding.encoder')}.matryoshka")
    if cut is None or not cut.value:
        return ()
    from memcli.store.tiers import tiers_of

    return tiers_of(config)


def address_of(config: Config) -> Address:
    """Return where the shared index is; ConfigError if none is configured."""
    from memcli.store.postgres.address import HINT, checked

    url, origin = config.values[URL]
    if not url:
        raise ConfigError(
            "no shared index is configured: store.url in your own configuration is empty", hint=HINT
        )
    return checked(url, from_environment=origin == BY_NAME[URL].variable)


def named_store(config: Config, name: str, place: str, now_ns: Callable[[], int]) -> Store:
    """Open a workspace of the shared index by its name there, for reading.

    `place` is a folder of its own. UsageError if the name is not valid.
    """
    return _shared(config, name, store_at(os.path.join(place, FILE), now_ns), now_ns)


def open_shared_index(config: Config, tenant: str) -> SharedIndex:
    """Open all workspaces of a tenant of the shared index, or with "" of every tenant."""
    from memcli.store.postgres.store import PostgresSharedIndex

    return PostgresSharedIndex(address_of(config), tenant)


def _shared(
    config: Config, name: str, local: Store, now_ns: Callable[[], int], origin: str = ""
) -> Store:
    """Open a workspace of the shared index; `local` would be its index without a server."""
    from memcli.config.attached import named
    from memcli.store.postgres.session import Name
    from memcli.store.postgres.store import PostgresStore

    return PostgresStore(address_of(config), Name(*named(name)), local, now_ns, origin=origin)


def store_at(
    path: str, now_ns: Callable[[], int], tiers: Sequence[Tier] = (), shared: str = ""
) -> Store:
    """Open the store in a file, which is searched by these tiers first.

    `shared` is the file of the vectors that several indexes share.
    """
    from memcli.store.sqlite.store import SqliteStore

    return SqliteStore(path, now_ns, tiers, shared)


def store_path(config: Config, environ: Mapping[str, str]) -> str:
    """Name the index file of the workspace: configured, or in the cache folder."""
    configured = config("store.path")
    if configured:
        if configured.lower().endswith((".md", ".markdown", ".toml")):
            raise ConfigError(
                f"store.path names a file that is not an index: {configured}", hint=HINT
            )
        return os.path.join(config.workspace, os.path.expanduser(configured))
    memories = config.values["files.agent_memories"]
    # With several workspaces, agent memories do not change the stored sources.
    together = "\0".join(memories.value) if memories.origin == FLAG_ORIGIN else ""
    name = f"{config.workspace}\0{together}" if together else config.workspace
    return os.path.join(folder_of(name, environ), FILE)


def orphans(environ: Mapping[str, str]) -> Sequence[Orphan]:
    """List the indexes in the cache folder whose workspace is gone, the largest first.

    An index remembers its folder. If it does not, an earlier memcli made it, and the next run in
    that folder makes another one.
    """
    from memcli.store.run_records import Orphan

    result = []
    with suppress(FileNotFoundError, NotADirectoryError):
        for entry in os.scandir(cache_folder(environ)):
            index = os.path.join(entry.path, FILE)
            if not (entry.is_dir(follow_symlinks=False) and os.path.isfile(index)):
                continue
            workspace = _workspace_of(index)
            if workspace is not None and not os.path.isdir(workspace):
                files = [each.stat().st_size for each in os.scandir(entry.path) if each.is_file()]
                result.append(Orphan(entry.path, workspace, sum(files)))
    return sorted(result, key=lambda orphan: (-orphan.bytes, orphan.path))


def new_orphans(environ: Mapping[str, str]) -> Sequence[Orphan]:
    """List those of `orphans` that this function has not listed before."""
    return [orphan for orphan in orphans(environ) if _is_new(orphan)]


def _is_new(orphan: Orphan) -> bool:
    try:
        os.close(os.open(os.path.join(orphan.path, REPORTED), os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        return False
    except OSError:  # it cannot be noted, so it is reported again
        pass
    return True


def remove_orphan(orphan: Orphan) -> str:
    """Remove an index with all its files; return why not, empty if it was removed."""
    from shutil import rmtree

    from memcli.store.lock import writer_lock

    try:
        with writer_lock(os.path.join(orphan.path, FILE), wait_seconds=0.0, sleep=lambda _: None):
            rmtree(orphan.path)
    except (BusyError, StoreError) as error:
        return error.message
    except OSError as error:
        return f"{orphan.path} cannot be removed: {error.strerror}"
    return ""


def _workspace_of(index: str) -> str | None:
    """Read the folder of an index; None if it cannot be read."""
    from memcli.store.sqlite.documents import meta
    from memcli.store.sqlite.driver import connect, translated

    with (
        suppress(StoreError, BusyError),
        translated(index),
        closing(connect(index, write=False).connection) as connection,
    ):
        return meta(connection, "workspace") or ""
    return None
