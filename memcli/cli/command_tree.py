"""The commands and options as plain data: what the completions and the manual are made from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from memcli.agents.table import NAMES as AGENT_NAMES
from memcli.agents.table import PARTS as AGENT_PARTS
from memcli.agents.table import SCOPES as AGENT_SCOPES
from memcli.cli.choices import (
    CONTEXT_FORMATS,
    COUNTED,
    LIST_FORMATS,
    LIST_ORDERS,
    SEARCH_FORMATS,
    SHELLS,
    SUMMARIZERS,
)
from memcli.cli.help_text import default_of
from memcli.cli.terminal import WHEN
from memcli.config.settings import BY_NAME, FLAGS
from memcli.hook.agents import AGENTS
from memcli.record import Record
from memcli.render.jsonio import RELATED_KEYS, RESULT_KEYS
from memcli.types import SCOPES, TRUSTS

WORKSPACES, FILES, DOCUMENTS, SOURCES, TOPICS, SETTINGS = (
    "workspaces", "files", "documents", "sources", "topics", "settings",
)  # fmt: skip
_BY_METAVAR = {
    "FOLDER": WORKSPACES,
    **dict.fromkeys(
        ("FILE", "OUT.jsonl", "[QUERIES.jsonl]", "[RECEIPT]...", "BEFORE", "AFTER"), FILES
    ),
    "REF": DOCUMENTS,
    "TOPIC": TOPICS,
    "SETTING": SETTINGS,
    "PATH[:FROM-TO]": DOCUMENTS,
    "PATH": DOCUMENTS,
    "PATH[:LINE]": DOCUMENTS,
}
_BY_OPTION = {"--source": SOURCES, "--path": DOCUMENTS}
_WORDS: Mapping[str, tuple[str, ...]] = {
    **{flag: BY_NAME[name].choices for name, flag in FLAGS.items()},
    "--color": WHEN,
    "--scope": SCOPES,
    "--trust": TRUSTS,
    "--summarizer": SUMMARIZERS,
    "--completions": SHELLS,
    "--widget": SHELLS,
    "--print": RESULT_KEYS,
    "--fields": RESULT_KEYS,
}
_OF_COMMAND: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "search": {"--format": SEARCH_FORMATS},
    "context": {"--format": CONTEXT_FORMATS},
    "related": {"--format": SEARCH_FORMATS, "--fields": RELATED_KEYS},
    "hook": {"--for": tuple(AGENTS)},
    "ls": {"--format": LIST_FORMATS, "--sort": LIST_ORDERS, "--count": COUNTED},
    "agents install": {"--for": AGENT_NAMES, "--scope": AGENT_SCOPES, "--with": AGENT_PARTS},
    "agents uninstall": {"--for": AGENT_NAMES, "--scope": AGENT_SCOPES},
    "help": {"--for": AGENT_NAMES},
}


class Takes(Record):
    """What stands behind an option or as an argument."""

    metavar: str
    kind: str  # one of the names above, or empty
    words: tuple[str, ...]  # all that is allowed, where that is known


class Option(Record):
    """An option: its names, short ones first, its meaning, and its value unless it is a switch."""

    names: tuple[str, ...]
    about: str
    takes: Takes | None
    default: str


class Command(Record):
    """A command that does something, by its full name: "bench quality"."""

    name: str
    about: str  # all of its help
    options: tuple[Option, ...]
    arguments: tuple[Takes, ...]
    group: str  # the first line of the help of the group it stands in; empty for none

    @property
    def sentence(self) -> str:
        """Give the first line of its help."""
        return self.about.split("\n")[0]


def command_tree(tree: Any) -> tuple[Command, ...]:  # noqa: ANN401
    """List every command of a built tree, in the order of the top-level help."""
    return tuple(_command(name, leaf, group) for name, leaf, group in leaves(tree))


def leaves(tree: Any) -> Iterator[tuple[str, Any, str]]:  # noqa: ANN401
    """Give each command that does something: its full name, itself, the help of its group."""
    for name, command in tree.commands.items():
        children = getattr(command, "commands", None)
        if children is None:
            yield name, command, ""
        else:
            sentence = command.help.split("\n")[0]
            yield from ((f"{name} {child}", children[child], sentence) for child in children)


def _command(name: str, leaf: Any, group: str) -> Command:  # noqa: ANN401
    words = {**_WORDS, **_OF_COMMAND.get(name, {})}
    options, arguments = [], []
    for parameter in leaf.params:
        metavar = parameter.metavar or parameter.type.name.upper()
        if parameter.param_type_name == "argument":
            kind = _BY_METAVAR.get(metavar, "")
            names = tuple(BY_NAME) if kind == SETTINGS else ()
            arguments.append(Takes(metavar, kind, names))
            continue
        long = parameter.opts[-1]
        kind = _BY_OPTION.get(long) or _BY_METAVAR.get(metavar, "")
        takes = None if parameter.is_flag else Takes(metavar, kind, words.get(long, ()))
        default = default_of(name, parameter)
        options.append(Option(tuple(parameter.opts), parameter.help, takes, default))
    options.append(Option(("-h", "--help"), "Show this message and exit.", None, ""))
    return Command(name, leaf.help, tuple(options), tuple(arguments), group)
