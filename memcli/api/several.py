"""Several workspaces opened as one memory: one question to all, one answer.

The primary workspace is that of the current folder, or else the first one. Its settings apply to
the question, and it wins ties. Every other workspace keeps the settings that its files are read
with. `store.union` merges the ranks and hides what is private to a workspace.
"""

from __future__ import annotations

import os
from _thread import allocate_lock as Lock
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from shlex import quote

from memcli.api.memory import Memory
from memcli.api.opened import (
    ENCODER_SETTINGS,
    SYSTEM_CLOCK,
    Clock,
    OpenedWorkspace,
    Owned,
    current_folder,
)
from memcli.api.together import of_workspace
from memcli.checking import TYPE_CHECKING
from memcli.config.settings import user_file
from memcli.config.workspaces import SIGN, folder_of_name, named_workspaces
from memcli.errors import (
    AwayError,
    ConfigError,
    DamagedError,
    IndexMissingError,
    MemcliError,
    Reason,
    UsageError,
    error_of,
)
from memcli.store.guarded import FailedStoreError, Guarded, failing
from memcli.store.union import Member as StoreMember
from memcli.store.union import Union
from memcli.types import FAILED
from memcli.workspace.locate import ENV_NAME, locate

if TYPE_CHECKING:
    from typing import Any, TypeVar

    from memcli.api.together import Member
    from memcli.config.settings import Config
    from memcli.embedding.encoders import Opened, Remembered
    from memcli.indexing.freshness import Freshness
    from memcli.store.port import Crowd, Snapshot
    from memcli.types import Encoder

    Made = TypeVar("Made")
    from memcli.store.port import Store


class InTurn:
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


class Shelf:
    """The encoders of several workspaces: those that are configured alike share one."""

    def __init__(self) -> None:
        """Begin with none."""
        self._guard = Lock()
        self._opened: dict[object, Opened] = {}

    def take(self, key: object, open_: Callable[[], Opened]) -> Opened:
        """Give the encoder of some settings, opened by the first that asks."""
        with self._guard:
            if key not in self._opened:
                found = open_()
                encoder = found.encoder and InTurn(found.encoder)
                self._opened[key] = found._replace(encoder=encoder)
            return self._opened[key]


class Fellow(Memory):
    """One of several workspaces that are searched together."""

    shelf: Shelf

    def open_encoder_of(self, index: Remembered) -> Opened:
        """Open the encoder that has made an index, or give the one that another has opened."""
        return self.shelf.take(
            (_encoder_settings(self.config), index),
            lambda: super(Fellow, self).open_encoder_of(index),
        )


