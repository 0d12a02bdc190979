"""`memcli help TOPIC`: print a topic, the help of a command, or what is generated from all."""

from __future__ import annotations

import sys

from memcli.checking import TYPE_CHECKING
from memcli.cli.choices import SHELLS, check
from memcli.cli.program import COMMANDS, TOP_HELP, Program, write_help, write_page
from memcli.cli.topics import codes, page, topics
from memcli.errors import UsageError

if TYPE_CHECKING:
    from typing import Annotated

    import typer


# What may be taken for a topic, and prints what belongs elsewhere.
_OPTIONS = {
    "widget": "--widget bash",
    "completion": "--completions bash",
    "man": "--man",
    "manual": "--man",
}


def command(
    context: typer.Context,
    topic: Annotated[
        str | None,
        typer.Argument(
            metavar="TOPIC", help="A topic, a command or a code of lint; none lists the topics."
        ),
    ] = None,
    completions: Annotated[
        str | None,
        typer.Option(
            "--completions", metavar="SHELL", help="Print a completion script: bash, zsh, fish."
        ),
    ] = None,
    widget: Annotated[
        str | None,
        typer.Option("--widget", metavar="SHELL", help="Print key bindings: bash, zsh, fish."),
    ] = None,
    man: Annotated[bool, typer.Option("--man", help="Print the manual page, as roff.")] = False,
    agent: Annotated[
        str | None,
        typer.Option(
            "--for", metavar="AGENT", help="With agents: print the files that wire this one."
        ),
    ] = None,
    folder: Annotated[
        str | None,
        typer.Option("--to", metavar="FOLDER", help="With --for: write them as a plugin."),
    ] = None,
) -> int:
    """Explain a topic; without one, list the topics.

    Examples: memcli help exit-codes      memcli help query-syntax
    """
    program: Program = context.obj
    if agent is not None or folder is not None:
        from memcli.cli.agents_files import show

        return show(topic, agent, folder)
    if widget is not None:
        check("--widget", [widget], SHELLS)
        from memcli.cli.shells.widgets import WIDGETS

        sys.stdout.write(WIDGETS[widget])
        return 0
    if completions is not None or man:
        return _generated(completions, program)
    if topic is None:
        write_help(TOP_HELP)
        return 0
    if topic in COMMANDS and topic not in topics():
        return program.run([topic, "--help"])
    if topic not in topics() and topic not in codes():
        if (option := _OPTIONS.get(topic.removesuffix("s"))) is not None:
            raise UsageError(f"{topic!r} is an option, not a topic", hint=f"memcli help {option}")
        from difflib import get_close_matches

        near = get_close_matches(topic, (*topics(), *COMMANDS, *codes()), n=1)
        raise UsageError(
            f"there is no topic {topic!r}; there are {', '.join(topics())}",
            hint=f"memcli help {near[0]}" if near else "memcli help",
        )
    write_page(page(topic))
    return 0


def _generated(shell: str | None, program: Program) -> int:
    """Print a completion script, or without a shell the manual page."""
    from memcli.cli.command_tree import command_tree

    if shell is None:
        from memcli.cli.manual import manual
        from memcli.cli.page_layout import laid_out

        pages = [(name, laid_out(page(name), 78)) for name in topics()]
        sys.stdout.write(manual(command_tree(program.tree()), pages))
        return 0
    if shell not in SHELLS:
        raise UsageError(
            f"--completions must be one of {', '.join(SHELLS)}, not {shell!r}",
            hint="memcli help --completions bash",
        )
    from memcli.cli.completion_scripts import completion_scripts

    sys.stdout.write(completion_scripts(command_tree(program.tree()))[shell])
    return 0
