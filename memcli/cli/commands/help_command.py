"""`memcli help TOPIC`: print a topic; the texts lie beside this package."""

from __future__ import annotations

import os
import sys
from typing import Annotated, Optional

import typer

from memcli.errors import UsageError

FOLDER = os.path.join(os.path.dirname(os.path.dirname(__file__)), "help")


def topics() -> list[str]:
    """List the topics."""
    return sorted(name[:-3] for name in os.listdir(FOLDER) if name.endswith(".md"))


def command(
    topic: Annotated[Optional[str], typer.Argument(metavar="TOPIC")] = None,  # noqa: UP045
) -> int:
    """Explain a topic; without one, list the topics.

    Examples: memcli help exit-codes      memcli help query-syntax
    """
    if topic is None:
        from memcli.cli.main import TOP_HELP

        sys.stdout.write(TOP_HELP + "\nTopics: " + ", ".join(topics()) + "\n")
        return 0
    if topic not in topics():
        raise UsageError(
            f"there is no topic {topic!r}; there are {', '.join(topics())}", hint="memcli help"
        )
    with open(os.path.join(FOLDER, f"{topic}.md"), encoding="utf-8") as file:
        sys.stdout.write(file.read())
    return 0
