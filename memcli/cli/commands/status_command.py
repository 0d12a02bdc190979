"""`memcli status`: compare the files with the index, and explain the differences."""

from __future__ import annotations

from memcli.checking import TYPE_CHECKING
from memcli.cli.command_context import CommandContext, command_context, timed
from memcli.cli.options import (
    AGENT_MEMORIES,
    COMMON,
    EVERYWHERE,
    JSON,
    TENANT,
    WORKSPACE,
    WORKSPACE_NAME,
    Option,
    Options,
)
from memcli.errors import ExitCode

if TYPE_CHECKING:
    from typing import Any


OPTIONS = (
    Option("--check", "Exit 1 if the index is out of date."),
    Option("--deep", "Also run the model and check the index file."),
    JSON, WORKSPACE, EVERYWHERE, AGENT_MEMORIES, WORKSPACE_NAME, TENANT, *COMMON,
)  # fmt: skip


def run(options: Options) -> int:
    """Show what is indexed and what is out of date, with reasons.

    Examples: memcli status      memcli status --check --json
    """
    command = command_context(options)
    with timed(command):
        if command.memory.members:
            from memcli.cli.each_workspace import each

            return each(
                command,
                lambda one: show(
                    one, check=options.check, deep=options.deep, as_json=options.json, named=True
                ),
                what="status",
                as_json=options.json,
                failed=ExitCode.NEGATIVE if options.check else ExitCode.OK,
            )
        told, code = show(command, check=options.check, deep=options.deep, as_json=options.json)
    if options.json:
        command.terminal.write_json(told)
    return code


def show(
    command: CommandContext, *, check: bool, deep: bool, as_json: bool, named: bool = False
) -> tuple[dict[str, Any], int]:
    """Compare files and index, and print the result unless only the record is wanted.

    Hints name the workspace if `named`.
    """
    from memcli.api.status import gather, judge, record
    from memcli.record import plain

    found = gather(command.workspace, deep=deep)
    warnings = judge(found)
    if named:
        from memcli.api.workspaces import for_folder

        warnings = tuple(for_folder(each, command.config.workspace) for each in warnings)
    status = record(found, warnings)
    told = plain(status)
    if not as_json and not (check and command.terminal.quiet):
        from memcli.cli import status_output

        status_output.write(told, command)
    return told, ExitCode.NEGATIVE if check and status.is_behind else ExitCode.OK
