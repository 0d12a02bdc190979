"""The options that commands share, declared once; `filters` says what those of filters mean.

Typer alone reads them: a command names them in annotations, and loads them nowhere.
"""

from __future__ import annotations

from typing import Annotated, Any

import typer

from memcli.types import SCOPES

GENERAL = "Of every command"  # the group of their help
FILTERS = "Filters"
RANKING = "Ranking"
INDEX = "Index"

Workspace = Annotated[
    list[str] | None,
    typer.Option(
        "-w",
        "--workspace",
        metavar="FOLDER",
        help="The workspace, or @NAME; some commands ask several as one.",
        show_default="MEMCLI_WORKSPACE, else at or above here",
        rich_help_panel=GENERAL,
    ),
]
Everywhere = Annotated[
    bool,
    typer.Option(
        "--everywhere", help="Ask every workspace that has a name.", rich_help_panel=GENERAL
    ),
]
WorkspaceName = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="A workspace of the shared store, as it is stored there.",
        rich_help_panel=GENERAL,
    ),
]
Tenant = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="All workspaces of a tenant of the shared store, as they are stored there.",
        rich_help_panel=GENERAL,
    ),
]
AsOf = Annotated[
    str | None,
    typer.Option(
        "--as-of",
        metavar="WHEN",
        help="The memory as it was at the end of a day, or at a commit.",
        show_default="as it is",
    ),
]
Presets = Annotated[
    list[str] | None,
    typer.Option(
        "--with",
        metavar="NAME",
        help="Search an agent's own memory too: claude-code, codex.",
        show_default="none",
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
    typer.Option("-v", "--verbose", help="Say more: reasons and timings.", rich_help_panel=GENERAL),
]
Color = Annotated[
    str,
    typer.Option("--color", metavar="WHEN", help="auto, always or never.", rich_help_panel=GENERAL),
]
Now = Annotated[
    str | None,
    typer.Option(
        "--now",
        metavar="TIME",
        help="Use this as the current time.",
        show_default="the clock's",
        rich_help_panel=GENERAL,
    ),
]
Debug = Annotated[bool, typer.Option("--debug", help="Show tracebacks.", rich_help_panel=GENERAL)]

Sync = Annotated[
    bool, typer.Option("--sync", help="Index every change first.", rich_help_panel=INDEX)
]
NoSync = Annotated[
    bool, typer.Option("--no-sync", help="Do not update the index.", rich_help_panel=INDEX)
]

Brief = Annotated[bool, typer.Option("-1", "--brief", help="Show a line a passage, the best one.")]
More = Annotated[bool, typer.Option("--more", help="Show what does not fit the screen too.")]

_Word = str | None
_Words = list[str] | None


def _filter(metavar: str, text: str) -> Any:  # noqa: ANN401  (what Typer makes)
    return typer.Option(metavar=metavar, help=text, rich_help_panel=FILTERS)


Since = Annotated[_Word, _filter("DATE", "Only records from this date on.")]
Until = Annotated[_Word, _filter("DATE", "Only records up to this date.")]
On = Annotated[_Word, _filter("DATE", "Only records of this day, month or year.")]
Undated = Annotated[
    bool, typer.Option("--undated", help="Keep undated records too.", rich_help_panel=FILTERS)
]
Paths = Annotated[_Words, _filter("GLOB", "Only paths that match, such as 'memory/2025-*'.")]
Sources = Annotated[_Words, _filter("NAME", "Only documents of this source.")]
Kinds = Annotated[_Words, _filter("KIND", "Only documents of this kind, such as log or note.")]
Scopes = Annotated[_Words, _filter("SCOPE", f"Only documents of this scope: {', '.join(SCOPES)}.")]
Trusts = Annotated[_Words, _filter("TRUST", "Only trusted, or only untrusted, documents.")]
Headings = Annotated[_Words, _filter("TEXT", "Only below headings that hold TEXT.")]
By = Annotated[_Words, _filter("NAME", "Only lines of this speaker, or user, assistant.")]
Tags = Annotated[_Words, _filter("TAG", "Only with all these tags.")]
Wheres = Annotated[_Words, _filter("KEY=VALUE", "Only where the front matter says so.")]
