"""Parse a plainly correct command line without Typer, whose import takes as long as a search.

It reads arguments and full option names from the table of the command, as Typer does. All other
lines go to Typer, which reports what is wrong with them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from memcli.checking import Any
from memcli.cli.options import NUMBER_OR_NONE, CommandArgument, Option, Options, arguments_of
from memcli.cli.program import GROUPS, command_of, module_of
from memcli.errors import MemcliError
from memcli.record import Record


class Call(Record):
    """A parsed line: the module of the command, and its options."""

    command: Any
    options: Options

    def run(self) -> int:
        """Run it and return its exit code; hints of errors name the folder of the line."""
        try:
            return int(self.command.run(self.options) or 0)
        except MemcliError as error:
            error.hint = self.options.named(error.hint)
            raise


def plain_call(line: Sequence[str]) -> Call | None:
    """Parse a line (without the program name); None if Typer must parse it."""
    name, rest = command_of(line)
    if name[-1] in GROUPS:
        return None
    command = module_of(*name)
    try:
        values = _values(rest, arguments_of(command), command.OPTIONS)
    except (LookupError, ValueError):
        return None
    return Call(command, Options.of(command, values))


def _values(
    line: Sequence[str], arguments: Iterable[CommandArgument], options: Sequence[Option]
) -> dict[str, Any]:
    """Return the values of a line by name; LookupError or ValueError if it is not plain."""
    values: dict[str, Any] = {}
    words: list[str] = []
    rest = iter(line)
    for word in rest:
        if word == "--":
            words.extend(rest)
        elif word.startswith("-") and word != "-" and not word.startswith("- "):  # of a list option
            _take_option(word, rest, options, values)
        else:
            words.append(word)
    for argument in arguments:
        if argument.kind is list and words:
            values[argument.name], words = words, []
        elif words:
            values[argument.name] = words.pop(0)
        elif argument.is_required:
            raise ValueError
    if words:
        raise ValueError
    return values


def _take_option(
    word: str, rest: Iterator[str], options: Sequence[Option], values: dict[str, Any]
) -> None:
    """Read an option, with a value from `rest` unless it is joined: --limit=5, -n5."""
    if word.startswith("--"):
        name, joined, value = word.partition("=")
    else:
        name, joined = word[:2], word[2:]
        value = joined
    option = _named(name, options)
    if option.is_switch:
        if joined:
            raise ValueError
        values[option.name] = True
        return
    if option.metavar == NUMBER_OR_NONE:
        raise ValueError
    if not joined:
        value = next(rest, "-")
        if value.startswith("-"):  # it may be a mistyped option
            raise ValueError
    if option.kind is list:
        values.setdefault(option.name, []).append(value)
        return
    read = values[option.name] = option.kind(value)
    if option.least is not None and read < option.least:
        raise ValueError


def _named(name: str, options: Sequence[Option]) -> Option:
    for option in options:
        if name in option.names and name in option.names.split(" "):
            return option
    raise LookupError
