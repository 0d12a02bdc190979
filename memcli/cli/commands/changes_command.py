"""`memcli changes`: tell what the memory has learned, by day and section."""

from __future__ import annotations

from memcli.checking import TYPE_CHECKING
from memcli.cli.choices import CHANGES_FORMATS, check
from memcli.cli.skin import Shared, make_skin
from memcli.errors import ExitCode

if TYPE_CHECKING:
    from typing import Annotated

    import typer

    from memcli.cli import options


def command(
    query: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[QUERY]", help="Rank what changed by any text.", show_default=False
        ),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(
            metavar="WHEN",
            help="From this date on, or after a commit.",
            show_default="a week before --until",
        ),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(metavar="WHEN", help="Up to this date or commit.", show_default="now"),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            "-n",
            "--limit",
            metavar="N",
            min=1,
            help="Changes shown of a section, or ranked.",
            show_default="6 or 10",
        ),
    ] = None,
    form: Annotated[
        str | None,
        typer.Option(
            "-f", "--format", metavar="FORM", help="text, json or markdown.", show_default="text"
        ),
    ] = None,
    as_json: options.Json = False,
    workspace: options.Workspace = None,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    color: options.Color = "auto",
    now: options.Now = None,
    debug: options.Debug = False,
) -> int:
    """Tell what the memory has learned, day by day: added, changed, removed, moved.

    By the commits of its git repository, else by the dates of its logs; see: memcli help changes

    Examples: memcli changes --since 2026-02-01      memcli changes "connection pool" --since May
    """
    wanted = "json" if as_json else form or "text"
    check("--format", [wanted], CHANGES_FORMATS)
    skin = make_skin(Shared(workspace, quiet, verbose, color, now), {})

    from memcli.api.changes import changes
    from memcli.cli import changes_output
    from memcli.search.question import told_as

    text = told_as(" ".join(query or ()), skin.config)
    found = changes(skin.memory, text, since=since, until=until, now=skin.moment)
    changes_output.write(found, skin, form=wanted, question=text, limit=limit)
    return ExitCode.OK