class Several(Memory):
    """Several workspaces as one memory."""

    def __init__(
        self,
        asked: Sequence[Member],
        *,
        environ: Mapping[str, str],
        clock: Clock = SYSTEM_CLOCK,
        crowd: Crowd | None = None,
        has_own: bool = True,
        asked_by: str = "",
    ) -> None:
        """Take the workspaces, the primary one first if there is one; at least one can be opened.

        Those without files are read from a crowd and come last; none of them is primary.
        """
        there = [(name, opened) for name, _, opened in asked if not isinstance(opened, Reason)]
        of_crowd = [name for name, opened in there if not opened.has_files]
        self._crowd = crowd if of_crowd else None
        # No other workspace becomes primary: its private notes would be shown.
        self._has_own = has_own and asked[0][0] == there[0][0] and there[0][1].has_files
        store = UnionStore(
            [(name, opened.store) for name, opened in there if opened.has_files],
            is_asked_by_first=self._has_own,
            crowd=self._crowd,
            of_crowd=of_crowd,
        )
        # A search only reads snapshots.
        super().__init__(
            _config_of(there),
            store,  # type: ignore[arg-type]
            environ=environ,
            clock=clock,
            asked_by=asked_by,
        )
        self.members = asked

    def answering(self, make: Callable[[OpenedWorkspace], Made], *, mends: bool) -> Made:
        """Answer a question by the workspaces that can; the others are named in its freshness."""
        memory, was_asked_again = self, False
        mended: set[str] = set()
        while True:
            try:
                return make(memory)
            except FailedStoreError as error:
                cause = error.cause
                if isinstance(cause, AwayError) and cause.was_there and not was_asked_again:
                    was_asked_again = True  # another server that is named may answer
                    continue
                if mends and isinstance(cause, DamagedError) and not mended.issuperset(error.names):
                    mended.update(error.names)
                    named = {name: each for name, _, each in memory.members}
                    damaged = [named[name] for name in error.names]
                    if all(
                        not isinstance(each, Reason) and each.has_files and each.start_over(cause)
                        for each in damaged
                    ):
                        continue
                others = memory._without(dict.fromkeys(error.names, cause.reason))
                if others is None:
                    raise cause from None
                memory = others

    def without_failed(self, freshness: Freshness) -> OpenedWorkspace:
        """Leave out what could not be updated, so that nobody waits for it again."""
        failed = {s.name: s.reason for s in freshness.stores if s.state == FAILED and s.reason}
        return (self._without(failed) if failed else None) or self

    def by_model(
        self, snapshot: Snapshot
    ) -> Sequence[tuple[tuple[str, ...], OpenedWorkspace, Snapshot]]:
        """Part the workspaces by the model that has made their vectors; those without go first.

        The first workspace of each part that has vectors opens its model; the settings of the
        first of all are those of this memory.
        """
        parts = snapshot.by_model() if isinstance(snapshot, Union) else []
        if len(parts) < 2:
            return super().by_model(snapshot)
        opened = {name: each for name, _, each in self.members if not isinstance(each, Reason)}
        opened[next(iter(opened))] = self
        return [(names, opened[names[0]], part) for names, part in parts]

    def only(self, name: str) -> Several:
        """Return one workspace, still with its name; an open encoder serves both.

        UsageError for an unknown name; for a workspace that cannot be opened, the reason.
        """
        own = [each for each in self.members if each[0] == name]
        if not own:
            from memcli.config.nearest import nearest

            names = [known for known, _, _ in self.members]
            raise UsageError(
                f"no workspace here is called {name!r}; the names are {', '.join(names)}",
                hint=nearest(name, names),
            )
        _, folder, opened = own[0]
        if isinstance(opened, Reason):
            raise error_of(opened._replace(text=f"{name}: {opened.text}"))
        # On its own it is no longer the primary one.
        is_own = self._has_own and own[0] is self.members[0]
        made = Several(
            own,
            environ=self.environ,
            clock=self.clock,
            crowd=self._crowd,
            has_own=is_own,
            asked_by=f"-w {quote(folder)}",
        )
        if _encoder_settings(made.config) == _encoder_settings(self.config):
            made._query_encoder = self.query_encoder
        return made

    def owner_of(self, target: str) -> Owned:
        """Give whose document `name:path` names; without a name it is of the first workspace."""
        name, colon, rest = target.partition(":")
        for turn, (known, _, opened) in enumerate(self.members):
            if colon and known == name:
                if isinstance(opened, Reason):
                    raise error_of(opened._replace(text=f"{name}: {opened.text}"))
                return Owned(opened, rest, f"{name}:", self._has_own and turn == 0)
        first, opened = next((n, o) for n, _, o in self.members if not isinstance(o, Reason))
        return Owned(opened, target, f"{first}:", self._has_own)

    def close(self) -> None:
        """Let go of every index and every model."""
        super().close()
        for _, _, opened in self.members:
            if not isinstance(opened, Reason):
                opened.close()

    def _without(self, failed: Mapping[str, Reason]) -> Several | None:
        """Leave workspaces out, and say why; None if no other can answer."""
        asked = [
            (
                known,
                folder,
                of_workspace(failed[known], folder) if opened.has_files else failed[known],
            )
            if known in failed and not isinstance(opened, Reason)
            else (known, folder, opened)
            for known, folder, opened in self.members
        ]
        if all(isinstance(opened, Reason) for _, _, opened in asked):
            return None
        made = Several(
            asked,
            environ=self.environ,
            clock=self.clock,
            crowd=self._crowd,
            asked_by=self.asked_by,
        )
        made.config, made._query_encoder = self.config, self.query_encoder
        return made


def open_several(
    named: Sequence[str],
    *,
    everywhere: bool = False,
    settings: Mapping[str, Any] | None = None,
    environ: Mapping[str, str] | None = None,
    clock: Clock = SYSTEM_CLOCK,
    here: str | None = None,
    may_miss: bool = False,
) -> Several:
    """Open workspaces by their folders or by @name; `everywhere` adds all that have a name.

    `settings` override those of each. A workspace that cannot be opened is left out and named, if
    another can be opened. The primary one is that of MEMCLI_WORKSPACE, of `here`, or of the current
    folder. NotFoundError if a folder is missing, unless it `may_miss`: then it is left out, and
    opened once it exists. UsageError for an unknown name.
    """
    environ = os.environ if environ is None else environ
    folders = folders_of(named, environ, everywhere=everywhere, may_miss=may_miss)
    shelf = Shelf()
    asked = [
        (name, folder, _opened(folder, settings, environ, clock, shelf))
        for name, folder in own_first(folders, environ, here)
    ]
    _check_stores([opened for _, _, opened in asked if not isinstance(opened, Reason)])
    failed = [opened for _, _, opened in asked if isinstance(opened, Reason)]
    if len(failed) == len(asked):
        told = f"none of the workspaces can be opened: {failed[0].text}"
        raise error_of(failed[0]._replace(text=told))
    options = [f"-w {quote(each)}" for each in named] + ["--everywhere"] * everywhere
    return Several(asked, environ=environ, clock=clock, asked_by=" ".join(options))


