"""Make a command of Typer from the table of a command module."""

from __future__ import annotations

from inspect import Parameter, Signature
from typing import Annotated, Any

import typer
import typer.core

from memcli.cli.command_help import command_help
from memcli.cli.options import NUMBER_OR_NONE, CommandArgument, Option, Options, arguments_of
from memcli.cli.plain import Call
from memcli.cli.program import terminal

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
        """Parse with the numbers that were left out, and note which help is asked for."""
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
        """Give our own help."""
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
