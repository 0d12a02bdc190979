"""The command line as Typer reads it: it answers every line that is not plain.

A command is built when it is named, since each option costs time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperGroup

from memcli.cli.command_help import group_help
from memcli.cli.options import arguments_of
from memcli.cli.program import COMMANDS, GROUPS, module_of, terminal
from memcli.cli.typer_command import HELP_NAMES, typer_command

if TYPE_CHECKING:
    from collections.abc import Sequence


class _Commands(Mapping[str, Any]):
    """Commands by name, each built at its first use."""

    def __init__(self, names: Sequence[str], build: Callable[[str], Any]) -> None:
        self._names, self._build = names, build
        self._built: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401
        if name not in self._built:
            if name not in self._names:
                raise KeyError(name)
            self._built[name] = self._build(name)
        return self._built[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class _Group(TyperGroup):
    """A group of the commands of a package."""

    def __init__(self, name: str) -> None:
        self._package = package = module_of(name)

        def build(child: str) -> Any:  # noqa: ANN401
            return typer_command(child, module_of(name, child))

        context = {"help_option_names": HELP_NAMES}
        super().__init__(name=name, no_args_is_help=False, context_settings=context)
        self.commands: Any = _Commands(package.NAMES, build)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401
        """Parse with the usual command if the line names none."""
        usual, first = self._package.USUAL, args[0] if args else ""
        takes_words = bool(usual) and bool(arguments_of(module_of(str(self.name), usual)))
        is_other = first not in (*HELP_NAMES, *self._package.NAMES)
        if usual and is_other and (takes_words or first[:1] in ("", "-")):
            args = [usual, *args]
        parsed: list[str] = super().parse_args(ctx, args)
        return parsed

    def get_help(self, ctx: Any) -> str:  # noqa: ANN401
        """Give our own help."""
        return group_help(str(self.name), terminal().width)


def build() -> Any:  # noqa: ANN401
    """Give the tree of all commands."""

    def command(name: str) -> Any:  # noqa: ANN401
        return _Group(name) if name in GROUPS else typer_command(name, module_of(name))

    tree: Any = TyperGroup(name="memcli", context_settings={"help_option_names": HELP_NAMES})
    tree.commands = _Commands(COMMANDS, command)
    return tree


def run_line(arguments: Sequence[str]) -> int:
    """Run a line that names a command and give its exit code; UsageError for what is wrong."""
    # Click comes with Typer under a name of Typer's own; this is the base of its usage errors.
    click_error: Any = next(
        base for base in typer.BadParameter.__mro__ if base.__name__ == "ClickException"
    )
    tree = build()
    try:
        # Not tree(...): that would turn a closed pipe and Ctrl-C into exits of its own.
        with tree.make_context("memcli", list(arguments)) as top:
            result = tree.invoke(top)
    except typer.Exit as end:  # --help was printed
        return end.exit_code
    except click_error as error:
        from memcli.cli.usage import refused

        raise refused(error, tree, arguments) from None
    return int(result or 0)
