"""The help of a command and the manual, made from its table of options and its docstring."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memcli import __version__
from memcli.checking import Any
from memcli.cli.help_text import MOST_COLUMNS, TIED, folded
from memcli.cli.options import GENERAL, SETTINGS, TOPICS, CommandArgument, Option, arguments_of
from memcli.cli.program import COMMANDS, GROUPS, module_of
from memcli.config.keys import BY_NAME
from memcli.record import Record

HELP = Option("-h --help", "Show this help. --help shows all options.", group=GENERAL)
_ARGUMENTS, _UNGROUPED = "Arguments", "Options"
_SHORT_COMMON = ("--json", "--workspace", "--help")  # the common options that -h shows


def default_of(option: Option) -> str:
    """Return the default of an option as text; "" if it has none."""
    if option.is_switch:
        return ""
    if option.shown_default or option.default is not None:
        return option.shown_default or str(option.default)
    return str(BY_NAME[option.setting].default) if option.setting else ""


def about(command: Any) -> str:  # noqa: ANN401
    """Describe a command by the docstring of its `run`, with a line for each example."""
    lines = (command.run.__doc__ or "").strip().split("\n")
    head, label, examples = "\n".join(line.strip() for line in lines).partition("Examples: ")
    each = "".join(f"\n  memcli {part.strip()}" for part in examples.split("memcli ")[1:])
    return f"{head}Examples:{each}" if label else head


def command_help(name: Sequence[str], width: int, *, is_short: bool = False) -> str:
    """Write the help of a command, or of a group, in `width` columns.

    The short help leaves out common options, and if a command has USUAL_OPTIONS, all others.
    """
    if name[0] in GROUPS and len(name) == 1:
        return group_help(name[0], width)
    command = module_of(*name)
    groups: dict[str, list[tuple[str, str]]] = {_ARGUMENTS: [], _UNGROUPED: []}
    usage = [*name, "[OPTIONS]"]
    for argument in arguments_of(command):
        is_plain = argument.is_required or argument.metavar.startswith("[")
        usage.append(argument.metavar if is_plain else f"[{argument.metavar}]")
        required = "  [required]" if argument.is_required else ""
        groups[_ARGUMENTS].append((argument.metavar, argument.help + required))
    options = (*command.OPTIONS, HELP)
    shown = _usual(command, options) if is_short else options
    for option in shown:
        names = f"{option.names.replace(' ', ', ')} {option.metavar}".rstrip()
        default = f"  [default:{TIED}{each}]" if (each := default_of(option)) else ""
        groups.setdefault(option.group or _UNGROUPED, []).append((names, option.help + default))
    groups[GENERAL] = groups.pop(GENERAL)  # the last group
    wide = max(len(names) for rows in groups.values() for names, _ in rows)
    for title, rows in groups.items():
        groups[title] = [(names.ljust(wide), text) for names, text in rows]
    text = _help(" ".join(usage), about(command), groups, width)
    if len(shown) < len(options):
        text += f"\n\nmemcli {' '.join(name)} --help shows all {len(options)} options."
    return text


def _usual(command: Any, options: Sequence[Option]) -> list[Option]:  # noqa: ANN401
    usual = getattr(command, "USUAL_OPTIONS", ())
    names = (*usual, *_SHORT_COMMON)
    return [each for each in options if each.long in names or not (usual or each.group == GENERAL)]


def group_help(name: str, width: int) -> str:
    """Write the help of a group of commands."""
    package = module_of(name)
    groups = {
        "Commands": [(each, about(module_of(name, each)).partition("\n")[0])
                     for each in package.COMMANDS],
        _UNGROUPED: [(HELP.names.replace(" ", ", "), "Show this help.")],
    }  # fmt: skip
    return _help(f"{name} [OPTIONS] COMMAND [ARGS]...", package.ABOUT, groups, width)


def _help(
    usage: str, text: str, groups: Mapping[str, Sequence[tuple[str, str]]], width: int
) -> str:
    lines = [f"Usage: memcli {usage}"]
    for paragraph in text.split("\n\n"):
        is_prose = not paragraph.startswith("Examples:")
        parts = [paragraph.replace("\n", " ")] if is_prose else paragraph.split("\n")
        lines += ["", *(f"  {part}" for part in parts)]
    for group, rows in groups.items():
        if rows:
            wide = max(len(names) for names, _ in rows)
            lines += ["", f"{group}:", *(f"  {names:<{wide}}  {text}" for names, text in rows)]
    return folded("\n".join(lines), min(width, MOST_COLUMNS))


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
    names: list[tuple[str, ...]] = [(name,) for name in COMMANDS if name not in GROUPS]
    names += [(group, child) for group in GROUPS for child in module_of(group).COMMANDS]
    return tuple(
        Command(" ".join(name), about(module), (*module.OPTIONS, HELP),
                tuple(arguments_of(module)), module_of(name[0]).ABOUT if name[1:] else "")
        for name in names for module in [module_of(*name)]
    )  # fmt: skip


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


def manual(topics: Sequence[tuple[str, str]]) -> str:
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
    for command in command_tree():
        arguments = "".join(rf" \fI{_escaped(each.metavar)}\fR" for each in command.arguments)
        lines.append(f'.SS "memcli {_escaped(command.name)}"')
        lines += [".PP", rf"\fBmemcli {_escaped(command.name)}\fR [\fIOPTIONS\fR]{arguments}"]
        for paragraph in command.about.split("\n\n"):
            lines += [".PP", *_paragraph(paragraph)]
        for option in command.options:
            lines += _option(option)
    for name, text in topics:
        body = text.rstrip("\n").split("\n")[2:]  # without its title: the manual has a heading
        lines += [f'.SH "{_escaped(name.upper())}"', ".nf", *map(_escaped, body), ".fi"]
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
    default = f" Default: {each}." if (each := default_of(option)) else ""
    return [".TP", names + value, _escaped(option.help + default)]


def _escaped(text: str) -> str:
    """Escape what roff would interpret: backslashes, dashes, leading dots and quotes."""
    text = text.replace("\\", r"\e").replace("-", r"\-")
    return rf"\&{text}" if text[:1] in (".", "'") else text
