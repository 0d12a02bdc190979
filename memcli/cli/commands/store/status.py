"""`memcli store status`: the shared index, its server and the workspaces in it."""

from __future__ import annotations

from memcli.checking import TYPE_CHECKING
from memcli.cli.command_context import CommandContext, command_context
from memcli.cli.options import COMMON, JSON, ONE_WORKSPACE, Options
from memcli.errors import ExitCode

if TYPE_CHECKING:
    from typing import Any

    from memcli.api.shared import SharedStatus

INDENT = 10  # columns of the word in front


OPTIONS = (
    JSON, ONE_WORKSPACE, *COMMON,
)  # fmt: skip


def run(options: Options) -> int:
    """Show the shared index: its server, and the workspaces that you may see.

    Examples: memcli store status      memcli store status --json
    """
    from memcli.api import shared

    command = command_context(options, anywhere=True)
    found = _record(*shared.look(command.workspace))
    if options.json:
        command.terminal.write_json(found)
    else:
        lines = (command.terminal.safe_line(line) for line in _lines(found, command))
        command.terminal.write("".join(f"{line}\n" for line in lines))
    return ExitCode.OK


def _record(look: SharedStatus, attached: str | None) -> dict[str, Any]:
    """Describe the store as `memcli.store-status/1` does."""
    return {
        "schema": "memcli.store-status/1",
        "store": look.store,
        "server": look.server,
        "version": look.version,
        "pgvector": look.vector,
        "role": look.role,
        "standby": look.is_standby,
        "lag_seconds": look.lag_seconds,
        "tables": look.tables,
        "bytes": look.bytes,
        "attached": attached,
        "workspaces": [{**each._asdict(), "name": str(each.name)} for each in look.workspaces],
    }


def _lines(record: dict[str, Any], command: CommandContext) -> list[str]:
    kind = "standby" if record["standby"] else "primary"
    lag = record["lag_seconds"]
    behind = "" if lag is None else f", replication {lag:.1f} s behind"
    size = "" if record["bytes"] is None else f", {record['bytes'] / 1e6:.1f} MB"
    pairs = [
        ("store", f"{record['store']} (tables {record['tables']}{size})"),
        ("server", f"{record['server']}, version {record['version']} with pgvector"
         f" {record['pgvector']}, {kind}{behind}"),
        ("role", record["role"]),
        ("here", _here(record["attached"], command)),
    ]  # fmt: skip
    for each in record["workspaces"]:
        changed = f", changed {each['changed_at']}" if each["changed_at"] else ", empty"
        origin = f", written by {each['origin']}" if each["origin"] else ", written by nobody"
        writer = f", writing now: {each['writer']}" if each["writer"] else ""
        counted = f"{each['documents']} documents, {each['chunks']} chunks"
        pairs.append(("workspace", f"{each['name']}: {counted}{changed}{origin}{writer}"))
    return [f"{word:<{INDENT}} {text}" for word, text in pairs]


def _here(attached: str | None, command: CommandContext) -> str:
    folder = command.config.workspace
    return f"{folder} is attached as {attached}" if attached else f"{folder} is not attached"
