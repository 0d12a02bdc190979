"""The named workspaces: the table [workspaces] of the user's own configuration.

    [workspaces]
    notes = "~/notes"
    work = "/srv/work"

A workspace's own file has no such table: it may come with a clone, and could name folders outside.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from memcli.config.keys import nearest
from memcli.config.settings import read_table, user_file
from memcli.config.sources import HINT, quoted, shortened
from memcli.errors import ConfigError, UsageError

SIGN = "@"  # begins a name instead of a folder: -w @notes
MOST = 1000  # --everywhere looks at each of them
# In a citation, a colon follows the name; one letter would be a drive of Windows.
_NAME = re.compile(r"[^\W_][\w.-]{1,63}")


def named_workspaces(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the folder of each name, in the order of the file; ConfigError if one is not valid."""
    path = user_file(environ)
    table = read_table(path, follow=True).get("workspaces", {})
    if not isinstance(table, dict):
        raise ConfigError(f'{path}: write [workspaces] as lines of NAME = "FOLDER"', hint=HINT)
    if len(table) > MOST:
        raise ConfigError(f"{path} names more than {MOST} workspaces", hint=HINT)
    return {name: _folder(name, value, path) for name, value in table.items()}


def folder_of_name(name: str, environ: Mapping[str, str]) -> str:
    """Return the folder of a name, with or without its sign; UsageError if it is unknown."""
    known, name = named_workspaces(environ), name.removeprefix(SIGN)
    if name in known:
        return known[name]
    if not known:
        raise UsageError(
            f"no workspace is called {name!r}: {user_file(environ)} has no table [workspaces]",
            hint="memcli help workspaces",
        )
    raise UsageError(
        f"no workspace is called {name!r}; the names are {', '.join(known)}",
        hint=f"-w {SIGN}{nearest(name, [*known])}",
    )


def _folder(name: str, value: object, path: str) -> str:
    if not _NAME.fullmatch(name):
        raise ConfigError(
            f"{path}: the name of a workspace has two letters or digits or more, dots, dashes"
            f" and underscores, unlike {quoted(name)}",
            hint=HINT,
        )
    folder = os.path.expanduser(value) if isinstance(value, str) else ""
    if not os.path.isabs(folder) or "\0" in folder:
        raise ConfigError(
            f"{path}: the workspace {shortened(name)} must be the whole path of a folder,"
            f" not {quoted(value)}",
            hint=HINT,
        )
    return os.path.normpath(folder)
