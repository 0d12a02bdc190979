"""`memcli store upgrade`: bring the tables of a shared store to the newest version."""

from __future__ import annotations

from memcli.checking import TYPE_CHECKING
from memcli.cli.commands.store.told import tell
from memcli.cli.skin import Shared, make_skin
from memcli.errors import ExitCode

if TYPE_CHECKING:
    from memcli.cli import options


def command(
    as_json: options.Json = False,
    workspace: options.Workspace = None,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    color: options.Color = "auto",
    now: options.Now = None,
    debug: options.Debug = False,
) -> int:
    """Bring the tables of the shared store to the version of this memcli; a search never does.

    Examples: memcli store upgrade      memcli store upgrade -q
    """
    from memcli.api import shared

    skin = make_skin(Shared(workspace, quiet, verbose, color, now), {}, anywhere=True)
    store, version = shared.upgrade(skin.config)
    text = f"{store} has the newest tables already ({version}); nothing was changed."
    tell(skin, text, as_json=as_json, store=store, changed=False)
    return ExitCode.OK
