"""`memcli store upgrade`: bring the tables of a shared index to the newest version."""

from __future__ import annotations

from memcli.cli.commands.store import tell
from memcli.cli.options import COMMON, JSON, WORKSPACE, Options
from memcli.cli.skin import make_skin
from memcli.errors import ExitCode

OPTIONS = (
    JSON, WORKSPACE, *COMMON,
)  # fmt: skip


def run(options: Options) -> int:
    """Upgrade the tables of the shared index to this version of memcli.

    Examples: memcli store upgrade      memcli store upgrade -q
    """
    from memcli.api import shared

    skin = make_skin(options, anywhere=True)
    store, version = shared.upgrade(skin.config)
    text = f"{store} has the newest tables already ({version}); nothing was changed."
    tell(skin, text, as_json=options.json, store=store, changed=False)
    return ExitCode.OK
