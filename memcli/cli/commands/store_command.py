"""`memcli store`: a shared index, its server and the workspaces in it."""

from __future__ import annotations

from memcli.api import shared
from memcli.cli.command_context import CommandContext, command_context, marked
from memcli.cli.options import STANDARD, CommandArgument, GroupCommand, Option, Options
from memcli.errors import ExitCode, UsageError
from memcli.store.open import address_of

ABOUT = "Share an index between machines on PostgreSQL."
USUAL = "status"
NAME = CommandArgument("name", "NAME", "Its name there, such as ops or team/ops.", is_required=True)


def tell(
    options: Options, command: CommandContext, text: str,
    *, changed: bool = True, name: str | None = None,
) -> int:  # fmt: skip
    """Print one line, or write `memcli.store/1`."""
    if options.json:
        record = {"schema": "memcli.store/1", "store": _store(command), "changed": changed,
                  "name": name, "workspace": command.config.workspace}  # fmt: skip
        command.terminal.write_json(record)
    else:
        command.terminal.say(text)
    return ExitCode.OK


def _store(command: CommandContext) -> str:
    """Return the address of the shared index without its password."""
    return address_of(command.config).masked


INDENT = 10  # columns of the word in front


def run_status(options: Options) -> int:
    """Show the shared index: its server, and the workspaces that you may see.

    Examples: memcli store status      memcli store status --json
    """
    command = command_context(options, anywhere=True)
    look, attached = shared.look(command.workspace)
    if options.json:
        workspaces = [{**each._asdict(), "name": str(each.name)} for each in look.workspaces]
        record = {"schema": "memcli.store-status/1", **look._asdict(), "attached": attached}
        command.terminal.write_json({**record, "workspaces": workspaces})
    else:
        lines = (command.terminal.safe_line(line) for line in _lines(look, attached, command))
        command.terminal.write("".join(f"{line}\n" for line in lines))
    return ExitCode.OK


def _lines(look: shared.SharedStatus, attached: str | None, command: CommandContext) -> list[str]:
    kind = "standby" if look.standby else "primary"
    here = f"attached as {attached}" if attached else "not attached"
    behind = "" if look.lag_seconds is None else f", replication {look.lag_seconds:.1f} s behind"
    size = "" if look.bytes is None else f", {look.bytes / 1e6:.1f} MB"
    pairs = [
        ("store", f"{look.store} (tables {look.tables}{size})"),
        ("server", f"{look.server}, version {look.version} with pgvector {look.pgvector},"
         f" {kind}{behind}"),
        ("role", look.role),
        ("here", f"{command.config.workspace} is {here}"),
    ]  # fmt: skip
    for each in look.workspaces:
        changed = f", changed {each.changed_at}" if each.changed_at else ", empty"
        origin = f", written by {each.origin or 'nobody'}"
        writer = f", writing now: {each.writer}" if each.writer else ""
        counted = f"{each.documents} documents, {each.chunks} chunks"
        pairs.append(("workspace", f"{each.name}: {counted}{changed}{origin}{writer}"))
    return [f"{word:<{INDENT}} {text}" for word, text in pairs]


def run_init(options: Options) -> int:
    """Create the tables of the shared index on the server of store.url. Run it once.

    If you may not create tables, --print-sql prints the statements for an administrator, with a
    role for agents and the policies that separate tenants.

    Examples: memcli store init      memcli store init --print-sql --partitions 64
    """
    command = command_context(options, anywhere=True)
    if options.print_sql:
        command.terminal.write(shared.script(options.partitions))
        return ExitCode.OK
    is_new, store = shared.initialise(command.config, options.partitions), _store(command)
    text = f"{store} is set up already; nothing was changed."
    if is_new:
        text = f"Set up {store}. Next, in a workspace: memcli store attach NAME"
    return tell(options, command, text, changed=is_new)


def run_grants(options: Options) -> int:
    """Print the SQL that lets a role use a tenant, or run it with --apply.

    Run it as the owner of the tables. To create a role, the owner needs the right to create roles.

    Examples: memcli store grants --role agent --write --apply
    memcli store grants --role reader --tenant team
    """
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
    shared.run(address_of(command.config), statements)
    may = "no longer uses" if options.revoke else "writes" if options.write else "reads"
    text = f"The role {options.role} {may} the tenant {options.of_tenant} in {_store(command)}."
    return tell(options, command, text)


def run_members(options: Options) -> int:
    """List the roles of each tenant. The owner of the tables sees all; a role sees itself.

    Examples: memcli store members      memcli store members --json
    """
    command = command_context(options, anywhere=True)
    store, roles = _store(command), shared.members(address_of(command.config))
    if options.json:
        members = [each._asdict() for each in roles]
        command.terminal.write_json(
            {"schema": "memcli.store-members/1", "store": store, "members": members}
        )
        return ExitCode.OK
    if not roles:
        command.terminal.say(
            f"{store} has no members. Next: memcli store grants --role agent --write"
        )
    for each in roles:
        may = "writes" if each.writes else "reads"
        line = command.terminal.safe_line(f"{each.tenant}: {each.role} {may}")
        command.terminal.write(f"{line}\n")
    return ExitCode.OK


