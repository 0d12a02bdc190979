"""Write a configuration file that says everything and changes nothing: all of it is a comment."""

from __future__ import annotations

import textwrap
from itertools import groupby

from memcli.cli.settings_text import allowed, shown_default
from memcli.config.settings import KEYS, Key
from memcli.errors import UsageError
from memcli.workspace import whole

_HEAD = """\
# {what}
# Take the # from before a setting to change it; what is shown is the default. Flags and MEMCLI_*
# variables go before this file. memcli config shows what holds, and where it comes from.
"""
_SOURCE = """
# One more folder, next to the memory itself:
# [[source]]
# name = "handbook"
# path = "docs"
# trust = "trusted"          # or "untrusted": text of others
"""
_WORKSPACE = "Settings of memcli for this workspace."
_USER = "Your own settings of memcli, for all workspaces; a workspace's memcli.toml goes before."


def commented(*, user: bool) -> str:
    """Give every setting with its meaning and its default, behind #.

    A workspace's file leaves out what may only stand in the user's own.
    """
    keys = [key for key in KEYS if user or not key.user_only]
    sections = groupby(keys, key=lambda key: key.name.partition(".")[0])
    text = _HEAD.format(what=_USER if user else _WORKSPACE)
    for section, each in sections:
        found = list(each)
        # A key without a table has to stand before all tables.
        head = "\n" if found[0].name == section else f"\n[{section}]\n"
        text += head + "".join(map(_setting, found))
    return text + _SOURCE


def _setting(key: Key) -> str:
    about = textwrap.fill(
        f"{key.help} Values: {allowed(key)}.", 98, initial_indent="# ", subsequent_indent="# ",
        break_on_hyphens=False,
    )  # fmt: skip
    return f"{about}\n# {key.name.rpartition('.')[2]} = {shown_default(key)}\n"


def write_new(path: str, *, user: bool) -> None:
    """Write the file; one that exists is never touched."""
    try:
        whole.write_new(path, commented(user=user))
    except FileExistsError:
        raise UsageError(
            f"{path} already exists and is left as it is", hint="memcli config"
        ) from None
    except OSError as error:
        raise UsageError(
            f"{path} cannot be written: {error.strerror}", hint="memcli config"
        ) from None
