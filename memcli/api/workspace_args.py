"""Choose the workspaces to search together, their names, and the primary one."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence

from memcli.api.opened import current_folder
from memcli.config.workspaces import SIGN, folder_of_name, named_workspaces
from memcli.errors import UsageError
from memcli.workspace.locate import ENV_NAME, locate


def folders_of(
    named: Sequence[str], environ: Mapping[str, str], *, everywhere: bool, may_miss: bool = False
) -> dict[str, str]:
    """Give the folder of each workspace by its name; a folder that is named twice is one.

    The errors are those of `open_several`. A folder that is named `may_miss`.
    """
    known = named_workspaces(environ)
    if everywhere and not known:
        raise UsageError(
            "--everywhere asks the workspaces that have a name, and none has",
            hint="memcli help workspaces",
        )
    cwd = current_folder()
    listed = [
        (each.removeprefix(SIGN), folder_of_name(each, environ))
        if each.startswith(SIGN)
        else ("", _located(each, cwd, may_miss=may_miss))
        for each in named
    ]
    listed += known.items() if everywhere else ()
    folders = {*known.values(), *(folder for _, folder in listed)}
    real_of = {folder: os.path.realpath(folder) for folder in folders}
    names = {real_of[folder]: name for name, folder in reversed(known.items())}
    found: dict[str, str] = {}
    for name, folder in listed:
        real = real_of[folder]
        if real not in found.values():
            wanted = name or names.get(real) or _name_of(real)
            taken = {*found, *known} - {name, names.get(real, "")}
            found[_free(wanted, taken)] = real
    return found


def _located(named: str, cwd: str | None, *, may_miss: bool) -> str:
    whole = os.path.abspath(os.path.join(cwd or os.sep, os.path.expanduser(named)))
    if may_miss and not os.path.exists(whole):
        return whole
    return locate(named, None, cwd).root


def _name_of(folder: str) -> str:
    """Make a name of the last part of a path."""
    name = "".join(c if c.isalnum() or c in "_.-" else "-" for c in os.path.basename(folder))
    return name.strip(".-") or "workspace"


def _free(name: str, taken: Collection[str]) -> str:
    """Return an unused name: notes, notes-2, notes-3."""
    numbered = (f"{name}-{number}" if number > 1 else name for number in range(1, len(taken) + 2))
    return next(each for each in numbered if each not in taken)


def own_first(
    folders: Mapping[str, str], environ: Mapping[str, str], here: str | None
) -> list[tuple[str, str]]:
    """Put the innermost workspace around the current folder first, if there is one."""
    here = os.path.realpath(environ.get(ENV_NAME) or here or current_folder() or os.sep)
    around = [
        folder for folder in folders.values()
        if os.path.join(here, "").startswith(os.path.join(folder, ""))
    ]  # fmt: skip
    own = max(around, key=len, default="")
    return sorted(folders.items(), key=lambda each: each[1] != own)
