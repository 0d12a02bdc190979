"""Read a command line that is plainly right, without Typer, which costs as much as a search.

Typer declares the command line and alone speaks to whoever gets it wrong. What it declares stands
in `plain_table`, from which a line of full option names, each with its value, and of arguments is
read here as Typer reads it. In any doubt no call is given, and Typer takes the line.
"""

from __future__ import annotations

import sys

from memcli.checking import TYPE_CHECKING
from memcli.cli.plain_table import COMMANDS
from memcli.record import Record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

_NUMBERS: Mapping[str, Callable[[str], int | float]] = {"int": int, "float": float}


class Call(Record):
    """A command to be called: the module that has it, and what is given beside the defaults."""

    module: str
    values: dict[str, Any]

    def command(self) -> Callable[..., int]:
        """Import the function; without `importlib`, which itself would have to be imported."""
        __import__(self.module)
        found: Callable[..., int] = sys.modules[self.module].command
        return found


def plain_call(line: Sequence[str]) -> Call | None:
    """Read a line without the name of the program; None where Typer has to."""
    for length in (1, 2):  # of the name: "search", "bench quality"
        found = COMMANDS.get(" ".join(line[:length]))
        if found is not None:
            module, arguments, options = found
            try:
                return Call(module, _values(line[length:], arguments, options))
            except (LookupError, ValueError):  # what stands there is not plain
                return None
    return None


def _values(
    line: Sequence[str],
    arguments: Sequence[tuple[str, str]],
    options: Mapping[str, tuple[str, str]],
) -> dict[str, Any]:
    """Give the values of parameters; LookupError or ValueError where they cannot be told."""
    values: dict[str, Any] = {}
    words: list[str] = []
    rest = iter(line)
    for word in rest:
        if word == "--":
            words.extend(rest)
        elif word.startswith("-") and word != "-" and not word.startswith("- "):  # of a list
            _take_option(word, rest, options, values)
        else:
            words.append(word)
    for parameter, kind in arguments:
        if kind.endswith(("*", "+")) and words:
            values[parameter], words = words, []
        elif words:
            values[parameter] = words.pop(0)
        elif not kind.endswith(("*", "?")):
            raise ValueError
    if words:
        raise ValueError
    return values


def _take_option(
    word: str,
    rest: Iterator[str],
    options: Mapping[str, tuple[str, str]],
    values: dict[str, Any],
) -> None:
    """Read an option, with a value from `rest` unless it is joined: --limit=5, -n5."""
    if word.startswith("--"):
        name, joined, value = word.partition("=")
    else:
        name, joined = word[:2], word[2:]
        value = joined
    parameter, kind = options[name]
    if kind == "flag":
        if joined:
            raise ValueError
        values[parameter] = True
        return
    if not joined:
        value = next(rest, "-")
        if value.startswith("-"):  # may have been meant as an option
            raise ValueError
    if kind == "str*":
        values.setdefault(parameter, []).append(value)
    else:
        values[parameter] = _read(value, kind)


def _read(text: str, kind: str) -> str | int | float:
    if kind == "str":
        return text
    kind, _, least = kind.partition(">=")
    number = _NUMBERS[kind](text)
    if least and number < int(least):
        raise ValueError
    return number
