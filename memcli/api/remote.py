"""A workspace of the shared index whose files are on another machine; read-only.

An answer says who stored the index and when, because the files may have changed since.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence

from memcli.api.memory import Memory
from memcli.api.opened import SYSTEM_CLOCK, Clock
from memcli.api.several import Several, open_several
from memcli.api.targets import Target, meant, readings_of
from memcli.checking import TYPE_CHECKING
from memcli.config import settings as configured
from memcli.config.attached import attached, check_tenant
from memcli.config.workspaces import named_workspaces
from memcli.errors import IndexMissingError, Reason, StoreError, UsageError
from memcli.indexing.freshness import Freshness
from memcli.store.documents import with_chunks
from memcli.store.naming import resting_on
from memcli.store.open import named_store, open_crowd
from memcli.store.records import Reach
from memcli.types import PRIVATE, REMOTE, FileStat, FileText, Filters, Source, is_memory

if TYPE_CHECKING:
    from typing import Any

    from memcli.api.together import Member
    from memcli.config.settings import Config
    from memcli.store.port import Crowd
    from memcli.types import Excerpt

OPTION = "--workspace-name"
TENANT = "--tenant"
EVERYWHERE = "--everywhere"
SHARED = "store.url"  # names the shared index among folders of this machine


class RemoteMemory(Memory):
    """A workspace without its files."""

    has_files = False

    def provenance(self) -> Reason:
        """Tell whose state is read."""
        with self.store.snapshot() as snapshot:
            told = snapshot.provenance()
        return _as_stored(told.revision, told.changed_at, told.origin)

    def without_files(self, *, sync: bool | None) -> Freshness:
        """Tell whose state an answer is of; UsageError where files are to be brought in."""
        if sync:
            raise UsageError(
                f"--sync reads files, and those of {self.config.workspace} are not here",
                hint=f"leave --sync out: {self.asked_by or f'{OPTION} {self.config.workspace}'}",
            )
        return Freshness(REMOTE, 0, self.provenance(), ())

    def find(self, target: str, here: str | None) -> tuple[Target, FileText]:
        """Find a stored document, and rebuild its text from the stored chunks.

        Lines that are in no chunk, such as blank ones and front matter, are empty.
        """
        names = [source.name for source in self.config.sources]
        with self.store.snapshot() as snapshot:
            readings = readings_of(target, names)
            chunks = snapshot.excerpts_of([each.document for each in readings], Reach())
            stored = {(chunk.about.source, chunk.about.path) for chunk in chunks}
            found = next((each for each in readings if each.document in stored), None)
            if found is None:  # one without text, or in another spelling, or none
                found = meant(target, snapshot.known())
                chunks = snapshot.excerpts_of([found.document], Reach())
        return found, _text_of(found, chunks)

    def is_private(self, file: FileText) -> bool:
        """Return whether a document, or a source of a summary, is private to its workspace."""
        source, path = file.stat.source, file.stat.path
        with self.store.snapshot() as snapshot:
            found = with_chunks(snapshot.documents(Reach(Filters(scopes=(PRIVATE,)))))
            if any((each.source, each.path) == (source, path) for each in found):
                return True
            logs = (each.path for each in found if is_memory(each.source))
            return is_memory(source) and path in resting_on(logs, snapshot.supports())


class FellowRemote(RemoteMemory):
    """One of many workspaces of a shared index; its state is the one of the listing."""

    told: Reason

    def provenance(self) -> Reason:
        """Tell whose state is read."""
        return self.told


def _text_of(found: Target, chunks: Sequence[Excerpt]) -> FileText:
    lines: dict[int, str] = {}
    for chunk in chunks:
        if (chunk.about.source, chunk.about.path) == found.document:
            first = chunk.about.start_line
            lines |= dict(enumerate(chunk.text.split("\n"), start=first))
    text = "\n".join(lines.get(number, "") for number in range(1, max(lines, default=0) + 1))
    return FileText(FileStat(*found.document, 0, 0, 0, 0), b"", text, damaged=False)


def open_remote(
    name: str,
    *,
    settings: Mapping[str, Any] | None = None,
    environ: Mapping[str, str] | None = None,
    clock: Clock = SYSTEM_CLOCK,
) -> RemoteMemory:
    """Open a workspace of the shared index by its name there, such as `team/ops`.

    ConfigError if no shared index is configured, IndexMissingError if it has nothing of this
    workspace, or nothing that the user may read.
    """
    environ = os.environ if environ is None else environ
    config, place = _config(f"{OPTION} {name}", environ, settings)
    store = named_store(config, name, place, clock.now_ns)
    with store.snapshot() as snapshot:
        named = json.loads(snapshot.facts.sources or "{}")
        sources = tuple(Source(each, "", ()) for each in named)
    config = config._replace(workspace=name, sources=sources)
    return RemoteMemory(config, store, environ=environ, clock=clock)


def open_tenant(
    tenant: str,
    *,
    settings: Mapping[str, Any] | None = None,
    environ: Mapping[str, str] | None = None,
    clock: Clock = SYSTEM_CLOCK,
) -> Several:
    """Open all workspaces of a tenant of the shared index that the user may read, as one.

    ConfigError if no shared index is configured, IndexMissingError if the tenant has nothing.
    """
    environ = os.environ if environ is None else environ
    check_tenant(tenant)
    by = f"{TENANT} {tenant}"
    config, place = _config(by, environ, settings)
    crowd = open_crowd(config, tenant, place, clock.now_ns)
    asked = _fellows(crowd, config, environ, clock, by=by)
    if not asked:
        raise IndexMissingError(
            f"the shared index has nothing of the tenant {tenant} for this user",
            hint="memcli store status",
        )
    return Several(asked, environ=environ, clock=clock, crowd=crowd, asked_by=by)


def open_everywhere(
    named: Sequence[str],
    *,
    settings: Mapping[str, Any] | None = None,
    environ: Mapping[str, str] | None = None,
    clock: Clock = SYSTEM_CLOCK,
    here: str | None = None,
) -> Several:
    """Open all named workspaces, and all of the shared index if one is configured.

    A folder that is attached there is searched with its files. If the server does not answer, the
    folders of this machine do.
    """
    environ = os.environ if environ is None else environ
    config, place = _config(EVERYWHERE, environ, settings)
    local: Several | None = None
    if named or named_workspaces(environ) or not config("store.url"):
        local = open_several(
            named, everywhere=True, settings=settings, environ=environ, clock=clock, here=here
        )
        if not config("store.url"):
            return local
    asked = [*local.members] if local else []
    known = attached(environ)
    names = [known[folder] for _, folder, _ in asked if folder in known]
    crowd = open_crowd(config, config("store.tenant"), place, clock.now_ns)
    try:
        taken = [name for name, *_ in asked]
        asked += _fellows(crowd, config, environ, clock, by=EVERYWHERE, besides=names, taken=taken)
    except StoreError as error:
        if local is None:
            raise
        asked.append((SHARED, crowd.place, error.reason))
    if not asked:
        raise IndexMissingError(
            "the shared index has no workspace that you may read", hint="memcli store status"
        )
    return Several(asked, environ=environ, clock=clock, crowd=crowd, asked_by=EVERYWHERE)


def _config(
    by: str, environ: Mapping[str, str], settings: Mapping[str, Any] | None
) -> tuple[Config, str]:
    place = configured.folder_of(by, environ)
    return configured.load(place, environ, settings or {}, by=OPTION), place


def _fellows(
    crowd: Crowd,
    config: Config,
    environ: Mapping[str, str],
    clock: Clock,
    *,
    by: str,
    besides: Sequence[str] = (),
    taken: Sequence[str] = (),
) -> list[Member]:
    """Yield each workspace of a crowd by its name, except those in `besides`."""
    found: list[Member] = []
    for each in crowd.listed():
        if each.name in besides:
            continue
        sources = tuple(Source(source, "", ()) for source in each.sources)
        own = config._replace(workspace=each.name, sources=sources, passed=())
        made = FellowRemote(own, crowd.store(each), environ=environ, clock=clock, asked_by=by)
        made.told = _as_stored(each.revision, each.changed_at, each.origin)
        name = each.whole if each.name in taken else each.name
        found.append((name, each.whole, made))
    return found


def _as_stored(revision: int, changed_at: str, origin: str) -> Reason:
    by = f"by {origin}" if origin else "by a folder that is detached now"
    return Reason(REMOTE, f"as stored at revision {revision}, {changed_at}, {by}")
