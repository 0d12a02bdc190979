"""The tree of all commands and options, for completions and the manual."""

from __future__ import annotations

from memcli.checking import TYPE_CHECKING
from memcli.cli.command_help import HELP, about
from memcli.cli.options import SETTINGS, TOPICS, CommandArgument, Option, arguments_of
from memcli.cli.program import COMMANDS, GROUPS, module_of
from memcli.config.keys import BY_NAME
from memcli.record import Record

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any


class Command(Record):
    """A command that does something, by its full name: "bench quality"."""

    name: str
    about: str  # all of its help
    options: tuple[Option, ...]
    arguments: tuple[CommandArgument, ...]
    group: str  # the help of its group; "" without a group

    @property
    def sentence(self) -> str:
        """Return the first line of its help."""
        return self.about.split("\n")[0]


def command_tree() -> tuple[Command, ...]:
    """List every command, those of groups last."""
    return tuple(_commands())


def _commands() -> Iterator[Command]:
    for name in COMMANDS:
        if name not in GROUPS:
            yield _command(name, module_of(name))
    for name in GROUPS:
        package = module_of(name)
        for child in package.NAMES:
            yield _command(f"{name} {child}", module_of(name, child), package.ABOUT)


def _command(name: str, module: Any, group: str = "") -> Command:  # noqa: ANN401
    options = (*module.OPTIONS, HELP)
    return Command(name, about(module), options, tuple(arguments_of(module)), group)


def kind_of(row: CommandArgument | Option) -> str:
    """Return the kind of thing that a value names, such as FILES; "" if it is none."""
    return row.choices if isinstance(row.choices, str) else ""


def words_of(row: CommandArgument | Option, topics: Sequence[str]) -> tuple[str, ...]:
    """Return all words that a value may be, or () if they are not fixed."""
    if isinstance(row, Option) and row.setting and not row.choices:
        return tuple(BY_NAME[row.setting].choices)
    if isinstance(row.choices, str):
        return tuple({TOPICS: topics, SETTINGS: BY_NAME}.get(row.choices, ()))
    return tuple(row.choices() if callable(row.choices) else row.choices)
