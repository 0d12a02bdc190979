"""The commands of `memcli store`, one module each."""

from __future__ import annotations

from memcli.checking import TYPE_CHECKING
from memcli.cli.options import CommandArgument

if TYPE_CHECKING:
    from memcli.cli.command_context import CommandContext

ABOUT = "Share an index between machines on PostgreSQL."
NAMES = (
    "status", "init", "grants", "members", "attach", "detach", "rename", "delete", "upgrade",
)  # fmt: skip
USUAL = "status"
NAME = CommandArgument("name", "NAME", "Its name there, such as ops or team/ops.", is_required=True)


def tell(
    command: CommandContext,
    text: str,
    *,
    as_json: bool,
    store: str,
    changed: bool,
    name: str | None = None,
) -> None:
    """Print one line, or write `memcli.store/1`."""
    if not as_json:
        command.terminal.say(text)
        return
    record = {
        "schema": "memcli.store/1",
        "store": store,
        "workspace": command.config.workspace,
        "name": name,
        "changed": changed,
    }
    command.terminal.write_json(record)
