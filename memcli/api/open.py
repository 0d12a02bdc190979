"""Open the workspaces that a command line or a program names, in any of the possible ways."""

from __future__ import annotations

import os

from memcli.api.workspaces import Selection, Workspaces


def open_workspaces(selected: Selection) -> Workspaces:
    """Open workspaces.

    NotFoundError if there is no such workspace, ConfigError if a setting cannot be used,
    IndexMissingError if the shared index does not contain it, UsageError if options cannot be
    combined.
    """
    selected = selected._replace(folders=tuple(map(os.path.expanduser, selected.folders)))
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
    folder = selected.folders[0] if selected.folders else None
    if folder is not None and folder.startswith("@"):
        from memcli.config.workspaces import folder_of_name

        folder = folder_of_name(folder, selected.environ)
    if selected.as_of is not None:
        from memcli.api.as_of import open_as_of

        return open_as_of(selected, folder)
    return Workspaces(selected.open(folder))
