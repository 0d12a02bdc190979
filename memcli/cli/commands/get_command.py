"""`memcli get`: print lines of a document from disk, by path, citation or record ref."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from memcli.cli import options
from memcli.cli.skin import Shared, Skin, make_skin
from memcli.errors import ExitCode, UsageError
from memcli.types import MEMORY_SOURCE, cite

if TYPE_CHECKING:
    from memcli.indexing.planning import Settings
    from memcli.types import FileText


def command(
    target: Annotated[str, typer.Argument(metavar="PATH[:FROM-TO]", help="Or a record ref.")],
    first: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option("--from", metavar="LINE", help="First line, from 1.", show_default="1"),
    ] = None,
    count: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(
            "--lines", metavar="COUNT", help="How many lines at most.", show_default="all"
        ),
    ] = None,
    expected: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option("--hash", metavar="HASH", help="Exit 1 unless the lines still have it."),
    ] = None,
    expand: Annotated[
        bool, typer.Option("--expand", help="Print the lines that a summary stands for.")
    ] = False,
    as_json: options.Json = False,
    workspace: options.Workspace = None,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    color: options.Color = "auto",
    now: options.Now = None,
    debug: options.Debug = False,
) -> int:
    """Print lines of a document, as they are on disk now.

    Examples: memcli get MEMORY.md      memcli get memory/2026-02-05.md:3-9
    """
    if (first is not None and first < 1) or (count is not None and count < 1):
        from shlex import quote

        raise UsageError(
            "--from and --lines count from 1",
            hint=f"memcli get {quote(target)} --from 1 --lines 40",
        )
    skin = make_skin(Shared(workspace, quiet, verbose, color, now), {})
    return run(target, first, count, expected, skin, expand=expand, as_json=as_json)


def run(
    target: str,
    first: int | None,
    count: int | None,
    expected: str | None,
    skin: Skin,
    *,
    expand: bool,
    as_json: bool,
) -> int:
    """Print what was asked for."""
    from memcli.api import targets
    from memcli.markdown.parts import digest

    settings = skin.memory.index_settings()
    found = targets.resolve(target, settings)
    if found.source != MEMORY_SOURCE and not target.startswith(f"{found.source}:"):
        skin.terminal.warn(f"the memory has no {found.path}; this is {found.name}")
    file = targets.read(found, settings)
    lines = file.text.split("\n")
    if lines and lines[-1] == "":
        lines.pop()
    start, end = targets.lines_of(found, file, settings)
    start = min(first if first is not None else start, max(1, len(lines)))
    end = min(end if first is None else max(1, len(lines)), max(1, len(lines)))
    if end < start:
        from shlex import quote

        raise UsageError(
            f"the range {start}-{end} ends before it begins",
            hint=f"memcli get {quote(cite(*found.document, end, start))}",
        )
    wanted_end = end
    if count is not None:
        end = min(end, start + count - 1)
    text = "\n".join(lines[start - 1 : end])
    text_hash = digest(text).hex()
    is_whole = (found.first, found.anchor, first, count) == (None, None, None, None)
    behind = _behind(file, None if is_whole else lines[start - 1 : end], settings) if expand else []
    if as_json:
        from memcli.render.jsonio import dumps

        truncated = end < wanted_end
        record = {
            "schema": "memcli.get/1",
            "source": found.source,
            "path": found.path,
            "start_line": start,
            "end_line": end,
            "total_lines": len(lines),
            "text": text,
            "text_hash": text_hash,
            "truncated": truncated,
            "next_from": end + 1 if truncated else None,
        }
        if expand:
            record["expanded"] = behind
        skin.terminal.write(dumps(record) + "\n")
    elif expand:
        _write_behind(behind, skin)
    elif text:
        skin.terminal.write(skin.terminal.safe(text) + "\n")
    if expected is not None and expected.lower() != text_hash:
        where = cite(*found.document, start, end)
        skin.terminal.warn(f"{where} has changed: its hash is {text_hash}")
        return ExitCode.NEGATIVE
    return ExitCode.OK


def _behind(
    file: FileText, lines: Sequence[str] | None, settings: Settings
) -> list[dict[str, Any]]:
    from memcli.api import targets
    from memcli.api.behind import raw_lines

    def read(path: str) -> FileText:
        return targets.read(targets.resolve_path(MEMORY_SOURCE, path, settings), settings)

    return raw_lines(file, lines, settings=settings, read=read)


def _write_behind(behind: Sequence[dict[str, Any]], skin: Skin) -> None:
    terminal = skin.terminal
    for each in behind:
        where = each["citation"]
        terminal.write(f"==> {terminal.safe_line(where)} <==\n{terminal.safe(each['text'])}\n")
        if each["changed"]:
            terminal.warn(f"{where} has changed since it was summarised")
