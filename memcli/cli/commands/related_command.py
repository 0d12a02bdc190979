"""`memcli related`: find the passages most like the chunk at a place."""

from __future__ import annotations

from memcli.cli.command_context import command_context, progress_of
from memcli.cli.filters import filters_of, sync_of
from memcli.cli.options import (
    BRIEF,
    COMMON,
    DOCUMENTS,
    EVERYWHERE,
    FORMAT,
    JSON,
    KIND,
    LIMIT,
    MORE,
    NO_SYNC,
    PATH,
    SOURCE,
    SYNC,
    TAG,
    TENANT,
    WHERE,
    WORKSPACE,
    WORKSPACE_NAME,
    CommandArgument,
    Option,
    Options,
    related_keys,
)
from memcli.errors import ExitCode, UsageError

ARGUMENTS = (
    CommandArgument(
        "place",
        "PATH[:LINE]",
        "A citation or ref, or a path for a whole document.",
        is_required=True,
        choices=DOCUMENTS,
    ),
)
OPTIONS = (
    LIMIT, FORMAT,
    Option("--fields", "Only these JSON keys.", "KEYS", list, choices=related_keys),
    JSON, BRIEF, MORE,
    Option("--mode", "Search by: hybrid, keyword or semantic.", "MODE", setting="search.mode"),
    PATH, SOURCE, KIND, TAG, WHERE, NO_SYNC, SYNC, WORKSPACE, EVERYWHERE,
    WORKSPACE_NAME, TENANT, *COMMON,
)  # fmt: skip


def run(options: Options) -> int:
    """Find passages similar to the one at a place, best first.

    A score of 1 means the same text. See: memcli help ranking

    Examples: memcli related memory/2025-06-12.md:10      memcli related MEMORY.md --json
    """
    from memcli.cli.search_form import shape_of

    json_by = "--json" if options.json else ""
    shape = shape_of(options.format, options.fields or (), related_keys, json_by=json_by)
    if options.brief and shape.form != "text":
        raise UsageError("--brief works only with text", hint="--format text")
    shape = shape._replace(brief=options.brief, is_fitted=not (options.more or options.limit))
    wanted_sync = sync_of(options, "related")
    command = command_context(options)

    from memcli.api.related import likenesses
    from memcli.cli import related_output
    from memcli.search.options import options_of

    filters = filters_of(command, options)._replace(view=command.config("search.view"))
    wanted = options_of(command.config, filters=filters)
    with progress_of(command):
        found = likenesses(
            command.memory, options.place, wanted, sync=wanted_sync, here=command.here
        )
    related_output.write(found, command, shape)
    return ExitCode.OK
