"""Make a command of Typer from a function whose annotations declare its options.

The annotations of a command are text until Typer asks what they say: only then are Typer and
`options` imported, and a command that is called without Typer runs without both.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, get_type_hints

import typer
import typer.core

from memcli.cli import options
from memcli.cli.program import laid_out

NUMBER_OR_NONE = "[N]"  # the metavar of an option that means 1 without its number
_NAMES = {"Annotated": Annotated, "typer": typer, "options": options}


class _Command(typer.core.TyperCommand):
    """Takes an option without its number, and an item of a list for an argument, unlike Typer."""

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
        """Parse with the numbers that were left out."""
        numbers = (each for each in self.params if each.metavar == NUMBER_OR_NONE)
        bare = {name for each in numbers for name in each.opts}
        end = args.index("--") if "--" in args else len(args)
        for at in range(end):
            after = args[at + 1] if at + 1 < end else ""
            if args[at] in bare and not after.removeprefix("-").isdecimal():
                args = [*args[:at], f"{args[at]}=1", *args[at + 1 :]]
        parsed: list[str] = super().parse_args(ctx, args)
        return parsed


def add(app: typer.Typer, name: str, function: Callable[..., int]) -> None:
    """Add to `app` a command that calls the function."""
    hints = get_type_hints(function, localns=_NAMES, include_extras=True)
    function.__annotations__ = hints
    app.command(name, help=laid_out(function.__doc__ or ""), cls=_Command)(function)
