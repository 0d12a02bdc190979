"""`memcli status`: compare the files with the index, and explain the differences."""

from __future__ import annotations

from memcli.checking import TYPE_CHECKING
from memcli.cli.options import (
    COMMON,
    EVERYWHERE,
    JSON,
    PRESETS,
    TENANT,
    WORKSPACE,
    WORKSPACE_NAME,
    Option,
    Options,
)
from memcli.cli.skin import Skin, make_skin, timed
from memcli.errors import ExitCode

if TYPE_CHECKING:
    from typing import Any


OPTIONS = (
    Option("--check", "Exit 1 if the index is out of date."),
    Option("--deep", "Also run the model and check the index file."),
    JSON, WORKSPACE, EVERYWHERE, PRESETS, WORKSPACE_NAME, TENANT, *COMMON,
)  # fmt: skip


def run(options: Options) -> int:
    """Show what is indexed and what is out of date, with reasons.

    Examples: memcli status      memcli status --check --json
    """
    skin = make_skin(options)
    with timed(skin):
        if skin.memory.members:
            from memcli.cli.several import each

            return each(
                skin,
                lambda one: show(
                    one, check=options.check, deep=options.deep, as_json=options.json, named=True
                ),
                what="status",
                as_json=options.json,
                failed=ExitCode.NEGATIVE if options.check else ExitCode.OK,
            )
        told, code = show(skin, check=options.check, deep=options.deep, as_json=options.json)
    if options.json:
        skin.terminal.write_json(told)
    return code


def show(
    skin: Skin, *, check: bool, deep: bool, as_json: bool, named: bool = False
) -> tuple[dict[str, Any], int]:
    """Compare files and index, and print the result unless only the record is wanted.

    Hints name the workspace if `named`.
    """
    from memcli.api.status import gather, judge, record
    from memcli.record import plain

    found = gather(skin.workspace, deep=deep)
    warnings = judge(found)
    if named:
        from memcli.api.workspaces import for_folder

        warnings = tuple(for_folder(each, skin.config.workspace) for each in warnings)
    status = record(found, warnings)
    told = plain(status)
    if not as_json and not (check and skin.terminal.quiet):
        from memcli.cli import status_output

        status_output.write(told, skin)
    return told, ExitCode.NEGATIVE if check and status.is_behind else ExitCode.OK
