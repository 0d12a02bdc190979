"""`memcli bench`: a group whose commands are imported and built only when they are named."""

from __future__ import annotations

import typer

from memcli.cli.command_group import CommandGroup

NAMES = ("quality", "init", "compare", "lane", "report", "speed", "replay", "calibrate")


class BenchGroup(CommandGroup):
    """The commands of `memcli bench`."""

    package = "bench"
    names = NAMES


app = typer.Typer(rich_markup_mode=None, cls=BenchGroup)


@app.callback()
def group() -> None:
    """Measure how well search finds things, on your own questions."""
