"""`memcli store detach`: keep the index of a folder on this machine again."""

from __future__ import annotations

from memcli.cli.command_context import command_context
from memcli.cli.commands.store import tell
from memcli.cli.options import COMMON, JSON, ONE_WORKSPACE, Options
from memcli.errors import ExitCode

OPTIONS = (
    JSON, ONE_WORKSPACE, *COMMON,
)  # fmt: skip


def run(options: Options) -> int:
    """Use the index on this machine again.

    The index on the server stays there. You can attach it to another folder.

    Examples: memcli store detach      memcli store detach -w notes
    """
    from memcli.api import shared

    command = command_context(options)
    done = shared.detach(command.workspace)
    also = "" if done.was_ours else "; another folder writes it"
    if done.problem:
        also = f", on this machine only: {done.problem}"
    text = f"Detached {command.config.workspace} from {done.name} in {done.store}{also}."
    tell(command, text, as_json=options.json, store=done.store, changed=True, name=done.name)
    return ExitCode.OK
