"""`memcli store attach`: keep the index of a folder in the shared index."""

from __future__ import annotations

from memcli.cli.command_context import command_context, marked
from memcli.cli.commands.store import NAME, tell
from memcli.cli.options import COMMON, JSON, ONE_WORKSPACE, Option, Options
from memcli.errors import ExitCode

ARGUMENTS = (NAME,)
OPTIONS = (
    Option("--take-over", "Attach even if another folder or machine writes it."),
    JSON, ONE_WORKSPACE, *COMMON,
)  # fmt: skip


def run(options: Options) -> int:
    """Keep the index of this workspace on the shared server. This folder writes it.

    One folder on one machine writes a workspace, and every machine may search it. The local
    index stays as it is, for the time after a detach.

    Examples: memcli store attach team/ops      memcli store attach ops -w notes
    """
    from memcli.api import shared

    command = command_context(options)
    marked(command)
    store = shared.attach(command.workspace, options.name, take_over=options.take_over)
    text = f"Attached {command.config.workspace} to {store} as {options.name}. Next: memcli index"
    tell(command, text, as_json=options.json, store=store, changed=True, name=options.name)
    return ExitCode.OK
