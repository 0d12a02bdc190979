"""The commands of memcli, and the help of all of them.

It imports commands only by name, so that commands may import this module.
"""

from __future__ import annotations

import os
import sys

from memcli.checking import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memcli.cli.terminal import Terminal

COMMANDS = (
    "search", "context", "related", "get", "ls", "changes",
    "remember", "inbox", "compact", "lint",
    "init", "index", "status", "config", "store", "bench",
    "agents", "mcp", "hook",
    "help", "completion",
)  # fmt: skip
ALIASES = {"pick": ("search", "--interactive")}  # not in the help
# Their modules have ABOUT, the COMMANDS by name, and the USUAL one, which runs if the line names
# none ("": the help).
GROUPS = ("config", "agents", "bench", "store")
HELP_NAMES = ("-h", "--help")

# Names of these commands in other programs.
OTHER_NAMES = {
    **dict.fromkeys(("find", "query", "grep", "ask", "recall", "memory_search"), "search"),
    **dict.fromkeys(("show", "cat", "read", "open", "memory_get"), "get"),
    **dict.fromkeys(("reindex", "sync", "embed", "update"), "index"),
    **dict.fromkeys(("watch", "serve", "daemon"), "index --watch"),
    **dict.fromkeys(("info", "stats", "doctor"), "status"),
    **dict.fromkeys(("similar", "like", "find-related", "neighbors", "neighbours"), "related"),
    **dict.fromkeys(("list", "files", "documents"), "ls"),
    "tags": "ls --count tag",
    **dict.fromkeys(("summarize", "summarise", "archive"), "compact"),
    **dict.fromkeys(("add", "note", "save", "append", "memory_remember"), "remember"),
    **dict.fromkeys(("log", "diff", "news", "learned", "whatsnew"), "changes"),
    **dict.fromkeys(("audit", "check", "validate"), "lint"),
    "setup": "init",
    "mcp-server": "mcp",
    **dict.fromkeys(("install", "wire", "integrate"), "agents"),
    "settings": "config",
    "completions": "completion bash",
    "version": "--version",
    "man": "help --man",
    **dict.fromkeys(("worth", "score", "gate"), "remember --check"),
}

TOP_HELP = """\
memcli - search Markdown notes by keyword and by meaning, offline

Usage: memcli COMMAND [OPTIONS]

Agents need one page: memcli help agents

Examples:
  memcli search "when may we deploy"
  memcli search "who owns billing" "why did the pool run dry"
  memcli context "when may we deploy" --budget 1500

Search:
  search      Find passages by keyword and by meaning.
  context     Collect notes for a prompt within a token budget.
  related     Find passages similar to those at a place.
  get         Print lines of a document by path, citation or ref.
  ls          List documents with date, kind and tags.
  changes     List what is new in the notes, day by day.

Write:
  remember    Append a note, unless it is a duplicate or contains a secret.
  inbox       Review the facts collected from agent sessions.
  compact     Summarise old logs; the logs stay as they are.
  lint        Find stale, duplicate, contradictory or leaked content.

Index:
  init        Make a folder a workspace.
  index       Update the index.
  status      Show what is indexed and what is out of date.
  config      Show and change settings.
  store       Share an index between machines on PostgreSQL.
  bench       Measure search on your own questions.

Agents:
  agents      List agents and install memcli into them.
  mcp         Run the MCP server (stdio).
  hook        Answer an agent's hook (the agent calls it).

Help:
  help        Explain a topic, or list the topics.
  completion  Print the completion script of a shell.

memcli COMMAND -h shows the usual options of a command, --help all of them.
memcli uses the nearest workspace above the current folder, or the one of -w.
Otherwise it searches this folder.
"""


def module_of(*name: str) -> Any:  # noqa: ANN401
    """Import the module of a command or of a group, or return a command of a group.

    `importlib` would have to be imported itself.
    """
    first, *child = name
    module = f"memcli.cli.commands.{first}_command"
    __import__(module)
    return sys.modules[module].COMMANDS[child[0]] if child else sys.modules[module]


def command_of(line: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """Return the name of the command in a line, and the rest of the line.

    It is the name of a group if the line names no command of it, and its usual one does not fit.
    """
    name, rest = line[:1], line[1:]
    if line[0] not in GROUPS:
        return name, rest
    group, second = module_of(*name), rest[0] if rest else ""
    if second in group.COMMANDS:
        return line[:2], line[2:]
    takes_words = bool(group.USUAL) and bool(group.COMMANDS[group.USUAL].ARGUMENTS)
    may_be_usual = group.USUAL and second not in HELP_NAMES
    if may_be_usual and (takes_words or second[:1] in ("", "-")):
        return (*name, group.USUAL), rest
    return name, rest


def write_help(text: str) -> None:
    """Write stored help: unchanged to a pipe, folded to the width of a terminal."""
    if sys.stdout.isatty():
        from memcli.cli.help_text import folded

        text = folded(text, terminal().width)
    sys.stdout.write(text)


def write_topic(topic: str | None = None) -> bool:
    """Write the page of a topic, or without one the list of topics; return whether there is one."""
    if topic is None:
        sys.stdout.write(topic_list())
    elif topic in topics():
        write_page(page(topic))
    else:
        return False
    return True


def write_page(text: str) -> None:
    """Write a help page: as Markdown to a pipe, laid out for a terminal."""
    if sys.stdout.isatty():
        from memcli.cli.help_text import laid_out

        text = laid_out(text, min(terminal().width, 80))
    sys.stdout.write(text)


def terminal() -> Terminal:
    """Return the terminal of the process, with default options."""
    from memcli.cli.options import Options
    from memcli.cli.terminal import Terminal

    return Terminal.of_process(Options())


HELP_FOLDER = os.path.join(os.path.dirname(__file__), "help")


def topics() -> list[str]:
    """List the topics."""
    return sorted(name[:-3] for name in os.listdir(HELP_FOLDER) if name.endswith(".md"))


def topic_list() -> str:
    """List the topics for `memcli help`."""
    names = topics()
    wide = max(map(len, names)) + 2
    rows = (names[at : at + 5] for at in range(0, len(names), 5))
    lines = ("".join(f"{name:<{wide}}" for name in row).rstrip() for row in rows)
    table = "\n".join(f"  {line}" for line in lines)
    return f"Topics:\n{table}\n\nmemcli help TOPIC explains a topic, a command or a lint code.\n"


def page(topic: str) -> str:
    """Return the page of a topic or a code."""
    folder = HELP_FOLDER if topic in topics() else os.path.join(HELP_FOLDER, "codes")
    with open(os.path.join(folder, f"{topic}.md"), encoding="utf-8") as file:
        return file.read()