def _check_stores(opened: Sequence[Memory]) -> None:
    """Raise ConfigError where two workspaces would keep their index in one file."""
    if len({each.store.local for each in opened}) < len(opened):
        raise ConfigError(
            "store.path is one file, and each of several workspaces needs an index of its own",
            hint="memcli config store.path",
        )


def _opened(
    folder: str,
    settings: Mapping[str, Any] | None,
    environ: Mapping[str, str],
    clock: Clock,
    shelf: Shelf,
) -> Fellow | Reason:
    if not os.path.isdir(folder):
        text = f"there is no folder {folder}"
        return Reason("not-found", text, f"correct [workspaces] in {user_file(environ)}")
    try:
        made = Fellow.open(folder, settings=settings, environ=environ, clock=clock)
    except MemcliError as error:
        return of_workspace(error.reason, folder)
    made.shelf = shelf
    return made


def _encoder_settings(config: Config) -> str:
    """Write down the settings that an encoder is opened by."""
    values = config.values.items()
    return repr([(name, v.value) for name, v in values if name.startswith(ENCODER_SETTINGS)])


def _config_of(asked: Sequence[tuple[str, OpenedWorkspace]]) -> Config:
    """Give the settings of the first, with the sources of all by their whole names."""
    sources = tuple(
        source._replace(name=f"{name}:{source.name}")
        for name, opened in asked
        for source in opened.config.sources
    )
    passed = tuple(
        reason._replace(text=f"{name}: {reason.text}")
        for name, opened in asked
        for reason in opened.config.passed
    )
    return asked[0][1].config._replace(sources=sources, passed=passed)


class UnionStore:
    """The stores of several workspaces, for reading only."""

    def __init__(
        self,
        stores: Sequence[tuple[str, Store]],
        *,
        is_asked_by_first: bool = True,
        crowd: Crowd | None = None,
        of_crowd: Sequence[str] = (),
    ) -> None:
        """Take them by the names of their workspaces, the primary one first if there is one.

        The workspaces `of_crowd` come last; a crowd has them by these names.
        """
        self._stores, self._is_asked_by_first = stores, is_asked_by_first
        self._crowd, self._of_crowd = crowd, of_crowd

    @property
    def local(self) -> str:
        """Name the path of the own store."""
        return self._stores[0][1].local if self._stores else ""

    def exists(self) -> bool:
        """Return whether any store has data."""
        return bool(self._of_crowd) or any(store.exists() for _, store in self._stores)

    @contextmanager
    def snapshot(self) -> Iterator[Union]:
        """Take a snapshot of each store that exists; IndexMissingError if none does.

        FailedStoreError if one cannot be read.
        """
        with ExitStack() as opened:
            members = []
            for name, store in self._stores:
                if store.exists():
                    with failing(name):
                        snapshot = opened.enter_context(store.snapshot())
                    members.append(StoreMember(name, Guarded([name], snapshot)))
            is_own = self._is_asked_by_first and [m.name for m in members[:1]] == [
                name for name, _ in self._stores[:1]
            ]
            each = None
            if self._crowd:
                with failing(*self._of_crowd):
                    held, each = opened.enter_context(self._crowd.snapshots())
                members += [
                    StoreMember(name, Guarded(self._of_crowd, held[name]))
                    for name in self._of_crowd
                    if name in held
                ]
            if not members:
                raise IndexMissingError("nothing is indexed yet", hint="memcli index --everywhere")
            yield Union(members, is_asked_by_first=is_own, each=each)

    def stand_in(self) -> None:
        """Return None: if one store is away, the others answer."""

    def close(self) -> None:
        """Close all stores."""
        for _, store in self._stores:
            store.close()
        if self._crowd:
            self._crowd.close()


def folders_of(
    named: Sequence[str], environ: Mapping[str, str], *, everywhere: bool, may_miss: bool = False
) -> dict[str, str]:
    """Give the folder of each workspace by its name; a folder that is named twice is one.

    The errors are those of `open_several`. A folder that is named `may_miss`.
    """
    known = named_workspaces(environ)
    if everywhere and not known:
        raise UsageError(
            "--everywhere searches the named workspaces, and there are none",
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
