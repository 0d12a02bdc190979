"""Completion scripts of bash, zsh and fish, written from the commands and options.

The script contains all names and fixed words, so TAB starts no process for them; for documents and
sources it runs `completion_words`. It never expands a file name, which may contain `$(…)`.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Sequence

from memcli.checking import TYPE_CHECKING
from memcli.cli.options import SHELLS
from memcli.cli.program import COMMANDS, topics

if TYPE_CHECKING:
    from memcli.cli.command_tree import Command

HEAD = "# Completion of memcli, written by: memcli completion {shell}"


def groups_of(commands: Iterable[Command]) -> dict[str, list[tuple[str, str]]]:
    """Return the words after "" and after each group of commands, with a sentence each."""
    groups: dict[str, list[tuple[str, str]]] = {"": []}
    for command in commands:
        first, _, second = command.name.partition(" ")
        if not second:
            groups[""].append((first, command.sentence))
        elif first not in groups:
            groups[""].append((first, command.group))
            groups[first] = [(second, command.sentence)]
        else:
            groups[first].append((second, command.sentence))
    return groups


def quoted(text: str) -> str:
    """Make text fit between single quotes, without the characters zsh gives a meaning."""
    return text.replace("'", "’").replace("`", "").replace(":", ";")


def completion_scripts(commands: Sequence[Command]) -> dict[str, str]:
    """Write the script of every shell, by its name."""
    words = sorted((*topics(), *COMMANDS))
    writers = {shell: importlib.import_module(f"memcli.cli.shells.{shell}") for shell in SHELLS}
    return {shell: writer.script(commands, words) for shell, writer in writers.items()}
