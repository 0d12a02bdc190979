"""Explain what is wrong with a command line, and suggest a correct one."""

from __future__ import annotations

import os
from collections.abc import Sequence
from difflib import get_close_matches
from itertools import takewhile
from shlex import join
from typing import Any

from memcli.cli.command_help import HELP, default_of
from memcli.cli.options import Option, arguments_of
from memcli.cli.program import COMMANDS, OTHER_NAMES, module_of
from memcli.errors import UsageError

_ALONE = ("--version", "--help")  # options that work without a command
_WITH_WORDS = ("search", "get", "context", "related", "remember")  # commands that accept any words
_SOME_WORDS = "some words"  # placeholder for the query
_NEAR = 0.75  # similarity (difflib, 0 to 1) from which an option is suggested
_NUMBERS = {int: "a whole number", float: "a number"}


def no_command(arguments: Sequence[str]) -> UsageError:
    """Return the error for an unknown command: misspelt, misplaced, or a question."""
    name, *rest = arguments
    if name.startswith("-"):
        return _option_first(arguments)
    message = f"there is no command {name!r}"
    if name in OTHER_NAMES:
        meant = OTHER_NAMES[name]
        words = (rest or ["--help"]) if meant.split()[0] in _WITH_WORDS else []
        return UsageError(message, hint=f"memcli {join([*meant.split(), *words])}")
    near = get_close_matches(name, COMMANDS, n=1)
    if near:
        return UsageError(message, hint=f"memcli {join([near[0], *rest])}")
    known = {name for option in module_of("search").OPTIONS for name in option.names.split()}
    words = list(takewhile(lambda word: word.partition("=")[0] not in known, arguments))
    return UsageError(
        message, hint=f"memcli {join(['search', ' '.join(words), *arguments[len(words) :]])}"
    )


def _option_first(arguments: Sequence[str]) -> UsageError:
    option = arguments[0]
    at = next((i for i, word in enumerate(arguments) if word in COMMANDS), None)
    if at is not None:
        line = [arguments[at], *arguments[at + 1 :], *arguments[:at]]
        message = f"{option} comes before the command; options go after it"
        return UsageError(message, hint=f"memcli {join(line)}")
    near = get_close_matches(option.lower(), _ALONE, n=1, cutoff=_NEAR) or ["--help"]
    hint = "--version" if option == "-V" else near[0]
    return UsageError(f"{option} is not a command", hint=f"memcli {hint}")


def no_child(arguments: Sequence[str]) -> UsageError:
    """Return the error for a group without a command, or with an unknown one."""
    group, *inner = arguments
    path, package = f"memcli {group}", module_of(group)
    names = tuple(package.COMMANDS)
    if inner and inner[0].startswith("-") and inner[0].strip("-") and not package.USUAL:
        name = inner[0].partition("=")[0]
        return _Line((group,), arguments).no_option(name if name.startswith("--") else name[:2])
    if not inner or inner[0].startswith("-"):
        return UsageError(f"{group} needs one of {', '.join(names)}", hint=f"{path} --help")
    near = get_close_matches(inner[0], names, n=1)
    hint = f"{path} {join([near[0], *inner[1:]])}" if near else f"{path} --help"
    return UsageError(f"there is no command '{group} {inner[0]}'", hint=hint)


def refused(error: Any, name: Sequence[str], arguments: Sequence[str]) -> UsageError:  # noqa: ANN401
    """Return memcli's error for a line that Click refuses; `name` is that of its command."""
    message = error.format_message().rstrip(".")
    line, kind = _Line(name, arguments), type(error).__name__
    is_typed = [*arguments[: len(name)]] == [*name]
    if kind == "NoSuchOption":
        return (line if is_typed else _Line(name[:1], arguments)).no_option(error.option_name)
    if kind == "BadOptionUsage":
        return line.no_value(line.named(error.option_name))
    if kind == "BadParameter" and error.param is not None:
        option = line.named(error.param.opts[-1])
        if option.kind in _NUMBERS:
            return line.no_number(option, error.message)
    if not is_typed:
        return no_child(arguments)
    if "unexpected extra argument" in message:
        return line.too_much(message.rpartition(" (")[2].removesuffix(")"))
    return UsageError(message[:1].lower() + message[1:], hint=f"{line.path} --help")


