"""`memcli help TOPIC`: print a topic; the texts lie beside this package."""

from __future__ import annotations

import os
import sys
from typing import Annotated, Optional

import typer

from memcli.errors import UsageError

FOLDER = os.path.join(os.path.dirname(os.path.dirname(__file__)), "help")
SHELLS = ("bash", "zsh", "fish")
SETTINGS_MARK = "<!-- settings -->\n"


def topics() -> list[str]:
    """List the topics."""
    return sorted(name[:-3] for name in os.listdir(FOLDER) if name.endswith(".md"))


def page(topic: str) -> str:
    """Give the text of a topic, with the table of settings filled in."""
    with open(os.path.join(FOLDER, f"{topic}.md"), encoding="utf-8") as file:
        text = file.read()
    if SETTINGS_MARK in text:
        from memcli.cli.generate import settings_list

        text = text.replace(SETTINGS_MARK, settings_list())
    return text


def command(
    topic: Annotated[
        Optional[str],  # noqa: UP045
        typer.Argument(metavar="TOPIC", help="A topic or a command; none lists the topics."),
    ] = None,
    completions: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            "--completions", metavar="SHELL", help="Print a completion script: bash, zsh, fish."
        ),
    ] = None,
    man: Annotated[bool, typer.Option("--man", help="Print the manual page, as roff.")] = False,
) -> int:
    """Explain a topic; without one, list the topics.

    Examples: memcli help exit-codes      memcli help query-syntax
    """
    from memcli.cli.main import COMMANDS, TOP_HELP, run, write_help

    if completions is not None or man:
        return _generated(completions)
    if topic is None:
        write_help(TOP_HELP)
        return 0
    if topic in COMMANDS:
        return run([topic, "--help"])
    if topic not in topics():
        from difflib import get_close_matches

        near = get_close_matches(topic, (*topics(), *COMMANDS), n=1)
        raise UsageError(
            f"there is no topic {topic!r}; there are {', '.join(topics())}",
            hint=f"memcli help {near[0]}" if near else "memcli help",
        )
    write_help(page(topic))
    return 0


def _generated(shell: str | None) -> int:
    """Print a completion script, or without a shell the manual page."""
    if shell is None:
        from memcli.cli.command_tree import command_tree
        from memcli.cli.manual import manual

        sys.stdout.write(manual(command_tree(), [(name, page(name)) for name in topics()]))
        return 0
    if shell not in SHELLS:
        raise UsageError(
            f"--completions must be one of {', '.join(SHELLS)}, not {shell!r}",
            hint="memcli help --completions bash",
        )
    from memcli.cli.generate import completion_scripts

    sys.stdout.write(completion_scripts()[shell])
    return 0
