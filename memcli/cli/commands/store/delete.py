"""`memcli store delete`: delete a workspace of the shared index."""

from __future__ import annotations

from memcli.cli.command_context import command_context
from memcli.cli.commands.store import NAME, tell
from memcli.cli.options import COMMON, JSON, ONE_WORKSPACE, Option, Options
from memcli.errors import ExitCode

ARGUMENTS = (NAME,)
OPTIONS = (
    Option("--apply", "Delete it instead of only showing what would go."),
    JSON, ONE_WORKSPACE, *COMMON,
)  # fmt: skip


def run(options: Options) -> int:
    """Show what a workspace contains, and delete it from the shared index with --apply.

    All of its rows go, the vectors too. The files are not touched: attach their folder again to
    build the index again.

    Examples: memcli store delete team/old      memcli store delete team/old --apply
    """
    from memcli.api import shared

    command = command_context(options, anywhere=True)
    store, found = shared.contents(command.config, options.name)
    by = f", written by {found.origin}" if found.origin else ""
    now = f", and now by {found.writer}" if found.writer else ""
    what = (
        f"{options.name} in {store}: {found.documents} documents, {found.chunks} chunks and"
        f" {found.vectors} vectors{by}{now}"
    )
    if options.apply:
        shared.delete(command.workspace, options.name)
    text = f"Deleted {what}." if options.apply else f"--apply deletes {what}."
    tell(command, text, as_json=options.json, store=store, changed=options.apply, name=options.name)
    return ExitCode.OK
