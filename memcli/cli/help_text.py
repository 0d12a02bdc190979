"""Help as it is printed: every option with its default, folded to the terminal's width."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from textwrap import wrap
from typing import Any

from memcli.cli.options import GENERAL
from memcli.config.keys import BY_NAME, FLAGS
from memcli.record import Record

MOST_COLUMNS = 79
UNFOLDED = 10_000  # columns; so wide that Click folds nothing itself
_SETTINGS = {flag: BY_NAME[name].default for name, flag in FLAGS.items()}
# Flags that mean another setting, or none, in one command.
_OF_COMMAND = {
    ("search", "--budget"): "",
    ("context", "--budget"): BY_NAME["context.budget"].default,
    ("context", "--tail"): BY_NAME["context.tail"].default,
}
_UNGROUPED = "Options"
_TIED = "\x1f"  # a space that is no place for a break
_ENTRY = re.compile(r"( *(?:[-*]|\d+\.) | *\S.*?  +)(\S.*)")
_STANDS_ALONE = re.compile(r"#|Usage:|[A-Z][a-z]+:$")
_CODE_INDENT = 4  # as Markdown has it
_GAP = "   "  # between the columns of a table


def default_of(command: str, parameter: Any) -> str:  # noqa: ANN401
    """Say what holds where an option is not given; empty where that is nothing."""
    if parameter.param_type_name == "argument" or parameter.is_flag:
        return ""
    if isinstance(parameter.show_default, str):
        return parameter.show_default
    if parameter.default is not None:
        return str(parameter.default)
    long = parameter.opts[-1]
    return str(_OF_COMMAND.get((command, long), _SETTINGS.get(long, "")))


def prepare(tree: Any, arguments: Sequence[str], width: int) -> None:  # noqa: ANN401
    """Make the command that is named print its help with defaults, in `width` columns."""
    command, names = tree, list(arguments)
    while names and names[0] in getattr(command, "commands", ()):
        name = names.pop(0)
        command = command.commands[name]
        _prepare(name, command, width)


def _prepare(name: str, command: Any, width: int) -> None:  # noqa: ANN401
    described = command.get_help

    def get_help(context: Any) -> str:  # noqa: ANN401
        context.terminal_width = UNFOLDED
        for parameter in command.params:
            default = default_of(name, parameter)
            if default:
                told = f"[default: {default}]".replace(" ", _TIED, 1)
                parameter.help = f"{parameter.help}  {told}"
                parameter.show_default = False
        usage, end, rest = described(context).partition("\n")
        usage = re.sub(r"\{([^{}]+)\}", r"\1", usage)
        return folded(usage + end + rest, min(width, MOST_COLUMNS))

    command.get_help = get_help
    command.format_options = partial(_format_options, command)


def _format_options(command: Any, context: Any, formatter: Any) -> None:  # noqa: ANN401
    """List commands, arguments, then options by the groups they were declared in."""
    children = getattr(command, "commands", None) or {}
    rows = [(name, child.help.partition("\n")[0]) for name, child in children.items()]
    if rows:
        with formatter.section("Commands"):
            formatter.write_dl(rows)
    groups: dict[str, list[tuple[str, str]]] = {"Arguments": [], _UNGROUPED: []}
    for parameter in command.get_params(context):
        is_argument = parameter.param_type_name == "argument"
        name = "Arguments" if is_argument else _group(parameter)
        groups.setdefault(name, []).append(parameter.get_help_record(context))
    wide = max(len(names) for rows in groups.values() for names, _ in rows)
    for name in [*(each for each in groups if each != GENERAL), GENERAL]:
        if groups.get(name):
            with formatter.section(name):
                formatter.write_dl([(names.ljust(wide), text) for names, text in groups[name]])


def _group(parameter: Any) -> str:  # noqa: ANN401
    if parameter.name == "help":  # which Click adds
        return GENERAL
    return getattr(parameter, "rich_help_panel", None) or _UNGROUPED


def folded(text: str, width: int) -> str:
    """Fold prose and lists to `width`; code, indented as in Markdown, and tables stay as they are.

    Text that fits is given back unchanged.
    """
    if all(len(line) <= width for line in text.split("\n")):
        return text.replace(_TIED, " ")
    lines = [line for block in _blocks(text) for line in _lines(block, width)]
    return "\n".join(lines).replace(_TIED, " ")


class _Block(Record):
    """A paragraph or an entry of a list, in one line."""

    text: str
    hang: int  # columns in front of the lines that go on; -1 where none may
    is_code: bool = False


def _blocks(text: str) -> Iterator[_Block]:
    block = _Block("", -1)
    for number, line in enumerate(text.split("\n")):
        indent = len(line) - len(line.lstrip())
        entry = _ENTRY.fullmatch(line)
        if line and indent == block.hang and not (entry or _STANDS_ALONE.match(line)):
            block = block._replace(text=f"{block.text} {line.strip()}")
            continue
        if number:
            yield block
        has_lead = not block.text or _STANDS_ALONE.match(block.text.strip())
        is_code = indent >= _CODE_INDENT and (block.is_code or bool(has_lead))
        if not line or is_code or _STANDS_ALONE.match(line):
            block = _Block(line, -1, is_code or (block.is_code and not line))
        else:
            block = _Block(line, len(entry[1]) if entry else indent)
    yield block


def _lines(block: _Block, width: int) -> Iterator[str]:
    indent = len(block.text) - len(block.text.lstrip())
    entry = _ENTRY.fullmatch(block.text)
    is_table = entry is not None and _GAP in entry[2]
    if block.is_code or is_table or len(block.text) <= width:
        yield block.text
        return
    head, text, hang = " " * indent, block.text.strip(), indent
    if entry:
        head, text, hang = entry[1], entry[2], len(entry[1])
        longest = max(len(word) for word in text.split(" "))
        if hang > width // 2 or hang + longest > width:
            yield head.rstrip()
            hang = min(indent + 4, width // 2)
            head = " " * hang
    for line in wrap(text, width - hang, break_long_words=False, break_on_hyphens=False):
        yield head + line
        head = " " * hang
