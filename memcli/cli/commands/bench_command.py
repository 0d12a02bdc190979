"""`memcli bench`: a group whose commands are imported and built only when they are named."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, MutableMapping
from typing import Any

import typer
from typer.core import TyperGroup

from memcli.cli.typer_command import add

NAMES = ("quality", "init", "compare", "lane", "report", "speed", "replay")


class _Commands(MutableMapping[str, Any]):
    """The commands by name, each built at its first use."""

    def __init__(self) -> None:
        self._built: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401
        if name not in self._built:
            if name not in NAMES:
                raise KeyError(name)
            module = importlib.import_module(f"memcli.cli.commands.bench.{name}")
            alone = typer.Typer(rich_markup_mode=None, add_completion=False)
            add(alone, name, module.command)
            self._built[name] = typer.main.get_command(alone)
        return self._built[name]

    def __setitem__(self, name: str, command: Any) -> None:  # noqa: ANN401
        self._built[name] = command

    def __delitem__(self, name: str) -> None:
        del self._built[name]

    def __iter__(self) -> Iterator[str]:
        return iter(NAMES)

    def __len__(self) -> int:
        return len(NAMES)


class _Group(TyperGroup):
    def __init__(self, **settings: Any) -> None:  # noqa: ANN401
        super().__init__(**settings)
        self.commands = _Commands()


app = typer.Typer(rich_markup_mode=None, cls=_Group)


@app.callback()
def group() -> None:
    """Measure how well search finds things, on your own questions."""
