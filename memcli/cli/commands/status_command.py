"""`memcli status`: what the index knows, what it does not, and why; computed from disk."""

from __future__ import annotations

from memcli.checking import TYPE_CHECKING
from memcli.cli.skin import Shared, Skin, make_skin
from memcli.errors import ExitCode

if TYPE_CHECKING:
    from typing import Annotated

    import typer

    from memcli.cli import options


def command(
    check: Annotated[
        bool, typer.Option("--check", help="Exit 1 when the index is not in step.")
    ] = False,
    deep: Annotated[
        bool, typer.Option("--deep", help="Also run the model and check the file.")
    ] = False,
    as_json: options.Json = False,
    workspace: options.Workspace = None,
    presets: options.Presets = None,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    color: options.Color = "auto",
    now: options.Now = None,
    debug: options.Debug = False,
) -> int:
    """Show what is indexed, what is behind and why.

    Examples: memcli status      memcli status --check --json
    """
    skin = make_skin(Shared(workspace, quiet, verbose, color, now), {"files.presets": presets})
    return run(skin, check=check, deep=deep, as_json=as_json)


def run(skin: Skin, *, check: bool, deep: bool, as_json: bool) -> int:
    """Compare files and index and show both."""
    from memcli.api.standing import gather, judge, record

    found = gather(skin.memory, deep=deep)
    told = record(found, judge(found))
    if as_json:
        from memcli.render.jsonio import dumps

        skin.terminal.write(dumps(told) + "\n")
    elif not (check and skin.terminal.quiet):
        from memcli.cli import status_output

        status_output.write(told, skin)
    return ExitCode.NEGATIVE if check and found.is_behind else ExitCode.OK
