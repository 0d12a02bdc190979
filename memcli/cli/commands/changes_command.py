"""`memcli changes`: list what is new in the memory, by day and section."""

from __future__ import annotations

from memcli.cli.command_context import command_context
from memcli.cli.options import (
    CHANGES_FORMATS,
    COMMON,
    EVERYWHERE,
    JSON,
    TENANT,
    WORKSPACE,
    WORKSPACE_NAME,
    CommandArgument,
    Option,
    Options,
    check,
)
from memcli.errors import ExitCode
from memcli.types import AGENT

ARGUMENTS = (CommandArgument("query", "[QUERY]", "Rank the changes by this text.", list),)
OPTIONS = (
    Option("--since", "Changes from this date on, or after this commit.", "WHEN",
        shown_default="a week before --until"),
    Option("--until", "Changes up to this date or commit.", "WHEN", shown_default="now"),
    Option("--by", "Only what an agent saved, by day.", "WHO", default="", choices=(AGENT,)),
    Option("-n --limit", "Number of changes per section, or in all.", "N", int,
        shown_default="6 or 10", least=1),
    Option("-f --format", "Output: text, json or markdown.", "FORM", shown_default="text"),
    JSON, WORKSPACE, EVERYWHERE, WORKSPACE_NAME, TENANT, *COMMON,
)  # fmt: skip


def run(options: Options) -> int:
    """List what is new in the notes, day by day: added, changed, removed, moved.

    It reads the commits of a git repository, or else the dates of logs. See: memcli help changes

    Examples: memcli changes --since 2026-02-01      memcli changes "connection pool" --since May
    """
    wanted = "json" if options.json else options.format or "text"
    check("--format", [wanted], CHANGES_FORMATS)
    check("--by", [options.by] if options.by else [], (AGENT,))
    command = command_context(options)

    from memcli.api.changes import changes
    from memcli.cli import changes_output
    from memcli.search.question import redacted_question

    text = redacted_question(" ".join(options.query or ()), command.config)
    found = changes(
        command.memory, text,
        since=options.since, until=options.until, by=options.by, now=command.moment,
    )  # fmt: skip
    changes_output.write(found, command, form=wanted, question=text, limit=options.limit)
    return ExitCode.OK
