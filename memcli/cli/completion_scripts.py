"""The completion scripts of all shells."""

from __future__ import annotations

import importlib
from collections.abc import Sequence

from memcli.checking import TYPE_CHECKING
from memcli.cli.options import SHELLS
from memcli.cli.program import COMMANDS
from memcli.cli.topics import topics

if TYPE_CHECKING:
    from memcli.cli.command_tree import Command


def completion_scripts(commands: Sequence[Command]) -> dict[str, str]:
    """Write the script of every shell, by its name."""
    words = sorted((*topics(), *COMMANDS))
    writers = {shell: importlib.import_module(f"memcli.cli.shells.{shell}") for shell in SHELLS}
    return {shell: writer.script(commands, words) for shell, writer in writers.items()}
