"""Write the manual page from the commands, their options and the help topics, as roff (man)."""

from __future__ import annotations

from collections.abc import Sequence

from memcli import __version__
from memcli.checking import TYPE_CHECKING
from memcli.cli.command_help import default_of

if TYPE_CHECKING:
    from memcli.cli.command_tree import Command
    from memcli.cli.options import Option

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
    _, found, examples = text.partition("Examples:\n")
    if not found:
        return [_escaped(line) for line in text.split("\n")]
    each = [line.strip() for line in examples.split("\n")]
    return ["Examples:", ".nf", ".RS 4", *map(_escaped, each), ".RE", ".fi"]


def _option(option: Option) -> list[str]:
    names = ", ".join(rf"\fB{_escaped(name)}\fR" for name in option.names.split())
    value = rf" \fI{_escaped(option.metavar)}\fR" if option.metavar else ""
    default = f" Default: {default_of(option)}." if default_of(option) else ""
    return [".TP", names + value, _escaped(option.help + default)]


def _verbatim(text: str) -> list[str]:
    """Return a topic without its title; the manual has a heading of its own."""
    lines = text.rstrip("\n").split("\n")
    return [_escaped(line) for line in lines[2:]]


def _escaped(text: str) -> str:
    """Keep roff from reading text as requests: backslashes, dashes, dots and quotes that begin."""
    text = text.replace("\\", r"\e").replace("-", r"\-")
    return rf"\&{text}" if text[:1] in (".", "'") else text
