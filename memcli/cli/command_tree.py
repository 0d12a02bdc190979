"""The tree of all commands and options, for completions and the manual."""

from __future__ import annotations

from collections.abc import Sequence

from memcli import __version__
from memcli.checking import TYPE_CHECKING
from memcli.cli.command_help import HELP, about, default_of
from memcli.cli.options import SETTINGS, TOPICS, CommandArgument, Option, arguments_of
from memcli.cli.program import COMMANDS, GROUPS, module_of
from memcli.config.keys import BY_NAME
from memcli.record import Record

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


class Command(Record):
    """A command, not a group, by its full name: "bench quality"."""

    name: str
    about: str  # its complete help
    options: tuple[Option, ...]
    arguments: tuple[CommandArgument, ...]
    group: str  # the help of its group; "" without a group

    @property
    def sentence(self) -> str:
        """Return the first line of its help."""
        return self.about.split("\n")[0]


def command_tree() -> tuple[Command, ...]:
    """List every command, those of groups last."""
    return tuple(_commands())


def _commands() -> Iterator[Command]:
    for name in COMMANDS:
        if name not in GROUPS:
            yield _command(name, module_of(name))
    for name in GROUPS:
        package = module_of(name)
        for child in package.COMMANDS:
            yield _command(f"{name} {child}", module_of(name, child), package.ABOUT)


def _command(name: str, module: Any, group: str = "") -> Command:  # noqa: ANN401
    options = (*module.OPTIONS, HELP)
    return Command(name, about(module), options, tuple(arguments_of(module)), group)


def kind_of(row: CommandArgument | Option) -> str:
    """Return the kind of thing that a value names, such as FILES; "" if there is none."""
    return row.choices if isinstance(row.choices, str) else ""


def words_of(row: CommandArgument | Option, topics: Sequence[str]) -> tuple[str, ...]:
    """Return all possible words of a value, or () if they are not fixed."""
    if isinstance(row, Option) and row.setting and not row.choices:
        return tuple(BY_NAME[row.setting].choices)
    if isinstance(row.choices, str):
        return tuple({TOPICS: topics, SETTINGS: BY_NAME}.get(row.choices, ()))
    return tuple(row.choices() if callable(row.choices) else row.choices)


_ABOUT = """\
memcli searches a folder of Markdown notes, the memory of an agent or of a person, by words and
by meaning, and says why each passage ranks where it does. The files are the only truth; the
index is a cache that may be deleted at any time. A workspace is any folder of Markdown; a
marked one is looked for at and above the current folder, else that folder itself is searched."""


def manual(commands: Sequence[Command], topics: Sequence[tuple[str, str]]) -> str:
    """Write memcli(1); `topics` are (name, text) of the help topics."""
    lines = [
        f'.TH MEMCLI 1 "" "memcli {__version__}" "User Commands"',
        ".SH NAME",
        r"memcli \- search over Markdown memory workspaces",
        ".SH SYNOPSIS",
        ".B memcli",
        r"\fICOMMAND\fR [\fIOPTIONS\fR]",
        ".SH DESCRIPTION",
        *map(_escaped, _ABOUT.split("\n")),
        ".SH COMMANDS",
    ]
    for command in commands:
        arguments = "".join(rf" \fI{_escaped(each.metavar)}\fR" for each in command.arguments)
        lines.append(f'.SS "memcli {_escaped(command.name)}"')
        lines += [".PP", rf"\fBmemcli {_escaped(command.name)}\fR [\fIOPTIONS\fR]{arguments}"]
        for paragraph in command.about.split("\n\n"):
            lines += [".PP", *_paragraph(paragraph)]
        for option in command.options:
            lines += _option(option)
    for name, text in topics:
        lines += [f'.SH "{_escaped(name.upper())}"', ".nf", *_verbatim(text), ".fi"]
    return "\n".join(lines) + "\n"


def _paragraph(text: str) -> list[str]:
    _, mark, examples = text.partition("Examples:\n")
    if not mark:
        return [_escaped(line) for line in text.split("\n")]
    each = [line.strip() for line in examples.split("\n")]
    return ["Examples:", ".nf", ".RS 4", *map(_escaped, each), ".RE", ".fi"]


def _option(option: Option) -> list[str]:
    names = ", ".join(rf"\fB{_escaped(name)}\fR" for name in option.names.split())
    value = rf" \fI{_escaped(option.metavar)}\fR" if option.metavar else ""
    default = f" Default: {default_of(option)}." if default_of(option) else ""
    return [".TP", names + value, _escaped(option.help + default)]


def _verbatim(text: str) -> list[str]:
    """Return a topic without its title, because the manual has a heading of its own."""
    lines = text.rstrip("\n").split("\n")
    return [_escaped(line) for line in lines[2:]]


def _escaped(text: str) -> str:
    """Escape what roff would interpret: backslashes, dashes, leading dots and quotes."""
    text = text.replace("\\", r"\e").replace("-", r"\-")
    return rf"\&{text}" if text[:1] in (".", "'") else text
