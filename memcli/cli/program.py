"""The program as its parts know it: its commands, the help of all, and the layout of each one's.

It imports commands only by name, so that a command may ask for it.
"""

from __future__ import annotations

import sys

from memcli.checking import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from memcli.cli.terminal import Terminal

COMMANDS = (
    "index", "search", "pick", "related", "get", "ls", "context", "remember", "worth",
    "changes", "status", "compact", "lint", "bench", "store", "config", "init", "mcp", "hook",
    "agents", "help",
)  # fmt: skip
# A package of commands each, with its ABOUT, the NAMES of its commands, and the USUAL one, which a
# line without a command means; "" if that is the help.
GROUPS = ("bench", "store", "agents")

# What other programs call these commands.
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
    "settings": "config --init",
    **dict.fromkeys(("completion", "completions"), "help --completions bash"),
    "version": "--version",
    "man": "help --man",
}

TOP_HELP = """\
memcli - search Markdown notes by keyword and by meaning, offline

Usage: memcli COMMAND [OPTIONS]

  memcli search "when may we deploy"         find passages, best first
  memcli search ERR_POOL_EXHAUSTED --json    the same for a program
  memcli context "when may we deploy"        a block of notes for a prompt
  memcli remember "deploys are on Tuesdays"  append a note to today's log
  memcli index                               update the index
  memcli index --watch                       keep it up to date while you write
  memcli status                              what is indexed and what is not

Commands:
  search    Find passages by keyword and by meaning.
  pick      Choose a passage and open it in your editor.
  related   Find passages similar to those at a place.
  get       Print lines of a document by path, citation or ref.
  ls        List documents with date, kind and tags.
  index     Update the index.
  context   Collect notes for a prompt within a token budget.
  remember  Append a note, unless it is a duplicate or contains a secret.
  worth     Score each paragraph of a text as a note.
  changes   List what is new in the notes, day by day.
  status    Show what is indexed and what is out of date.
  compact   Summarise old logs; the logs stay as they are.
  lint      Find stale, duplicate, contradictory or leaked content.
  bench     Measure search on your own questions.
  store     Share an index between machines on PostgreSQL.
  config    Show every setting, its value and where it comes from.
  init      Make a folder a workspace.
  mcp       Run the MCP server (stdio).
  hook      Answer an agent's hook (the agent calls it).
  agents    List agents and install memcli into them.
  help      Explain a topic, one of those below.

Topics:  agent-memory, agent-setup, agents, bench, benchmarks, changelog,
         changes, compact, context, contributing, conversations, editors,
         exit-codes, files, front-matter, hook, json, lint, python,
         query-syntax, ranking, remember, secrets, security, settings,
         shared-index, watch, workspaces

Options:
  --version    Show the version.
  -h, --help   Show this help; `memcli COMMAND --help` shows its options.

A workspace is a folder of Markdown notes. memcli uses the nearest workspace
above the current folder, or the one of -w or MEMCLI_WORKSPACE; otherwise it
searches this folder and what agents remember of it.
"""


def module_of(*name: str) -> Any:  # noqa: ANN401
    """Import the module of a command, or the package of a group.

    `importlib` would have to be imported itself.
    """
    suffix = "" if name[0] in GROUPS else "_command"
    module = f"memcli.cli.commands.{'.'.join(name)}{suffix}"
    __import__(module)
    return sys.modules[module]


def command_of(line: Sequence[str]) -> tuple[Any, Sequence[str]]:
    """Give the module of the command that a line names, and the rest of the line.

    The module is None if the line names only a group.
    """
    if line[0] not in GROUPS:
        return module_of(line[0]), line[1:]
    if line[1:] and line[1] in module_of(line[0]).NAMES:
        return module_of(*line[:2]), line[2:]
    return None, line[1:]


def write_help(text: str) -> None:
    """Write stored help: as it is to a pipe, folded to the width of a terminal."""
    if sys.stdout.isatty():
        from memcli.cli.help_text import folded

        text = folded(text, terminal().width)
    sys.stdout.write(text)


def write_page(text: str) -> None:
    """Write a help page: as Markdown to a pipe, laid out for a terminal."""
    if sys.stdout.isatty():
        from memcli.cli.page_layout import laid_out

        text = laid_out(text, min(terminal().width, 80))
    sys.stdout.write(text)


def terminal() -> Terminal:
    """Give the streams of the process, where no option says how to use them."""
    from memcli.cli.options import Options
    from memcli.cli.terminal import Terminal

    return Terminal.of_process(Options())
