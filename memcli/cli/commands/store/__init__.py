"""The commands of `memcli store`, one module each."""

from __future__ import annotations

from memcli.checking import TYPE_CHECKING
from memcli.cli.options import CommandArgument

if TYPE_CHECKING:
    from memcli.cli.skin import Skin

ABOUT = "Share an index between machines on PostgreSQL."
NAMES = (
    "status", "init", "grants", "members", "attach", "detach", "rename", "delete", "upgrade",
)  # fmt: skip
USUAL = "status"
NAME = CommandArgument("name", "NAME", "Its name there, such as ops or team/ops.", is_required=True)


def tell(
    skin: Skin, text: str, *, as_json: bool, store: str, changed: bool, name: str | None = None
) -> None:
    """Print one line, or write `memcli.store/1`."""
    if not as_json:
        skin.terminal.say(text)
        return
    record = {
        "schema": "memcli.store/1",
        "store": store,
        "workspace": skin.config.workspace,
        "name": name,
        "changed": changed,
    }
    skin.terminal.write_json(record)
