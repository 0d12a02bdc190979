"""`memcli changes`: tell what the memory has learned, by day and section."""

from __future__ import annotations

from memcli.cli.options import (
    CHANGES_FORMATS,
    COMMON,
    JSON,
    WORKSPACE,
    CommandArgument,
    Option,
    Options,
    check,
)
from memcli.cli.skin import make_skin
from memcli.errors import ExitCode

ARGUMENTS = (CommandArgument("query", "[QUERY]", "Rank what changed by any text.", list),)
OPTIONS = (
    Option("--since", "From this date on, or after a commit.", "WHEN",
        shown_default="a week before --until"),
    Option("--until", "Up to this date or commit.", "WHEN", shown_default="now"),
    Option("-n --limit", "Changes shown of a section, or ranked.", "N", int,
        shown_default="6 or 10", least=1),
    Option("-f --format", "text, json or markdown.", "FORM", shown_default="text"),
    JSON, WORKSPACE, *COMMON,
)  # fmt: skip


def run(options: Options) -> int:
    """Tell what the memory has learned, day by day: added, changed, removed, moved.

    By the commits of its git repository, else by the dates of its logs; see: memcli help changes

    Examples: memcli changes --since 2026-02-01      memcli changes "connection pool" --since May
    """
    wanted = "json" if options.json else options.format or "text"
    check("--format", [wanted], CHANGES_FORMATS)
    skin = make_skin(options)

    from memcli.api.changes import changes
    from memcli.cli import changes_output
    from memcli.search.question import told_as

    text = told_as(" ".join(options.query or ()), skin.config)
    found = changes(skin.memory, text, since=options.since, until=options.until, now=skin.moment)
    changes_output.write(found, skin, form=wanted, question=text, limit=options.limit)
    return ExitCode.OK
