"""`memcli ls`: list the documents, with kind, date and tags, or count them by those."""

from __future__ import annotations

from collections.abc import Sequence

from memcli.checking import TYPE_CHECKING
from memcli.cli.choices import COUNTED, LIST_FORMATS, LIST_ORDERS, check
from memcli.cli.filters import bounds_of, filters_of, sync_of
from memcli.cli.skin import Shared, make_skin
from memcli.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from typing import Annotated

    import typer

    from memcli.cli import options


def command(
    places: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PATH", help="Only these files and folders, or globs.", show_default=False
        ),
    ] = None,
    form: Annotated[
        str | None,
        typer.Option(
            "-f",
            "--format",
            metavar="FORM",
            help="text, json, jsonl, paths, paths0 (ended by NUL), or a template such as "
            "'{path}\\t{date}'.",
            show_default="text",
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            "-n", "--limit", metavar="N", min=1, help="The first N of them.", show_default="all"
        ),
    ] = None,
    as_json: options.Json = False,
    count: Annotated[
        str | None,
        typer.Option(metavar="WHAT", help="Count them by kind, tag, key or source instead."),
    ] = None,
    sort: Annotated[
        str, typer.Option(metavar="HOW", help="Order by path, by date, or newest first.")
    ] = "path",
    since: options.Since = None,
    until: options.Until = None,
    on: options.On = None,
    undated: options.Undated = False,
    source: options.Sources = None,
    kind: options.Kinds = None,
    scope: options.Scopes = None,
    trust: options.Trusts = None,
    tag: options.Tags = None,
    where: options.Wheres = None,
    links_to: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="Only those that link to this document.", show_default=False
        ),
    ] = "",
    no_sync: options.NoSync = False,
    sync: options.Sync = False,
    workspace: options.Workspace = None,
    presets: options.Presets = None,
    workspace_name: options.WorkspaceName = None,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    color: options.Color = "auto",
    now: options.Now = None,
    debug: options.Debug = False,
) -> int:
    """List the documents with date, kind and tags.

    Filters are those of search; see: memcli help query-syntax

    Examples: memcli ls --tag infra --sort newest      memcli ls --links-to MEMORY.md
    """
    from memcli.cli.search_form import TEMPLATE, shape_of

    json_by = "--json" if as_json else ""
    shape = shape_of(form, (), _keys, forms=LIST_FORMATS, json_by=json_by)
    check("--sort", [sort], LIST_ORDERS)
    check("--count", [count] if count is not None else (), COUNTED)
    if count is not None and shape.form in ("paths", "paths0", TEMPLATE):
        raise UsageError(
            f"--count names no documents, and --format {form} nothing else",
            hint=f"memcli ls --count {count}",
        )
    wanted_sync = sync_of(sync=sync, no_sync=no_sync, command="ls")
    skin = make_skin(
        Shared(workspace, quiet, verbose, color, now, None, workspace_name),
        {"files.presets": presets},
    )
    bounds = bounds_of({"--since": since, "--until": until, "--on": on}, skin, "ls")
    given = {"paths": places, "sources": source, "kinds": kind, "scopes": scope, "trusts": trust,
             "tags": tag, "where": where}  # fmt: skip
    filters = filters_of(skin, given, bounds)._replace(undated=undated)

    from memcli.api.listing import catalogue
    from memcli.cli import listing_output

    found = catalogue(skin.memory, filters, order=sort, links_to=links_to, sync=wanted_sync)
    listing_output.write(found, skin, shape._replace(filters=bounds), count=count, limit=limit)
    return ExitCode.OK


def _keys() -> Sequence[str]:
    from memcli.api.records import DocumentEntry

    return ("name", "file", *DocumentEntry._fields)
