"""`memcli store members`: which role may use which tenant of the shared index."""

from __future__ import annotations

from memcli.cli.command_context import command_context
from memcli.cli.options import COMMON, JSON, ONE_WORKSPACE, Options
from memcli.errors import ExitCode

OPTIONS = (
    JSON, ONE_WORKSPACE, *COMMON,
)  # fmt: skip


def run(options: Options) -> int:
    """List the roles of each tenant. The owner of the tables sees all; a role sees itself.

    Examples: memcli store members      memcli store members --json
    """
    from memcli.api import shared

    command = command_context(options, anywhere=True)
    store, found = shared.members(command.config)
    if options.json:
        members = [each._asdict() for each in found]
        command.terminal.write_json(
            {"schema": "memcli.store-members/1", "store": store, "members": members}
        )
        return ExitCode.OK
    if not found:
        command.terminal.say(
            f"{store} has no members. Next: memcli store grants --role agent --write"
        )
    for each in found:
        may = "writes" if each.writes else "reads"
        line = command.terminal.safe_line(f"{each.tenant}: {each.role} {may}")
        command.terminal.write(f"{line}\n")
    return ExitCode.OK
