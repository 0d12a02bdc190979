"""`memcli related`: find the passages most like the chunk at a place."""

from __future__ import annotations

from collections.abc import Sequence

from memcli.checking import TYPE_CHECKING
from memcli.cli.filters import filters_of, sync_of
from memcli.cli.skin import Shared, make_skin, progress_of
from memcli.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from typing import Annotated

    import typer

    from memcli.cli import options


def command(
    place: Annotated[
        str,
        typer.Argument(
            metavar="PATH[:LINE]", help="A citation, a record ref; a path for all of it."
        ),
    ],
    limit: Annotated[
        int | None,
        typer.Option("-n", "--limit", metavar="N", help="Passages shown, 1 to 100."),
    ] = None,
    form: Annotated[
        str | None,
        typer.Option(
            "-f",
            "--format",
            metavar="FORM",
            help="text, json, jsonl, markdown, paths, paths0 (ended by NUL), vimgrep, "
            "or a template such as '{citation}'.",
            show_default="text",
        ),
    ] = None,
    fields: Annotated[
        list[str] | None,
        typer.Option("--fields", metavar="KEYS", help="Only these keys of JSON."),
    ] = None,
    as_json: options.Json = False,
    brief: options.Brief = False,
    more: options.More = False,
    mode: Annotated[
        str | None,
        typer.Option(metavar="MODE", help="hybrid, lexical or dense."),
    ] = None,
    path: options.Paths = None,
    source: options.Sources = None,
    kind: options.Kinds = None,
    tag: options.Tags = None,
    where: options.Wheres = None,
    no_sync: options.NoSync = False,
    sync: options.Sync = False,
    workspace: options.Workspace = None,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    color: options.Color = "auto",
    now: options.Now = None,
    debug: options.Debug = False,
) -> int:
    """Find the passages most like the one at a place, from other chunks, best first.

    A score of 1 is the same text; see: memcli help ranking

    Examples: memcli related memory/2025-06-12.md:10      memcli related MEMORY.md --json
    """
    from memcli.cli.search_form import shape_of

    shape = shape_of(form, fields or (), _keys, json_by="--json" if as_json else "")
    if brief and shape.form != "text":
        raise UsageError("--brief is for text alone", hint="--format text")
    shape = shape._replace(brief=brief, is_fitted=not (more or limit))
    wanted_sync = sync_of(sync=sync, no_sync=no_sync, command="related")
    flags = {"search.limit": limit, "search.mode": mode}
    skin = make_skin(Shared(workspace, quiet, verbose, color, now), flags)

    from memcli.api.related import likenesses
    from memcli.cli import related_output
    from memcli.search.options import options_of

    given = {"paths": path, "sources": source, "kinds": kind, "tags": tag, "where": where}
    filters = filters_of(skin, given)._replace(view=skin.config("search.view"))
    wanted = options_of(skin.config, filters=filters)
    with progress_of(skin):
        found = likenesses(skin.memory, place, wanted, sync=wanted_sync, here=skin.here)
    related_output.write(found, skin, shape)
    return ExitCode.OK


def _keys() -> Sequence[str]:
    from memcli.render.jsonio import RELATED_KEYS

    return RELATED_KEYS
