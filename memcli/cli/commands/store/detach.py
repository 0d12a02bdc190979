"""`memcli store detach`: keep the index of a folder on this machine again."""

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
    """Keep the index of this workspace on this machine again.

    What is stored on the server stays there, and may be attached to another folder.

    Examples: memcli store detach      memcli store detach -w notes
    """
    from memcli.api import shared

    skin = make_skin(Shared(workspace, quiet, verbose, color, now), {})
    store, name, was_ours = shared.detach(skin.memory)
    also = "" if was_ours else "; another folder writes it"
    text = f"Detached {skin.config.workspace} from {name} in {store}{also}."
    tell(skin, text, as_json=as_json, store=store, changed=True, name=name)
    return ExitCode.OK
