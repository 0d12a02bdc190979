"""`memcli ls`: list the documents, with kind, date and tags, or count them by those."""

from __future__ import annotations

from collections.abc import Sequence

from memcli.cli.command_context import command_context, progress_of
from memcli.cli.filters import bounds_of, filters_of, sync_of
from memcli.cli.options import (
    AGENT_MEMORIES,
    COMMON,
    COUNTED,
    DATES,
    DOCUMENTS,
    EVERYWHERE,
    JSON,
    KIND,
    LIST_FORMATS,
    LIST_ORDERS,
    NO_SYNC,
    SCOPE,
    SOURCE,
    SYNC,
    TAG,
    TENANT,
    TRUST,
    UNDATED,
    WHERE,
    WORKSPACE,
    WORKSPACE_NAME,
    CommandArgument,
    Option,
    Options,
    check,
)
from memcli.errors import ExitCode, UsageError

ARGUMENTS = (
    CommandArgument(
        "paths", "PATH", "Only these files, folders or globs.", list, choices=DOCUMENTS
    ),
)
OPTIONS = (
    Option("-f --format",
        "text, json, jsonl, paths, paths0 or '{path}\\t{date}'.",
        "FORM", shown_default="text", choices=LIST_FORMATS),
    Option("-n --limit", "Number of documents.", "N", int, shown_default="all", least=1),
    Option("--all", "List every document, even to a pipe."),
    JSON,
    Option("--count", "Count documents by kind, tag, key or source.", "WHAT", choices=COUNTED),
    Option("--sort", "Order: path, date or newest.", "HOW", default="path",
        choices=LIST_ORDERS),
    *DATES, UNDATED, SOURCE, KIND, SCOPE, TRUST, TAG, WHERE,
    Option("--links-to", "Only documents that link to this one.", "NAME"),
    NO_SYNC, SYNC, WORKSPACE, EVERYWHERE,
    AGENT_MEMORIES, WORKSPACE_NAME, TENANT, *COMMON,
)  # fmt: skip

USUAL_OPTIONS = (
    "--format", "--limit", "--all", "--count", "--sort", "--links-to", "--since", "--until",
    "--kind", "--tag", "--where",
)  # fmt: skip


def run(options: Options) -> int:
    """List documents with date, kind and tags.

    The filters are the same as in search. See: memcli help query-syntax

    Examples: memcli ls --tag infra --sort newest      memcli ls --links-to MEMORY.md
    """
    from memcli.cli.search_form import TEMPLATE, shape_of

    json_by = "--json" if options.json else ""
    shape = shape_of(options.format, (), _keys, forms=LIST_FORMATS, json_by=json_by)
    check("--sort", [options.sort], LIST_ORDERS)
    check("--count", [options.count] if options.count is not None else (), COUNTED)
    if options.count is not None and shape.form in ("paths", "paths0", TEMPLATE):
        raise UsageError(
            f"--count names no documents, and --format {options.format} nothing else",
            hint=f"memcli ls --count {options.count}",
        )
    wanted_sync = sync_of(options, "ls")
    command = command_context(options)
    bounds = bounds_of(options, command, "ls")
    filters = filters_of(command, options, bounds)

    from memcli.api.listing import catalogue
    from memcli.cli import listing_output

    with progress_of(command):
        found = catalogue(
            command.memory,
            filters,
            order=options.sort,
            links_to=options.links_to or "",
            limit=options.limit if options.count is None else None,
            sync=wanted_sync,
        )
    shape = shape._replace(filters=bounds)
    listing_output.write(
        found, command, shape, count=options.count, limit=options.limit, every=options.all
    )
    return ExitCode.OK


def _keys() -> Sequence[str]:
    from memcli.api.records import DocumentEntry

    return ("name", "file", *DocumentEntry._fields)
