"""A workspace of the shared index whose files are on another machine; read-only.

Each answer names who stored the index and when, because the files may have changed since.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from memcli.api.several_workspaces import open_several
from memcli.api.workspace import Workspace
from memcli.api.workspaces import NamedWorkspace, Selection, Workspaces, join_workspaces
from memcli.checking import TYPE_CHECKING
from memcli.config import settings as configured
from memcli.config.attached import attached, check_tenant
from memcli.config.settings import Config
from memcli.config.workspaces import named_workspaces
from memcli.errors import IndexMissingError, Reason, StoreError, UsageError
from memcli.indexing.freshness import Freshness
from memcli.markdown import CHUNKER_VERSION
from memcli.record import Record
from memcli.store.open import address_of, named_store, open_shared_index
from memcli.types import REMOTE, Source

if TYPE_CHECKING:
    from memcli.store.port import SharedIndex, Store

OPTION = "--workspace-name"
TENANT = "--tenant"
EVERYWHERE = "--everywhere"
SHARED = "store.url"  # the name of the shared index next to folders of this machine


class StoredState(Record):
    """A workspace in the shared index; its files are on another machine."""

    name: str
    stored: Reason | None = None  # from a listing; None: ask the index
    named_by: str = ""  # the options that name it in a command
    files: None = None  # they cannot be read
    moment: None = None  # of questions: the current time

    def reason(self, store: Store) -> Reason:
        """Return the notice that names the machine and the time."""
        if self.stored is not None:
            return self.stored
        with store.snapshot() as snapshot:
            facts = snapshot.facts
        reason = _as_stored(facts.revision, facts.changed_at, facts.origin)
        if (facts.chunking or "").partition(":")[0] != str(CHUNKER_VERSION):
            text = f"{reason.text}; another version of memcli has cut its notes into chunks"
            reason = reason._replace(text=text)
        return reason

    def freshness(self, workspace: Workspace, *, sync: bool | None) -> Freshness:
        """Return the state of the stored index; UsageError if the files are to be read."""
        if sync:
            raise UsageError(
                f"the files of {self.name} are not here, so changes cannot be read",
                hint=f"leave --sync out: {self.named_by}",
            )
        return Freshness(REMOTE, 0, self.reason(workspace.store), ())

    def close(self) -> None:
        """Do nothing: the workspace closes the store."""


def open_remote(selected: Selection) -> Workspaces:
    """Open a workspace of the shared index by its name there, such as `team/ops`.

    ConfigError if no shared index is configured, IndexMissingError if it does not contain this
    workspace or the user may not read it.
    """
    name = selected.shared or ""
    by = f"{OPTION} {name}"
    config, place = _config(by, selected)
    store = named_store(config, name, place, selected.clock.now_ns)
    with store.snapshot() as snapshot:
        named = json.loads(snapshot.facts.sources or "{}")
        sources = tuple(Source(each, "", ()) for each in named)
    config = config._replace(workspace=name, sources=sources)
    state = StoredState(name, named_by=by)
    return Workspaces(
        Workspace(config, store, environ=selected.environ, clock=selected.clock, state=state)
    )


def open_tenant(selected: Selection) -> Workspaces:
    """Open all workspaces of a tenant of the shared index that the user may read, as one.

    ConfigError if no shared index is configured, IndexMissingError if the tenant has nothing.
    """
    tenant = selected.tenant or ""
    check_tenant(tenant)
    by = f"{TENANT} {tenant}"
    config, place = _config(by, selected)
    shared_index = open_shared_index(config, tenant)
    members = _stored_workspaces(selected, shared_index, config, place, by=by)
    if not members:
        raise IndexMissingError(
            f"the shared index has nothing of the tenant {tenant} for this user",
            hint="memcli store status",
        )
    return join_workspaces(members, shared_index=shared_index, named_by=by)


def open_everywhere(selected: Selection) -> Workspaces:
    """Open all named workspaces, and all of the shared index if one is configured.

    An attached folder is searched with its files. If the server does not answer, only the folders
    of this machine do.
    """
    config, place = _config(EVERYWHERE, selected)
    local: Workspaces | None = None
    if selected.folders or named_workspaces(selected.environ) or not config("store.url"):
        local = open_several(selected)
        if not config("store.url"):
            return local
    members = [*local.members] if local else []
    known = attached(selected.environ)
    names = [known[each.folder] for each in members if each.folder in known]
    shared_index = open_shared_index(config, config("store.tenant"))
    try:
        used_names = [each.name for each in members]
        members += _stored_workspaces(
            selected, shared_index, config, place, by=EVERYWHERE, besides=names, taken=used_names
        )
    except StoreError as error:
        if local is None:
            raise
        members.append(NamedWorkspace(SHARED, address_of(config).masked, None, error.reason))
    if not members:
        raise IndexMissingError(
            "the shared index has no workspace that you may read", hint="memcli store status"
        )
    return join_workspaces(members, shared_index=shared_index, named_by=EVERYWHERE)


def _config(by: str, selected: Selection) -> tuple[Config, str]:
    environ, name = selected.environ, by.partition(" ")[0]
    place = configured.folder_of(by, environ)
    return configured.load(place, environ, selected.settings, by=name), place


def _stored_workspaces(
    selected: Selection,
    shared_index: SharedIndex,
    config: Config,
    place: str,
    *,
    by: str,
    besides: Sequence[str] = (),
    taken: Sequence[str] = (),
) -> list[NamedWorkspace]:
    """List each workspace of a shared index by its name, except those in `besides`."""
    result: list[NamedWorkspace] = []
    for each in shared_index.listed():
        if each.name in besides:
            continue
        sources = tuple(Source(source, "", ()) for source in each.sources)
        own = config._replace(workspace=each.name, sources=sources, passed=())
        reason = _as_stored(each.revision, each.changed_at, each.origin)
        state = StoredState(each.name, reason, named_by=by)
        name = each.whole if each.name in taken else each.name
        store = named_store(config, each.whole, place, selected.clock.now_ns)
        workspace = Workspace(
            own, store, environ=selected.environ, clock=selected.clock, state=state
        )
        result.append(NamedWorkspace(name, each.whole, workspace))
    return result


def _as_stored(revision: int, changed_at: str, origin: str) -> Reason:
    by = f"by {origin}" if origin else "by a folder that is detached now"
    return Reason(REMOTE, f"as stored at revision {revision}, {changed_at}, {by}")
