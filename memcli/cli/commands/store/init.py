"""`memcli store init`: make the tables of a shared index."""

from __future__ import annotations

from memcli.cli.command_context import command_context
from memcli.cli.commands.store import tell
from memcli.cli.options import COMMON, JSON, ONE_WORKSPACE, Option, Options
from memcli.errors import ExitCode

OPTIONS = (
    Option("--partitions", "Number of partitions of each table, 0 for none.", "N", int, default=0),
    Option("--print-sql", "Print the SQL statements without running them."),
    JSON, ONE_WORKSPACE, *COMMON,
)  # fmt: skip


def run(options: Options) -> int:
    """Create the tables of the shared index on the server of store.url. Run it once.

    If you may not create tables, --print-sql prints the statements for an administrator, with a
    role for agents and the policies that separate tenants.

    Examples: memcli store init      memcli store init --print-sql --partitions 64
    """
    from memcli.api import shared

    command = command_context(options, anywhere=True)
    if options.print_sql:
        command.terminal.write(shared.script(options.partitions))
        return ExitCode.OK
    store, is_new = shared.initialise(command.config, options.partitions)
    text = f"{store} is set up already; nothing was changed."
    if is_new:
        text = f"Set up {store}. Next, in a workspace: memcli store attach NAME"
    tell(command, text, as_json=options.json, store=store, changed=is_new)
    return ExitCode.OK
