"""Answer the shell at TAB: the documents and sources of a workspace, and all workspaces.

The completion scripts know commands, options and fixed words by heart; for the rest they run
`_MEMCLI_COMPLETE=documents memcli FOLDER PREFIX`. Typer stays unloaded: somebody waits.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from memcli.errors import MemcliError
from memcli.types import shown


def words(
    what: str, arguments: Sequence[str], environ: Mapping[str, str], cwd: str | None
) -> list[str]:
    """List the documents, sources or workspaces with a prefix; nothing if there is a problem."""
    folder, prefix = (*arguments, "", "")[:2]
    try:
        found = _all(what, os.path.expanduser(folder) or None, environ, cwd)
    except MemcliError:  # a message would disturb the person who is typing
        return []
    # A name with a line end would be two words for the shell.
    return [word for word in found if word.startswith(prefix) and word.isprintable()]


def _all(what: str, folder: str | None, environ: Mapping[str, str], cwd: str | None) -> list[str]:
    from memcli.config import settings as config
    from memcli.workspace.locate import locate

    if what == "workspaces" or (folder and folder.startswith("@")):
        from memcli.config.workspaces import SIGN, folder_of_name, named_workspaces

        if what == "workspaces":
            return [f"{SIGN}{name}" for name in named_workspaces(environ)]
        folder = folder_of_name(folder or "", environ)
    place = locate(folder, environ.get("MEMCLI_WORKSPACE"), cwd, home=os.path.expanduser("~"))
    settled = config.load(place.root, environ, {}, by=place.by)
    if what == "sources":
        return [source.name for source in settled.sources]
    if what != "documents":
        return []
    from memcli.workspace.discover import discover

    listing = discover(
        settled.sources,
        max_bytes=settled("files.max_bytes"),
        follow_symlinks=settled("files.follow_symlinks"),
    )
    return [shown(file.source, file.path) for file in listing.files]
