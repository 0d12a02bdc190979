"""What a command of `memcli store` has done, for a person or a program."""

from __future__ import annotations

from memcli.checking import TYPE_CHECKING

if TYPE_CHECKING:
    from memcli.cli.skin import Skin


def tell(
    skin: Skin, text: str, *, as_json: bool, store: str, changed: bool, name: str | None = None
) -> None:
    """Say it in a line, or write `memcli.store/1`."""
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
