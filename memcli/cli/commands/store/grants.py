"""`memcli store grants`: let a role of the database use a tenant of the shared index."""

from __future__ import annotations

from memcli.cli.command_context import command_context
from memcli.cli.commands.store import tell
from memcli.cli.options import COMMON, JSON, ONE_WORKSPACE, Option, Options
from memcli.errors import ExitCode, UsageError

OPTIONS = (
    Option("--role", "The role, which is created if it is missing.", "ROLE"),
    Option("--tenant", "The tenant that it may read.", "TENANT", default="default",
        attribute="of_tenant"),
    Option("--write", "Let it write too."),
    Option("--revoke", "Remove its access to the tenant."),
    Option("--apply", "Run the SQL statements instead of printing them."),
    JSON, ONE_WORKSPACE, *COMMON,
)  # fmt: skip


def run(options: Options) -> int:
    """Print the SQL that lets a role use a tenant, or run it with --apply.

    Run it as the owner of the tables. To create a role, the owner needs the right to create roles.

    Examples: memcli store grants --role agent --write --apply
    memcli store grants --role reader --tenant team
    """
    from memcli.api import shared

    command = command_context(options, anywhere=True)
    if not options.role:
        raise UsageError("--role is missing", hint="memcli store grants --role agent --write")
    if options.revoke and options.write:
        raise UsageError("--revoke and --write contradict each other", hint="leave one out")
    statements = shared.access_script(
        options.role, options.of_tenant, writes=options.write, leaves=options.revoke
    )
    if not options.apply:
        command.terminal.write("".join(f"{statement};\n" for statement in statements))
        return ExitCode.OK
    store = shared.run(command.config, statements)
    may = "no longer uses" if options.revoke else "writes" if options.write else "reads"
    text = f"The role {options.role} {may} the tenant {options.of_tenant} in {store}."
    tell(command, text, as_json=options.json, store=store, changed=True)
    return ExitCode.OK
