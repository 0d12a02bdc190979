"""A group of commands that are imported and built only when they are named."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, MutableMapping
from typing import Any

import typer
from typer.core import TyperGroup

from memcli.cli.typer_command import add

_HELP = ("-h", "--help")


class LazyCommands(MutableMapping[str, Any]):
    """The commands of a package by name, each built at its first use."""

    def __init__(self, package: str, names: tuple[str, ...]) -> None:
        self._package, self._names = package, names
        self._built: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401
        if name not in self._built:
            if name not in self._names:
                raise KeyError(name)
            module = importlib.import_module(f"memcli.cli.commands.{self._package}.{name}")
            alone = typer.Typer(rich_markup_mode=None, add_completion=False)
            add(alone, name, module.command)
            self._built[name] = typer.main.get_command(alone)
        return self._built[name]

    def __setitem__(self, name: str, command: Any) -> None:  # noqa: ANN401
        self._built[name] = command

    def __delitem__(self, name: str) -> None:
        del self._built[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class CommandGroup(TyperGroup):
    """A group of the commands of a package; a subclass names them."""

    package: str
    names: tuple[str, ...]
    usual = ""  # what a line without a command means; "" for its help

    def __init__(self, **settings: Any) -> None:  # noqa: ANN401
        super().__init__(**settings)
        self.commands = LazyCommands(self.package, self.names)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401
        """Parse with the command that goes without saying."""
        if self.usual and (not args or (args[0].startswith("-") and args[0] not in _HELP)):
            args = [self.usual, *args]
        parsed: list[str] = super().parse_args(ctx, args)
        return parsed
