"""Several workspaces opened as one memory: a question goes to all of them, and is answered once.

The own workspace, that of the current folder or else the first that is named, lends its settings to
the question and wins ties. Each other one keeps what its files are read by. `store.union` says how
their ranks become those of one index, and what of a workspace no other one is told.
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
    current_folder,
)
from memcli.api.together import of_workspace
from memcli.checking import TYPE_CHECKING
from memcli.config.settings import user_file
from memcli.config.workspaces import SIGN, folder_of_name, named_workspaces
from memcli.errors import (
    ConfigError,
    IndexMissingError,
    MemcliError,
    NotFoundError,
    Reason,
    StoreError,
    UsageError,
)
from memcli.store.guarded import FailedStoreError, Guarded, failing
from memcli.store.union import Member, Union
from memcli.workspace.locate import ENV_NAME, locate

if TYPE_CHECKING:
    from typing import Any, TypeVar

    from memcli.api.together import Asked
    from memcli.config.settings import Config
    from memcli.embedding.choice import Remembered
    from memcli.embedding.opener import Opened
    from memcli.store.port import Store
    from memcli.types import Encoder

    Made = TypeVar("Made")


class UnionStore:
    """The stores of several workspaces, to be asked together; nobody changes them here."""

    def __init__(
        self, stores: Sequence[tuple[str, Store]], *, is_asked_by_first: bool = True
    ) -> None:
        """Take them by the names of their workspaces, that of the own one first if it is here."""
        self._stores, self._is_asked_by_first = stores, is_asked_by_first

    @property
    def local(self) -> str:
        """Name the path of the own store."""
        return self._stores[0][1].local

    def exists(self) -> bool:
        """Tell whether anything was ever stored in any."""
        return any(store.exists() for _, store in self._stores)

    @contextmanager
    def snapshot(self) -> Iterator[Union]:
        """Hold one state of each store that is there; IndexMissingError where none is.

        FailedStoreError where one cannot be read.
        """
        with ExitStack() as opened:
            members = []
            for name, store in self._stores:
                if store.exists():
                    with failing(name):
                        snapshot = opened.enter_context(store.snapshot())
                    members.append(Member(name, Guarded(name, snapshot)))
            if not members:
                raise IndexMissingError("nothing is indexed yet", hint="memcli index --everywhere")
            is_own = self._is_asked_by_first and members[0].name == self._stores[0][0]
            yield Union(members, is_asked_by_first=is_own)

    def close(self) -> None:
        """Let go of whatever is held open."""
        for _, store in self._stores:
            store.close()


class InTurn:
    """An encoder that threads take turns at; a `types.Encoder`."""

    def __init__(self, encoder: Encoder) -> None:
        """Take the encoder that is shared."""
        self._encoder, self._guard = encoder, Lock()
        self.fingerprint, self.dimension = encoder.fingerprint, encoder.dimension
        self.max_tokens, self.count = encoder.max_tokens, encoder.count

    def encode(self, texts: Sequence[str]) -> list[bytes]:
        """Embed texts, once nobody else does."""
        with self._guard:
            return self._encoder.encode(texts)

    def encode_query(self, text: str) -> bytes:
        """Embed a query, once nobody else embeds."""
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
    """One of several workspaces that are asked together."""

    shelf: Shelf

    def open_encoder_of(self, index: Remembered) -> Opened:
        """Open the encoder that has made an index, or give the one that another has opened."""
        values = self.config.values.items()
        own = [(name, value.value) for name, value in values if name.startswith(ENCODER_SETTINGS)]
        return self.shelf.take(
            (repr(own), index), lambda: super(Fellow, self).open_encoder_of(index)
        )


class Several(Memory):
    """Several workspaces as one memory; what is asked of it goes to all of them."""

    def __init__(
        self,
        asked: Sequence[Asked],
        *,
        environ: Mapping[str, str],
        clock: Clock = SYSTEM_CLOCK,
        has_own: bool = True,
    ) -> None:
        """Take the workspaces, the own one first if it is here; at least one can be asked."""
        there = [(name, opened) for name, _, opened in asked if not isinstance(opened, Reason)]
        stores = [(name, opened.store) for name, opened in there]
        store = UnionStore(stores, is_asked_by_first=has_own)
        # Whoever asks a question reads snapshots alone.
        super().__init__(_config_of(there), store, environ=environ, clock=clock)  # type: ignore[arg-type]
        self.asked = asked

    def answering(self, make: Callable[[OpenedWorkspace], Made]) -> Made:
        """Answer a question by the workspaces that can; the others are named in its freshness."""
        memory = self
        while True:
            try:
                return make(memory)
            except FailedStoreError as error:
                memory = memory._without(error.name, error.cause)

    def by_encoder(self, fingerprints: Mapping[str, str | None]) -> list[OpenedWorkspace]:
        """Part the workspaces by the model that has made their vectors; those without go first.

        `fingerprints` names it by workspace.
        """
        there = [each for each in self.asked if not isinstance(each[2], Reason)]
        made_by = [fingerprints.get(name) for name, _, _ in there]
        models = list(dict.fromkeys(each for each in made_by if each))
        if len(models) < 2:
            return [self]
        parts: list[OpenedWorkspace] = []
        for model in models:
            wanted = (model, None) if model == models[0] else (model,)
            own = [each for each, by in zip(there, made_by, strict=True) if by in wanted]
            part = Several(own, environ=self._environ, clock=self.clock, has_own=own[0] is there[0])
            part.asked_by = self.asked_by
            parts.append(part)
        return parts

    def owner_of(self, target: str) -> tuple[OpenedWorkspace, str, str]:
        """Give whose document `name:path` names; without a name it is of the own workspace."""
        name, colon, rest = target.partition(":")
        for known, _, opened in self.asked:
            if colon and known == name:
                if isinstance(opened, Reason):
                    raise StoreError(f"{name}: {opened.text}", hint=opened.hint)
                return opened, rest, f"{name}:"
        own, opened = next((n, o) for n, _, o in self.asked if not isinstance(o, Reason))
        return opened, target, f"{own}:"

    def close(self) -> None:
        """Let go of every index and every model."""
        super().close()
        for _, _, opened in self.asked:
            if not isinstance(opened, Reason):
                opened.close()

    def _without(self, name: str, cause: MemcliError) -> Several:
        """Leave a workspace out, and say why."""
        asked = [
            (known, folder, of_workspace(cause.reason, folder) if known == name else opened)
            for known, folder, opened in self.asked
        ]
        if all(isinstance(opened, Reason) for _, _, opened in asked):
            raise cause
        made = Several(asked, environ=self._environ, clock=self.clock)
        made.asked_by = self.asked_by
        made.config, made._query_encoder = self.config, self.query_encoder
        return made


def open_several(
    named: Sequence[str],
    *,
    everywhere: bool = False,
    settings: Mapping[str, Any] | None = None,
    environ: Mapping[str, str] | None = None,
    clock: Clock = SYSTEM_CLOCK,
) -> Several:
    """Open workspaces by their folders or by @name; `everywhere` adds all that have a name.

    `settings` stand above those of each. One that cannot be opened is left out and named, as long
    as another can. NotFoundError for a folder that is not there, UsageError for an unknown name.
    """
    environ = os.environ if environ is None else environ
    folders = _folders(named, environ, everywhere=everywhere)
    shelf = Shelf()
    asked = [
        (name, folder, _opened(folder, settings, environ, clock, shelf))
        for name, folder in _own_first(folders, environ)
    ]
    _check_stores([opened for _, _, opened in asked if not isinstance(opened, Reason)])
    failed = [opened for _, _, opened in asked if isinstance(opened, Reason)]
    if len(failed) == len(asked):
        raise NotFoundError(f"none of the workspaces can be opened: {failed[0].text}",
                            hint=failed[0].hint)  # fmt: skip
    made = Several(asked, environ=environ, clock=clock)
    options = [f"-w {quote(each)}" for each in named] + ["--everywhere"] * everywhere
    made.asked_by = " ".join(options)
    return made


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


def _folders(
    named: Sequence[str], environ: Mapping[str, str], *, everywhere: bool
) -> dict[str, str]:
    """Give the folder of each workspace by its name; a folder that is named twice is one."""
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
        else ("", locate(each, None, cwd).root)
        for each in named
    ]
    listed += known.items() if everywhere else ()
    names = {os.path.realpath(folder): name for name, folder in reversed(known.items())}
    found: dict[str, str] = {}
    for name, folder in listed:
        real = os.path.realpath(folder)
        if real not in found.values():
            wanted = name or names.get(real) or _name_of(real)
            taken = {*found, *known} - {name, names.get(real, "")}
            found[_free(wanted, taken)] = real
    return found


def _name_of(folder: str) -> str:
    """Make a name of the last part of a path."""
    name = "".join(c if c.isalnum() or c in "_.-" else "-" for c in os.path.basename(folder))
    return name.strip(".-") or "workspace"


def _free(name: str, taken: Collection[str]) -> str:
    """Give a name that nobody has: notes, notes-2, notes-3."""
    numbered = (f"{name}-{number}" if number > 1 else name for number in range(1, len(taken) + 2))
    return next(each for each in numbered if each not in taken)


def _own_first(folders: Mapping[str, str], environ: Mapping[str, str]) -> list[tuple[str, str]]:
    """Put the innermost workspace that holds the current folder before the others, if any does."""
    here = os.path.realpath(environ.get(ENV_NAME) or current_folder() or os.sep)
    around = [
        folder for folder in folders.values()
        if os.path.join(here, "").startswith(os.path.join(folder, ""))
    ]  # fmt: skip
    own = max(around, key=len, default="")
    return sorted(folders.items(), key=lambda each: each[1] != own)


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
