"""`memcli help TOPIC`: print a topic; the texts lie beside this package."""

from __future__ import annotations

import os
import sys
from typing import Annotated, Optional

import typer

from memcli.errors import UsageError

FOLDER = os.path.join(os.path.dirname(os.path.dirname(__file__)), "help")
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
) -> int:
    """Explain a topic; without one, list the topics.

    Examples: memcli help exit-codes      memcli help query-syntax
    """
    from memcli.cli.main import COMMANDS, TOP_HELP, run

    if topic is None:
        sys.stdout.write(f"{TOP_HELP}\nTopics: {', '.join(topics())}\n")
        return 0
    if topic in COMMANDS:
        return run([topic, "--help"])
    if topic not in topics():
        raise UsageError(
            f"there is no topic {topic!r}; there are {', '.join(topics())}", hint="memcli help"
        )
    sys.stdout.write(page(topic))
    return 0
