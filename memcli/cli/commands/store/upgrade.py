"""`memcli store upgrade`: bring the tables of a shared index to the newest version."""

from __future__ import annotations

from memcli.cli.command_context import command_context
from memcli.cli.commands.store import tell
from memcli.cli.options import COMMON, JSON, ONE_WORKSPACE, Options
from memcli.errors import ExitCode

OPTIONS = (
    JSON, ONE_WORKSPACE, *COMMON,
)  # fmt: skip


def run(options: Options) -> int:
    """Upgrade the tables of the shared index to this version of memcli.

    Run it as their owner. Searches go on meanwhile. An older memcli can still search afterwards;
    if it may not write the new tables, it says so.

    Examples: memcli store upgrade      memcli store upgrade -q
    """
    from memcli.api import shared

    command = command_context(options, anywhere=True)
    store, old, new = shared.upgrade(command.config)
    text = f"{store} needs no upgrade (tables {old}); nothing was changed."
    if old != new:
        text = f"Upgraded the tables of {store} from {old} to {new}."
    tell(command, text, as_json=options.json, store=store, changed=old != new)
    return ExitCode.OK
