"""The options that every command shares, declared once."""

from __future__ import annotations

from typing import Annotated, Optional

import typer

from memcli.errors import UsageError
from memcli.types import Where

Workspace = Annotated[
    Optional[str],  # noqa: UP045  # Typer reads the annotation at run time
    typer.Option(
        "-w",
        "--workspace",
        metavar="FOLDER",
        help="The workspace.",
        show_default="MEMCLI_WORKSPACE, else at or above here",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Write one JSON object.")]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="No messages, only data.")]
Verbose = Annotated[bool, typer.Option("-v", "--verbose", help="Say more: reasons, timings.")]
Color = Annotated[str, typer.Option("--color", metavar="WHEN", help="auto, always or never.")]
Now = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(
        "--now", metavar="TIME", help="Take this for the present.", show_default="the clock's"
    ),
]
Tags = Annotated[
    Optional[list[str]],  # noqa: UP045
    typer.Option("--tag", metavar="TAG", help="Only with all these tags."),
]
Wheres = Annotated[
    Optional[list[str]],  # noqa: UP045
    typer.Option("--where", metavar="KEY=VALUE", help="Only where front matter says so."),
]
Debug = Annotated[bool, typer.Option("--debug", help="Show tracebacks.")]


def sync_of(*, sync: bool, no_sync: bool, command: str) -> bool | None:
    """Say how far the index is brought in step: all, not at all, or within the bounds (None)."""
    if sync and no_sync:
        raise UsageError("--sync goes without --no-sync", hint=f"memcli {command} --help")
    return True if sync else False if no_sync else None


def tags_of(given: list[str] | None) -> tuple[str, ...]:
    """Take the tags of --tag; UsageError for one without a letter."""
    for tag in given or ():
        if not tag.strip(" #/"):
            raise UsageError(f"--tag names no tag: {tag!r}", hint="memcli search QUERY --tag infra")
    return tuple(given or ())


def where_of(given: list[str] | None) -> tuple[Where, ...]:
    """Read `key=value`, `key!=value`, `key` and `!key`; UsageError for anything else."""
    return tuple(map(_where, given or ()))


def _where(text: str) -> Where:
    key, sign, value = text.partition("=")
    negated = key.endswith("!") if sign else key.startswith("!")
    key, value = key.strip("! "), value.strip()
    if not key or bool(sign) != bool(value):
        raise UsageError(
            f"--where takes KEY=VALUE, KEY!=VALUE, KEY or !KEY, not {text!r}",
            hint="memcli search QUERY --where status=open",
        )
    return Where(key, value if sign else None, negated)
