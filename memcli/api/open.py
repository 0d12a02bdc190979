"""Open the workspaces that a command line or a program names, in any of the possible ways."""

from __future__ import annotations

import os
from collections.abc import Mapping

from memcli.api.workspace import SYSTEM_CLOCK, Clock, open_workspace
from memcli.api.workspaces import Selection, Workspaces
from memcli.checking import Any


def open_workspaces(
    selected: Selection,
    *,
    settings: Mapping[str, Any] | None = None,
    environ: Mapping[str, str] | None = None,
    clock: Clock = SYSTEM_CLOCK,
) -> Workspaces:
    """Open workspaces; `settings` override all others, by name.

    NotFoundError if there is no such workspace, ConfigError if a setting cannot be used,
    IndexMissingError if the shared index does not contain it, UsageError if options cannot be
    combined.
    """
    folders = tuple(map(os.path.expanduser, selected.folders))
    environ = os.environ if environ is None else environ
    selected = selected._replace(
        folders=folders, settings=settings or {}, environ=environ, clock=clock
    )
    selected.check()
    if selected.shared is not None or selected.tenant is not None:
        from memcli.api.remote import open_remote, open_tenant

        return open_tenant(selected) if selected.shared is None else open_remote(selected)
    if selected.everywhere and selected.with_shared:
        from memcli.api.remote import open_everywhere

        return open_everywhere(selected)
    if selected.are_several:
        from memcli.api.several_workspaces import open_several

        return open_several(selected)
    folder = folders[0] if folders else None
    if folder is not None and folder.startswith("@"):
        from memcli.config.workspaces import folder_of_name

        folder = folder_of_name(folder, environ)
    if selected.as_of is not None:
        from memcli.api.as_of import open_as_of

        return open_as_of(selected, folder)
    return Workspaces(
        open_workspace(
            folder,
            settings=settings,
            environ=environ,
            clock=clock,
            anywhere=selected.anywhere,
            here=selected.here,
        )
    )
