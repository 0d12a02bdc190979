"""`memcli store`: a group whose commands are imported and built only when they are named."""

from __future__ import annotations

import typer

from memcli.cli.command_group import CommandGroup

NAMES = ("status", "init", "attach", "detach", "upgrade")


class StoreGroup(CommandGroup):
    """The commands of `memcli store`, which shows the store where it is given none."""

    package = "store"
    names = NAMES
    usual = "status"


app = typer.Typer(rich_markup_mode=None, cls=StoreGroup)


@app.callback()
def group() -> None:
    """Share an index between machines, on a server."""
