"""`memcli store init`: make the tables of a shared store."""

from __future__ import annotations

from memcli.checking import TYPE_CHECKING
from memcli.cli.commands.store.told import tell
from memcli.cli.skin import Shared, make_skin
from memcli.errors import ExitCode

if TYPE_CHECKING:
    from typing import Annotated

    import typer

    from memcli.cli import options


def command(
    partitions: Annotated[
        int,
        typer.Option(
            "--partitions",
            metavar="N",
            help="Cut each table into so many; 0: none.",
        ),
    ] = 0,
    print_sql: Annotated[
        bool, typer.Option("--print-sql", help="Print the statements and run none.")
    ] = False,
    as_json: options.Json = False,
    workspace: options.Workspace = None,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    color: options.Color = "auto",
    now: options.Now = None,
    debug: options.Debug = False,
) -> int:
    """Make the tables of the shared store that store.url names, once for all.

    Where nobody may run such statements, --print-sql gives them to whoever does, with a role
    for agents and the policies that keep tenants apart.

    Examples: memcli store init      memcli store init --print-sql --partitions 64
    """
    from memcli.api import shared

    skin = make_skin(Shared(workspace, quiet, verbose, color, now), {}, anywhere=True)
    if print_sql:
        skin.terminal.write(shared.script(partitions))
        return ExitCode.OK
    store, is_new = shared.initialise(skin.config, partitions)
    text = f"{store} is set up already; nothing was changed."
    if is_new:
        text = f"Set up {store}. Next, in a workspace: memcli store attach NAME"
    tell(skin, text, as_json=as_json, store=store, changed=is_new)
    return ExitCode.OK