class _Line:
    """A command line that Click parsed up to one command."""

    def __init__(self, name: Sequence[str], arguments: Sequence[str]) -> None:
        self._name, self._arguments = " ".join(name), arguments
        self.path, module = f"memcli {self._name}", module_of(*name)
        self._options: tuple[Option, ...] = (*getattr(module, "OPTIONS", ()), HELP)
        self._metavars = " ".join(each.metavar for each in arguments_of(module))

    def named(self, name: str) -> Option:
        return next(each for each in self._options if name in each.names.split())

    def no_option(self, option: str) -> UsageError:
        known = [each for row in self._options for each in row.names.split()]
        typed = next((a for a in self._arguments if a.startswith(option)), option)
        name = option.removeprefix("--")
        alike = [each[2:] for each in known if each.startswith(f"--{name[:1]}")]
        begun = [each for each in alike if each.startswith(name)]
        near = begun or get_close_matches(name, alike, n=1, cutoff=_NEAR)
        if near and option.startswith("--"):
            meant = typed.replace(name, near[0], 1)
            return UsageError(f"there is no option {option}", hint=self._with(typed, meant))
        rest = [each for each in self._arguments[1:] if each != typed]
        if any(each.isspace() for each in typed) and "TEXT" in self._metavars:
            return UsageError(
                "write text that begins with a dash after --",
                hint=f"{self.path} {join([*rest, '--', typed])}",
            )
        is_word = len(typed) > 2 and not typed.startswith("--")
        if is_word and "QUERY" in self._metavars:
            words = rest if self._has_words(rest) else [_SOME_WORDS, *rest]
            return UsageError(
                f"there is no option {typed}; to exclude a word, put it after --",
                hint=f"{self.path} {join([*words, '--', typed])}",
            )
        return UsageError(f"there is no option {typed}", hint=f"{self.path} --help")

    def no_value(self, option: Option) -> UsageError:
        """Refuse an option without its value, or with a value that it does not take."""
        if option.is_switch:
            names = tuple(f"{name}=" for name in option.names.split())
            typed = next(each for each in self._arguments if each.startswith(names))
            name = typed.partition("=")[0]
            return UsageError(f"{name} takes no value", hint=self._with(typed, name))
        return UsageError(f"{option.long} needs a value", hint=_example(option))

    def no_number(self, option: Option, message: str) -> UsageError:
        """Return the error for a value that is not a number or too small; `message` quotes it."""
        name, least = option.long, option.least
        typed, is_below, _ = message.partition(" is not in the range")
        if is_below:
            return UsageError(
                f"{name} must be at least {least}, not {typed}", hint=f"{name} {least}"
            )
        typed = message.partition(" is not a valid")[0]
        kind = _NUMBERS[option.kind]
        return UsageError(f"{name} takes {kind}, not {typed}", hint=_example(option))

    def too_much(self, extra: str) -> UsageError:
        if self._name == "help" and self._arguments[1] in COMMANDS:  # memcli help bench init
            hint = f"memcli {join([*self._arguments[1:], '--help'])}"
        elif os.path.isdir(extra):
            hint = f"{self.path} {join(['-w', extra])}"
        else:
            hint = f"{self.path} --help"
        return UsageError(f"{self._name} takes no argument {extra!r}", hint=hint)

    def _has_words(self, rest: Sequence[str]) -> bool:
        """Return whether arguments contain more than options and their values."""
        flags = {name for row in self._options if row.is_switch for name in row.names.split()}
        is_value = False
        for each in rest:
            if not each.startswith("-") and not is_value:
                return True
            is_value = each.startswith("-") and each not in flags and "=" not in each
        return False

    def _with(self, typed: str, meant: str) -> str:
        return f"memcli {join([meant if each == typed else each for each in self._arguments])}"


def _example(option: Option) -> str:
    default = default_of(option)
    other = option.metavar if option.least is None else option.least
    return f"{option.long} {default if default.replace('.', '', 1).isdecimal() else other}"
