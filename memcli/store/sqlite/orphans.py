"""The indexes in the cache folder whose workspace is gone: listed and removed.

An index remembers its folder. One that does not was made by an earlier memcli, and its next run
would make it again.
"""

from __future__ import annotations

import os
from contextlib import closing, suppress

from memcli.errors import BusyError, StoreError
from memcli.store.lock import writer_lock
from memcli.store.run_records import Orphan
from memcli.store.sqlite.documents import meta
from memcli.store.sqlite.driver import connect, translated

FILE = "index.sqlite"


def orphans_in(cache: str) -> list[Orphan]:
    """List the indexes of folders that are gone, the largest first."""
    found = []
    with suppress(FileNotFoundError, NotADirectoryError):
        for entry in os.scandir(cache):
            index = os.path.join(entry.path, FILE)
            if not (entry.is_dir(follow_symlinks=False) and os.path.isfile(index)):
                continue
            workspace = _workspace_of(index)
            if workspace is not None and not os.path.isdir(workspace):
                files = [each.stat().st_size for each in os.scandir(entry.path) if each.is_file()]
                found.append(Orphan(entry.path, workspace, sum(files)))
    return sorted(found, key=lambda orphan: (-orphan.bytes, orphan.path))


def remove(orphan: Orphan) -> str:
    """Remove an index with all that lies next to it; give why not, empty if it was removed."""
    from shutil import rmtree

    try:
        with writer_lock(os.path.join(orphan.path, FILE), wait_seconds=0.0, sleep=lambda _: None):
            rmtree(orphan.path)
    except (BusyError, StoreError) as error:
        return error.message
    except OSError as error:
        return f"{orphan.path} cannot be removed: {error.strerror}"
    return ""


def _workspace_of(index: str) -> str | None:
    """Read which folder an index is of; None if it cannot be read."""
    with (
        suppress(StoreError, BusyError),
        translated(index),
        closing(connect(index, write=False).connection) as connection,
    ):
        return meta(connection, "workspace") or ""
    return None
