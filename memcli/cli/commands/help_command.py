"""`memcli help TOPIC`: print a topic, the help of a command, or what is generated from all."""

from __future__ import annotations

import sys

from memcli.agents.table import NAMES as AGENT_NAMES
from memcli.cli.options import SHELLS, TOPICS, WORKSPACES, CommandArgument, Option, Options, check
from memcli.cli.program import COMMANDS, TOP_HELP, terminal, write_help, write_page
from memcli.cli.topics import codes, page, topics
from memcli.errors import UsageError

# What may be taken for a topic, and prints what belongs elsewhere.
_OPTIONS = {
    "widget": "--widget bash",
    "completion": "--completions bash",
    "man": "--man",
    "manual": "--man",
}


ARGUMENTS = (
    CommandArgument(
        "topic",
        "TOPIC",
        "A topic, a command or a code of lint; none lists the topics.",
        choices=TOPICS,
    ),
)
OPTIONS = (
    Option("--completions", "Print a completion script: bash, zsh, fish.", "SHELL", choices=SHELLS),
    Option("--widget", "Print key bindings: bash, zsh, fish.", "SHELL", choices=SHELLS),
    Option("--man", "Print the manual page, as roff."),
    Option("--for", "With agents: print the files that wire this one.", "AGENT",
        choices=AGENT_NAMES, attribute="agent"),
    Option("--to", "With --for: write them as a plugin.", "FOLDER", choices=WORKSPACES),
)  # fmt: skip


def run(options: Options) -> int:
    """Explain a topic; without one, list the topics.

    Examples: memcli help exit-codes      memcli help query-syntax
    """
    if options.agent is not None or options.to is not None:
        from memcli.cli.agents_files import show

        return show(options.topic, options.agent, options.to)
    if options.widget is not None:
        check("--widget", [options.widget], SHELLS)
        from memcli.cli.shells.widgets import WIDGETS

        sys.stdout.write(WIDGETS[options.widget])
        return 0
    if options.completions is not None or options.man:
        return _generated(options.completions)
    if options.topic is None:
        write_help(TOP_HELP)
        return 0
    if options.topic in COMMANDS and options.topic not in topics():
        from memcli.cli.command_help import command_help

        sys.stdout.write(command_help([options.topic], terminal().width) + "\n")
        return 0
    if options.topic not in topics() and options.topic not in codes():
        if (option := _OPTIONS.get(options.topic.removesuffix("s"))) is not None:
            raise UsageError(
                f"{options.topic!r} is an option, not a topic", hint=f"memcli help {option}"
            )
        from difflib import get_close_matches

        near = get_close_matches(options.topic, (*topics(), *COMMANDS, *codes()), n=1)
        raise UsageError(
            f"there is no topic {options.topic!r}; there are {', '.join(topics())}",
            hint=f"memcli help {near[0]}" if near else "memcli help",
        )
    write_page(page(options.topic))
    return 0


def _generated(shell: str | None) -> int:
    """Print a completion script, or without a shell the manual page."""
    from memcli.cli.command_tree import command_tree

    if shell is None:
        from memcli.cli.manual import manual
        from memcli.cli.page_layout import laid_out

        pages = [(name, laid_out(page(name), 78)) for name in topics()]
        sys.stdout.write(manual(command_tree(), pages))
        return 0
    if shell not in SHELLS:
        raise UsageError(
            f"--completions must be one of {', '.join(SHELLS)}, not {shell!r}",
            hint="memcli help --completions bash",
        )
    from memcli.cli.completion_scripts import completion_scripts

    sys.stdout.write(completion_scripts(command_tree())[shell])
    return 0
