"""The help of a command, made from its table of options and the docstring of its `run`."""

from __future__ import annotations

from memcli.checking import TYPE_CHECKING
from memcli.cli.help_text import MOST_COLUMNS, TIED, folded
from memcli.cli.options import GENERAL, Option, arguments_of
from memcli.cli.program import GROUPS, module_of
from memcli.config.keys import BY_NAME

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

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
        groups.setdefault(option.group or _UNGROUPED, []).append((names, _described(option)))
    groups[GENERAL] = groups.pop(GENERAL)  # the last group
    wide = max(len(names) for rows in groups.values() for names, _ in rows)
    for title, rows in groups.items():
        groups[title] = [(names.ljust(wide), text) for names, text in rows]
    text = _help(" ".join(usage), about(command), groups, width)
    if len(shown) < len(options):
        text += f"\n\nmemcli {' '.join(name)} --help shows all {len(options)} options."
    return text


def _usual(command: Any, options: Sequence[Option]) -> list[Option]:  # noqa: ANN401
    names = (*getattr(command, "USUAL_OPTIONS", ()), *_SHORT_COMMON)
    is_chosen = len(names) > len(_SHORT_COMMON)
    return [
        option
        for option in options
        if option.long in names or not (is_chosen or option.group == GENERAL)
    ]


def group_help(name: str, width: int) -> str:
    """Write the help of a group of commands."""
    package = module_of(name)
    sentences = (
        (each, about(module_of(name, each)).partition("\n")[0]) for each in package.COMMANDS
    )
    groups = {
        "Commands": [*sentences],
        _UNGROUPED: [(HELP.names.replace(" ", ", "), "Show this help.")],
    }
    return _help(f"{name} [OPTIONS] COMMAND [ARGS]...", package.ABOUT, groups, width)


def _described(option: Option) -> str:
    default = default_of(option)
    shown = f"  [default: {default}]".replace("default: ", f"default:{TIED}") if default else ""
    return f"{option.help}{shown}"


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
