"""Parse the lines that are not plain, with Typer.

Only the command of the line is built, because each option costs time.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from inspect import Parameter, Signature
from typing import Annotated, Any

import typer
import typer.core

from memcli.cli.command_help import command_help
from memcli.cli.options import NUMBER_OR_NONE, CommandArgument, Option, Options, arguments_of
from memcli.cli.plain import Call
from memcli.cli.program import GROUPS, HELP_NAMES, command_of, module_of, terminal
from memcli.errors import ExitCode


def run_line(line: Sequence[str]) -> int:
    """Run a line with a command and return its exit code; UsageError if it is wrong."""
    from memcli.cli.usage import no_child, refused

    name, rest = command_of(line)
    if name[-1] in GROUPS:
        if not rest or rest[0] not in HELP_NAMES:
            raise no_child(line)
        sys.stdout.write(command_help(name, terminal().width) + "\n")
        return ExitCode.OK
    # Click comes with Typer under a name of Typer's own; this is the base of its usage errors.
    click_error: Any = next(
        base for base in typer.BadParameter.__mro__ if base.__name__ == "ClickException"
    )
    command = typer_command(" ".join(name), module_of(*name))
    try:
        # Not command(...): that would turn a closed pipe and Ctrl-C into exits of its own.
        with command.make_context(command.name, list(rest)) as context:
            result = command.invoke(context)
    except typer.Exit as end:  # --help was printed
        return end.exit_code
    except click_error as error:
        raise refused(error, name, line) from None
    return int(result or 0)


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
        name = ctx.command_path.split(" ")
        return command_help(name, terminal().width, is_short=self._is_short)


def typer_command(name: str, command: Any) -> Any:  # noqa: ANN401
    """Build the command of Typer that runs a command module.

    Typer inspects a function with a parameter for each argument and option.
    """

    def run(**values: Any) -> int:  # noqa: ANN401
        return Call(command, Options.of(command, values)).run()

    rows = (*arguments_of(command), *command.OPTIONS)
    made: Any = run
    made.__signature__ = Signature([*map(_parameter, rows)])
    made.__annotations__ = {
        each.name: each.annotation for each in made.__signature__.parameters.values()
    }
    alone = typer.Typer(rich_markup_mode=None, add_completion=False)
    context = {"help_option_names": [*HELP_NAMES]}
    alone.command(name, cls=_Command, context_settings=context)(made)
    return typer.main.get_command(alone)


def _parameter(row: CommandArgument | Option) -> Parameter:
    kind: Any = list[str] if row.kind is list else row.kind
    info: Any
    default: Any
    if isinstance(row, CommandArgument):
        default = Parameter.empty if row.is_required else None
        info = typer.Argument(metavar=row.metavar, help=row.help)
    elif row.is_switch:
        default, kind = False, bool
        info = typer.Option(*row.names.split(" "), help=row.help)
    else:
        default, names = row.default, row.names.split(" ")
        info = typer.Option(*names, metavar=row.metavar, help=row.help, min=row.least)
    kind = kind | None if default is None else kind
    return Parameter(
        row.name, Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, info]
    )
