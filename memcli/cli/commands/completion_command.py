"""`memcli completion`: print the completion script or the key bindings of a shell."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence

from memcli.cli.options import SHELLS, CommandArgument, Option, Options
from memcli.errors import MemcliError, UsageError
from memcli.types import shown

ARGUMENTS = (
    CommandArgument("shell", "SHELL", f"{', '.join(SHELLS)}.", is_required=True, choices=SHELLS),
)
OPTIONS = (Option("--keys", "Print key bindings that choose a passage."),)


def run(options: Options) -> int:
    """Print the completion script of a shell, or its key bindings.

    Examples: memcli completion bash      memcli completion zsh --keys
    """
    if options.shell not in SHELLS:
        raise UsageError(
            f"there is no completion for {options.shell!r}, only for {', '.join(SHELLS)}",
            hint=f"memcli completion {SHELLS[0]}",
        )
    if options.keys:
        from memcli.cli.shell_scripts import WIDGETS

        sys.stdout.write(WIDGETS[options.shell])
    else:
        from memcli.cli.shell_scripts import completion_scripts

        sys.stdout.write(completion_scripts()[options.shell])
    return 0


def words(arguments: Sequence[str], environ: Mapping[str, str]) -> list[str]:
    """List the documents, sources or workspaces with a prefix; nothing after an error."""
    folder, prefix = (*arguments, "", "")[:2]
    try:
        candidates = _all(os.path.expanduser(folder) or None, environ)
    except MemcliError:  # a message would disturb the person who is typing
        return []
    # A shell would read a name with a line end as two words.
    return [word for word in candidates if word.startswith(prefix) and word.isprintable()]


def _all(folder: str | None, environ: Mapping[str, str]) -> list[str]:
    from memcli.api.workspace import current_folder
    from memcli.config import settings as config
    from memcli.workspace.locate import ENV_NAME, locate

    what = environ["_MEMCLI_COMPLETE"]
    if what == "workspaces" or (folder and folder.startswith("@")):
        from memcli.config.workspaces import SIGN, folder_of_name, named_workspaces

        if what == "workspaces":
            return [f"{SIGN}{name}" for name in named_workspaces(environ)]
        folder = folder_of_name(folder or "", environ)
    place = locate(folder, environ.get(ENV_NAME), current_folder(), home=os.path.expanduser("~"))
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
