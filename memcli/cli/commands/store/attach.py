"""`memcli store attach`: keep the index of a folder in the shared store."""

from __future__ import annotations

from memcli.checking import TYPE_CHECKING
from memcli.cli.commands.store.told import tell
from memcli.cli.skin import Shared, make_skin, marked
from memcli.errors import ExitCode

if TYPE_CHECKING:
    from typing import Annotated

    import typer

    from memcli.cli import options


def command(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="What it is called there: ops, or team/ops.")
    ],
    take_over: Annotated[
        bool,
        typer.Option("--take-over", help="Also where another folder or machine writes it."),
    ] = False,
    as_json: options.Json = False,
    workspace: options.Workspace = None,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    color: options.Color = "auto",
    now: options.Now = None,
    debug: options.Debug = False,
) -> int:
    """Keep the index of this workspace in the shared store, and write it from here.

    One folder of one machine writes a workspace; every machine may search it. The index that
    is here stays as it is, and is used again once the folder is detached.

    Examples: memcli store attach team/ops      memcli store attach ops -w notes
    """
    from memcli.api import shared

    skin = make_skin(Shared(workspace, quiet, verbose, color, now), {})
    marked(skin, "memcli store attach")
    store = shared.attach(skin.memory, name, take_over=take_over)
    text = f"Attached {skin.config.workspace} to {store} as {name}. Next: memcli index"
    tell(skin, text, as_json=as_json, store=store, changed=True, name=name)
    return ExitCode.OK
