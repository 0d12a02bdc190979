"""`memcli help`: list the topics, explain one, or print the manual page."""

from __future__ import annotations

import sys

from memcli.cli.options import TOPICS, CommandArgument, Option, Options
from memcli.cli.program import COMMANDS, page, terminal, topics, write_page, write_topic
from memcli.errors import UsageError

ARGUMENTS = (
    CommandArgument("topic", "TOPIC", "A topic, a command or a lint code.", choices=TOPICS),
)
OPTIONS = (Option("--man", "Print the manual page, as roff."),)


def run(options: Options) -> int:
    """Explain a topic, a command or a lint code. Without one, list the topics.

    Examples: memcli help exit-codes      memcli help query-syntax
    """
    from memcli.lint.findings import CODES

    topic = options.topic
    if options.man:
        from memcli.cli.command_help import manual
        from memcli.cli.help_text import laid_out

        sys.stdout.write(manual([(name, laid_out(page(name), 78)) for name in topics()]))
    elif write_topic(topic):
        pass
    elif topic in COMMANDS:
        from memcli.cli.command_help import command_help

        sys.stdout.write(command_help([topic], terminal().width) + "\n")
    elif topic in CODES:
        write_page(page(topic))
    else:
        from difflib import get_close_matches

        near = get_close_matches(topic, (*topics(), *COMMANDS, *CODES), n=1, cutoff=0.7)
        raise UsageError(
            f"there is no topic {topic!r}", hint=f"memcli help {near[0]}" if near else "memcli help"
        )
    return 0
