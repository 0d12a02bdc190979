"""Parse the lines that are not plain, with Typer.

A command is built only if the line names it, because each option costs time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from inspect import Parameter, Signature
from typing import Annotated, Any

import typer
import typer.core
from typer.core import TyperGroup

from memcli.cli.command_help import command_help, group_help
from memcli.cli.options import NUMBER_OR_NONE, CommandArgument, Option, Options, arguments_of
from memcli.cli.plain import Call
from memcli.cli.program import COMMANDS, GROUPS, module_of, terminal


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
        self.commands: Any = _Commands(package.COMMANDS, build)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401
        """Parse with the default command if the line names none."""
        usual, first = self._package.USUAL, args[0] if args else ""
        takes_words = bool(usual) and bool(arguments_of(module_of(str(self.name), usual)))
        is_other = first not in (*HELP_NAMES, *self._package.COMMANDS)
        if usual and is_other and (takes_words or first[:1] in ("", "-")):
            args = [usual, *args]
        parsed: list[str] = super().parse_args(ctx, args)
        return parsed

    def get_help(self, ctx: Any) -> str:  # noqa: ANN401
        """Return our own help."""
        return group_help(str(self.name), terminal().width)


def build() -> Any:  # noqa: ANN401
    """Return the tree of all commands."""

    def command(name: str) -> Any:  # noqa: ANN401
        return _Group(name) if name in GROUPS else typer_command(name, module_of(name))

    tree: Any = TyperGroup(name="memcli", context_settings={"help_option_names": HELP_NAMES})
    tree.commands = _Commands(COMMANDS, command)
    return tree


def run_line(arguments: Sequence[str]) -> int:
    """Run a line with a command and return its exit code; UsageError if it is wrong."""
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


HELP_NAMES = ["-h", "--help"]
_TYPES: dict[Any, Any] = {list: list[str]}


class _Command(typer.core.TyperCommand):
    """Takes an option without its number, and an item of a list for an argument, unlike Typer."""

    _is_short = False  # the help of -h is short, the help of --help complete

    def make_parser(self, ctx: Any) -> Any:  # noqa: ANN401
        """Make a parser that reads `- an item` as an argument: no option begins with a space."""
        parser: Any = super().make_parser(ctx)
        take_options = parser._process_opts

        def take(word: str, state: Any) -> None:  # noqa: ANN401
            if word.startswith("- "):
                state.largs.append(word)
            else:
                take_options(word, state)

        parser._process_opts = take
        return parser

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401
        """Parse after inserting omitted numbers, and note which help is requested."""
        self._is_short = "--help" not in args
        numbers = (each for each in self.params if each.metavar == NUMBER_OR_NONE)
        bare = {name for each in numbers for name in each.opts}
        end = args.index("--") if "--" in args else len(args)
        for at in range(end):
            after = args[at + 1] if at + 1 < end else ""
            if args[at] in bare and not after.removeprefix("-").isdecimal():
                args = [*args[:at], f"{args[at]}=1", *args[at + 1 :]]
        parsed: list[str] = super().parse_args(ctx, args)
        return parsed

    def get_help(self, ctx: Any) -> str:  # noqa: ANN401
        """Return our own help."""
        _, *name = ctx.command_path.split(" ")
        return command_help(name, terminal().width, is_short=self._is_short)


def typer_command(name: str, command: Any) -> Any:  # noqa: ANN401
    """Build the command of Typer that runs a command module; `name` is its last word."""
    alone = typer.Typer(rich_markup_mode=None, add_completion=False)
    context = {"help_option_names": HELP_NAMES}
    alone.command(name, cls=_Command, context_settings=context)(_function(command))
    return typer.main.get_command(alone)


def _function(command: Any) -> Any:  # noqa: ANN401
    """Make a function with a parameter for each argument and option, which Typer inspects."""
    rows = (*arguments_of(command), *command.OPTIONS)
    parameters = [Parameter(row.name, Parameter.KEYWORD_ONLY, default=_default(row),
                            annotation=_annotation(row)) for row in rows]  # fmt: skip

    def run(**values: Any) -> int:  # noqa: ANN401
        return Call(command, Options.of(command, values)).run()

    made: Any = run
    made.__signature__ = Signature(parameters)
    made.__annotations__ = {each.name: each.annotation for each in parameters}
    return made


def _default(row: CommandArgument | Option) -> Any:  # noqa: ANN401
    if isinstance(row, Option):
        return False if row.is_switch else row.default
    return Parameter.empty if row.is_required else None


def _annotation(row: CommandArgument | Option) -> Any:  # noqa: ANN401
    kind: Any = _TYPES.get(row.kind, row.kind)
    if isinstance(row, CommandArgument):
        info: Any = typer.Argument(metavar=row.metavar, help=row.help)
        return Annotated[kind if row.is_required else kind | None, info]
    names = row.names.split(" ")
    if row.is_switch:
        return Annotated[bool, typer.Option(*names, help=row.help)]
    info = typer.Option(*names, metavar=row.metavar, help=row.help, min=row.least)
    return Annotated[kind if row.default is not None else kind | None, info]
