"""What the scripts of all shells need of the commands."""

from __future__ import annotations

from collections.abc import Iterable

from memcli.cli.command_tree import Command

HEAD = "# Completion of memcli, written by: memcli completion {shell}"


def groups_of(commands: Iterable[Command]) -> dict[str, list[tuple[str, str]]]:
    """Give the words after "" and after each group of commands, with a sentence each."""
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
