"""The command line as Typer declares it: what answers a line that is not plain, and lists options.

Only the command that is named is built, since each option costs time.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import typer

from memcli.cli import typer_command
from memcli.cli.program import COMMANDS, Program, terminal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


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
            typer_command.add(app, name, module.command)
    return typer.main.get_command(app)


def _nothing() -> None:
    """Search over Markdown memory workspaces."""


def run_line(arguments: Sequence[str], run: Callable[[Sequence[str]], int]) -> int:
    """Run a line that names a command and give its exit code; UsageError for what is wrong.

    `run` runs another line, for a command that asks for one.
    """
    # Click comes with Typer under a name of Typer's own; this is the base of its usage errors.
    click_error: Any = next(
        base for base in typer.BadParameter.__mro__ if base.__name__ == "ClickException"
    )
    tree = build(arguments[0])
    if not {"-h", "--help"}.isdisjoint(arguments):
        from memcli.cli import help_text

        help_text.prepare(tree, arguments, terminal().width)
    try:
        # Not tree(...): that would turn a closed pipe and Ctrl-C into exits of its own.
        with tree.make_context("memcli", list(arguments), obj=Program(run, build)) as top:
            result = tree.invoke(top)
    except typer.Exit as end:  # --help was printed
        return end.exit_code
    except click_error as error:
        from memcli.cli.usage import refused

        raise refused(error, tree, arguments) from None
    return int(result or 0)
