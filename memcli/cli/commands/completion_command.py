"""`memcli completion`: print the completion script or the key bindings of a shell."""

from __future__ import annotations

import sys

from memcli.cli.options import SHELLS, CommandArgument, Option, Options
from memcli.errors import UsageError

ARGUMENTS = (
    CommandArgument("shell", "SHELL", f"{', '.join(SHELLS)}.", is_required=True, choices=SHELLS),
)
OPTIONS = (Option("--keys", "Print key bindings that choose a passage."),)


def run(options: Options) -> int:
    """Print the completion script of a shell, or its key bindings.

    Examples: memcli completion bash      memcli completion zsh --keys
    """
    if options.shell not in SHELLS:
        raise UsageError(
            f"there is no completion for {options.shell!r}, only for {', '.join(SHELLS)}",
            hint=f"memcli completion {SHELLS[0]}",
        )
    if options.keys:
        from memcli.cli.shells.widgets import WIDGETS

        sys.stdout.write(WIDGETS[options.shell])
    else:
        from memcli.cli.command_tree import command_tree
        from memcli.cli.shells import completion_scripts

        sys.stdout.write(completion_scripts(command_tree())[options.shell])
    return 0
