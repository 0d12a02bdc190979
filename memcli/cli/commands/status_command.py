"""`memcli status`: what the index knows, what it does not, and why; computed from disk."""

from __future__ import annotations

from memcli.checking import TYPE_CHECKING
from memcli.cli.skin import Shared, Skin, make_skin
from memcli.errors import ExitCode

if TYPE_CHECKING:
    from typing import Annotated, Any

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
    everywhere: options.Everywhere = False,
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
    shared = Shared(workspace, quiet, verbose, color, now, everywhere)
    skin = make_skin(shared, {"files.presets": presets})
    if skin.memory.asked:
        from memcli.cli.several import each

        return each(
            skin,
            lambda one: show(one, check=check, deep=deep, as_json=as_json, named=True),
            what="status",
            as_json=as_json,
            failed=ExitCode.NEGATIVE if check else ExitCode.OK,
        )
    told, code = show(skin, check=check, deep=deep, as_json=as_json)
    if as_json:
        from memcli.render.jsonio import dumps

        skin.terminal.write(dumps(told) + "\n")
    return code


def show(
    skin: Skin, *, check: bool, deep: bool, as_json: bool, named: bool = False
) -> tuple[dict[str, Any], int]:
    """Compare files and index, and show both unless that is left to the record.

    Hints are `named` where the next command has to name the workspace.
    """
    from memcli.api.standing import gather, judge, record

    found = gather(skin.memory, deep=deep)
    warnings = judge(found)
    if named:
        from memcli.api.together import of_workspace

        warnings = tuple(of_workspace(each, skin.config.workspace) for each in warnings)
    told = record(found, warnings)
    if not as_json and not (check and skin.terminal.quiet):
        from memcli.cli import status_output

        status_output.write(told, skin)
    return told, ExitCode.NEGATIVE if check and found.is_behind else ExitCode.OK
