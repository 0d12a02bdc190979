"""Open several workspaces as one, and share equal encoders.

The primary workspace is that of the current folder, or else the first one. Its settings apply to
the question, and it wins ties. Every other workspace keeps the settings for reading its files.
"""

from __future__ import annotations

import os
from _thread import allocate_lock as Lock
from collections.abc import Callable, Collection, Mapping, Sequence
from shlex import quote

from memcli.api.workspace import Clock, Workspace, current_folder, open_workspace
from memcli.api.workspaces import NamedWorkspace, Selection, Workspaces, for_folder, joined
from memcli.checking import TYPE_CHECKING
from memcli.config.settings import user_file
from memcli.config.workspaces import SIGN, folder_of_name, named_workspaces
from memcli.errors import ConfigError, MemcliError, Reason, UsageError, error_of
from memcli.workspace.locate import ENV_NAME, locate

if TYPE_CHECKING:
    from typing import Any

    from memcli.embedding.encoders import OpenedEncoder
    from memcli.types import Encoder


class SerialEncoder:
    """An encoder that threads take turns at; a `types.Encoder`."""

    def __init__(self, encoder: Encoder) -> None:
        """Take the encoder that is shared."""
        self._encoder, self._guard = encoder, Lock()
        self.fingerprint, self.dimension = encoder.fingerprint, encoder.dimension
        self.max_tokens, self.count = encoder.max_tokens, encoder.count

    def encode(self, texts: Sequence[str]) -> list[bytes]:
        """Embed texts, one caller at a time."""
        with self._guard:
            return self._encoder.encode(texts)

    def encode_query(self, text: str) -> bytes:
        """Embed a query, one caller at a time."""
        with self._guard:
            return self._encoder.encode_query(text)


class SharedEncoders:
    """The encoders of several workspaces: those that are configured alike share one."""

    def __init__(self) -> None:
        """Begin with none."""
        self._guard = Lock()
        self._opened: dict[object, OpenedEncoder] = {}

    def take(self, key: object, open_: Callable[[], OpenedEncoder]) -> OpenedEncoder:
        """Return the encoder of some settings, opened by the first that asks."""
        with self._guard:
            if key not in self._opened:
                opened = open_()
                encoder = opened.encoder and SerialEncoder(opened.encoder)
                self._opened[key] = opened._replace(encoder=encoder)
            return self._opened[key]


def open_several(
    selected: Selection,
    settings: Mapping[str, Any] | None,
    environ: Mapping[str, str],
    clock: Clock,
) -> Workspaces:
    """Open workspaces by folder or @name; `everywhere` adds all that have a name.

    `settings` override those of each. A workspace that cannot be opened is left out and named, if
    another can be opened. The primary one is that of MEMCLI_WORKSPACE, of `here`, or of the current
    folder. NotFoundError if a folder is missing, unless it `may_miss`: then it is left out, and
    opened once it exists. UsageError for an unknown name.
    """
    named, everywhere = selected.folders, selected.everywhere
    folders = folders_of(named, environ, everywhere=everywhere, may_miss=selected.may_miss)
    shared = SharedEncoders()

    def opened(name: str, folder: str) -> NamedWorkspace:
        if not os.path.isdir(folder):
            hint = f"correct [workspaces] in {user_file(environ)}"
            reason = Reason("not-found", f"there is no folder {folder}", hint)
            return NamedWorkspace(name, folder, None, reason)
        try:
            workspace = open_workspace(
                folder, settings=settings, environ=environ, clock=clock, shared=shared.take
            )
        except MemcliError as error:
            return NamedWorkspace(name, folder, None, for_folder(error.reason, folder))
        return NamedWorkspace(name, folder, workspace)

    members = [opened(*each) for each in own_first(folders, environ, selected.here)]
    _check_stores([each.workspace for each in members if each.workspace])
    reasons = [each.reason for each in members if each.reason]
    if len(reasons) == len(members):
        text = f"none of the workspaces can be opened: {reasons[0].text}"
        raise error_of(reasons[0]._replace(text=text))
    options = [f"-w {quote(each)}" for each in named] + ["--everywhere"] * everywhere
    return joined(members, named_by=" ".join(options))


def _check_stores(opened: Sequence[Workspace]) -> None:
    """Raise ConfigError if two workspaces have the same index file."""
    if len({each.store.local for each in opened}) < len(opened):
        raise ConfigError(
            "store.path is one file, and each of several workspaces needs an index of its own",
            hint="memcli config store.path",
        )


def folders_of(
    named: Sequence[str], environ: Mapping[str, str], *, everywhere: bool, may_miss: bool = False
) -> dict[str, str]:
    """Return the folder of each workspace by its name, each folder once.

    The errors are those of `open_several`. A named folder `may_miss`.
    """
    known = named_workspaces(environ)
    if everywhere and not known:
        raise UsageError(
            "no workspace has a name, so there is nothing to search everywhere",
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
    by_name: dict[str, str] = {}
    for name, folder in listed:
        real = real_of[folder]
        if real not in by_name.values():
            proposed = name or names.get(real) or _name_of(real)
            used = {*by_name, *known} - {name, names.get(real, "")}
            by_name[_free(proposed, used)] = real
    return by_name


def _located(named: str, cwd: str | None, *, may_miss: bool) -> str:
    whole = os.path.abspath(os.path.join(cwd or os.sep, os.path.expanduser(named)))
    if may_miss and not os.path.exists(whole):
        return whole
    return locate(named, None, cwd).root


def _name_of(folder: str) -> str:
    """Make a name of the last part of a path."""
    name = "".join(c if c.isalnum() or c in "_.-" else "-" for c in os.path.basename(folder))
    return name.strip(".-") or "workspace"


def _free(name: str, used: Collection[str]) -> str:
    """Return an unused name: notes, notes-2, notes-3."""
    numbered = (f"{name}-{number}" if number > 1 else name for number in range(1, len(used) + 2))
    return next(each for each in numbered if each not in used)


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
