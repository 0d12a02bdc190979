"""`memcli store rename`: give a workspace of the shared index another name."""

from __future__ import annotations

from memcli.cli.command_context import command_context
from memcli.cli.commands.store import tell
from memcli.cli.options import COMMON, JSON, ONE_WORKSPACE, CommandArgument, Options
from memcli.errors import ExitCode

ARGUMENTS = (
    CommandArgument("name", "NAME", "Its name there, such as team/ops.", is_required=True),
    CommandArgument("new", "NEW", "Its new name, such as team/operations.", is_required=True),
)
OPTIONS = (
    JSON, ONE_WORKSPACE, *COMMON,
)  # fmt: skip


def run(options: Options) -> int:
    """Rename a workspace of the shared index, or move it to another tenant.

    You must be allowed to write both tenants. Folders on this machine follow. On another
    machine, attach the folder again by its new name.

    Examples: memcli store rename team/ops team/operations      memcli store rename ops team/ops
    """
    from memcli.api import shared

    command = command_context(options, anywhere=True)
    store = shared.rename(command.workspace, options.name, options.new)
    text = f"Renamed {options.name} in {store} to {options.new}."
    tell(command, text, as_json=options.json, store=store, changed=True, name=options.new)
    return ExitCode.OK
