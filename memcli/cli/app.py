"""Build the commands: the one that is named, or all of them.

Only what is built is imported: each declared option costs time at every start.
"""

from __future__ import annotations

import importlib
from typing import Any

import typer

from memcli.cli.program import COMMANDS, laid_out


def build(command: str | None = None) -> Any:  # noqa: ANN401
    """Build the command tree with one command, or with all of them."""
    app = typer.Typer(
        name="memcli",
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        add_completion=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_nothing)
    for name in COMMANDS if command is None else (command,):
        module = importlib.import_module(f"memcli.cli.commands.{name}_command")
        if hasattr(module, "app"):
            app.add_typer(module.app, name=name)
        else:
            app.command(name, help=laid_out(module.command.__doc__))(module.command)
    return typer.main.get_command(app)


def _nothing() -> None:
    """Search over Markdown memory workspaces."""
