"""`memcli agents`: a group whose commands are imported and built only when they are named."""

from __future__ import annotations

import typer

from memcli.cli.command_group import CommandGroup


class AgentsGroup(CommandGroup):
    """The commands of `memcli agents`, which lists where it is given none."""

    package = "agents"
    names = ("list", "install", "uninstall")
    usual = "list"


app = typer.Typer(rich_markup_mode=None, cls=AgentsGroup)


@app.callback()
def group() -> None:
    """List the agents found here, and wire memcli into them."""