def run_attach(options: Options) -> int:
    """Keep the index of this workspace on the shared server. This folder writes it.

    One folder on one machine writes a workspace, and every machine may search it. The local
    index stays as it is, for the time after a detach.

    Examples: memcli store attach team/ops      memcli store attach ops -w notes
    """
    command = command_context(options)
    marked(command)
    shared.attach(command.workspace, options.name, take_over=options.take_over)
    place = f"{_store(command)} as {options.name}"
    text = f"Attached {command.config.workspace} to {place}. Next: memcli index"
    return tell(options, command, text, name=options.name)


def run_detach(options: Options) -> int:
    """Use the index on this machine again.

    The index on the server stays there. You can attach it to another folder.

    Examples: memcli store detach      memcli store detach -w notes
    """
    command = command_context(options)
    name, was_ours, problem = shared.detach(command.workspace)
    also = "" if was_ours else "; another folder writes it"
    if problem:
        also = f", on this machine only: {problem}"
    text = f"Detached {command.config.workspace} from {name} in {_store(command)}{also}."
    return tell(options, command, text, name=name)


def run_rename(options: Options) -> int:
    """Rename a workspace of the shared index, or move it to another tenant.

    You must be allowed to write both tenants. Folders on this machine follow. On another
    machine, attach the folder again by its new name.

    Examples: memcli store rename team/ops team/operations      memcli store rename ops team/ops
    """
    command = command_context(options, anywhere=True)
    shared.rename(command.workspace, options.name, options.new)
    text = f"Renamed {options.name} in {_store(command)} to {options.new}."
    return tell(options, command, text, name=options.new)


def run_delete(options: Options) -> int:
    """Show what a workspace contains, and delete it from the shared index with --apply.

    All of its rows go, the vectors too. The files are not touched: attach their folder again to
    build the index again.

    Examples: memcli store delete team/old      memcli store delete team/old --apply
    """
    command = command_context(options, anywhere=True)
    contents = shared.contents(command.config, options.name)
    by = f", written by {contents.origin}" if contents.origin else ""
    now = f", and now by {contents.writer}" if contents.writer else ""
    what = (
        f"{options.name} in {_store(command)}: {contents.documents} documents, {contents.chunks}"
        f" chunks and {contents.vectors} vectors{by}{now}"
    )
    if options.apply:
        shared.delete(command.workspace, options.name)
    text = f"Deleted {what}." if options.apply else f"--apply deletes {what}."
    return tell(options, command, text, changed=options.apply, name=options.name)


def run_upgrade(options: Options) -> int:
    """Upgrade the tables of the shared index to this version of memcli.

    Run it as their owner. Searches go on meanwhile. An older memcli can still search afterwards;
    if it may not write the new tables, it says so.

    Examples: memcli store upgrade      memcli store upgrade -q
    """
    command = command_context(options, anywhere=True)
    (old, new), store = shared.upgrade(command.config), _store(command)
    text = f"{store} needs no upgrade (tables {old}); nothing was changed."
    if old != new:
        text = f"Upgraded the tables of {store} from {old} to {new}."
    return tell(options, command, text, changed=old != new)


COMMANDS = {
    "status": GroupCommand(run_status, STANDARD),
    "init": GroupCommand(run_init, (
        Option("--partitions", "Number of partitions of each table, 0 for none.", "N", int,
            default=0),
        Option("--print-sql", "Print the SQL statements without running them."),
        *STANDARD,
    )),
    "grants": GroupCommand(run_grants, (
        Option("--role", "The role, which is created if it is missing.", "ROLE"),
        Option("--tenant", "The tenant that it may read.", "TENANT", default="default",
            attribute="of_tenant"),
        Option("--write", "Let it write too."),
        Option("--revoke", "Remove its access to the tenant."),
        Option("--apply", "Run the SQL statements instead of printing them."),
        *STANDARD,
    )),
    "members": GroupCommand(run_members, STANDARD),
    "attach": GroupCommand(run_attach, (
        Option("--take-over", "Attach even if another folder or machine writes it."),
        *STANDARD,
    ), (NAME,)),
    "detach": GroupCommand(run_detach, STANDARD),
    "rename": GroupCommand(run_rename, STANDARD, (
        CommandArgument("name", "NAME", "Its name there, such as team/ops.", is_required=True),
        CommandArgument("new", "NEW", "Its new name, such as team/operations.", is_required=True),
    )),
    "delete": GroupCommand(run_delete, (
        Option("--apply", "Delete it instead of only showing what would go."),
        *STANDARD,
    ), (NAME,)),
    "upgrade": GroupCommand(run_upgrade, STANDARD),
}  # fmt: skip
