"""The options that every command shares, declared once."""

from __future__ import annotations

from typing import Annotated, Optional

import typer

from memcli.errors import UsageError

GENERAL = "Of every command"  # the group of their help

Workspace = Annotated[
    Optional[str],  # noqa: UP045  # Typer reads the annotation at run time
    typer.Option(
        "-w",
        "--workspace",
        metavar="FOLDER",
        help="The workspace.",
        show_default="MEMCLI_WORKSPACE, else at or above here",
        rich_help_panel=GENERAL,
    ),
]
Json = Annotated[
    bool, typer.Option("--json", help="Write one JSON object.", rich_help_panel=GENERAL)
]
Quiet = Annotated[
    bool, typer.Option("-q", "--quiet", help="No messages, only data.", rich_help_panel=GENERAL)
]
Verbose = Annotated[
    bool,
    typer.Option("-v", "--verbose", help="Say more: reasons, timings.", rich_help_panel=GENERAL),
]
Color = Annotated[
    str,
    typer.Option("--color", metavar="WHEN", help="auto, always or never.", rich_help_panel=GENERAL),
]
Now = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(
        "--now",
        metavar="TIME",
        help="Take this for the present.",
        show_default="the clock's",
        rich_help_panel=GENERAL,
    ),
]
Debug = Annotated[bool, typer.Option("--debug", help="Show tracebacks.", rich_help_panel=GENERAL)]


def sync_of(*, sync: bool, no_sync: bool, command: str) -> bool | None:
    """Say how far the index is brought in step: all, not at all, or within the bounds (None)."""
    if sync and no_sync:
        raise UsageError("--sync goes without --no-sync", hint=f"memcli {command} --help")
    return True if sync else False if no_sync else None
