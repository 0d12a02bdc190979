"""`memcli get`: print lines of a document from disk, by path, citation or record ref."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, Optional

import typer

from memcli.cli import options
from memcli.cli.context import Context, Shared, make_context
from memcli.errors import ExitCode, NotFoundError, UsageError
from memcli.types import MEMORY_SOURCE, Document, FileText, Skip

if TYPE_CHECKING:
    from memcli.indexing.indexer import Settings

_RANGE = re.compile(r"^(?P<path>.+):(?P<first>\d+)(?:-(?P<last>\d+))?$")


class Target(NamedTuple):
    """What is asked for."""

    source: str
    path: str
    anchor: str | None
    first: int | None
    last: int | None


def command(
    target: Annotated[str, typer.Argument(metavar="PATH[:FROM-TO]", help="Or a record ref.")],
    first: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option("--from", metavar="LINE", help="First line, from 1."),
    ] = None,
    count: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option("--lines", metavar="COUNT", help="How many lines at most."),
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
        raise UsageError("--from and --lines count from 1")
    context = make_context(Shared(workspace, quiet, verbose, color, now), {})
    return run(target, first, count, expected, context, expand=expand, as_json=as_json)


def run(
    target: str,
    first: int | None,
    count: int | None,
    expected: str | None,
    context: Context,
    *,
    expand: bool,
    as_json: bool,
) -> int:
    """Print what was asked for."""
    from memcli.markdown.parts import digest

    settings = context.index_settings()
    found = _resolve(target, settings)
    file = _read(found, settings)
    lines = file.text.split("\n")
    if lines and lines[-1] == "":
        lines.pop()
    start, end = found.first or 1, found.last or max(1, len(lines))
    if found.anchor is not None:
        start, end = _anchor_lines(found, file, settings)
    start = min(first if first is not None else start, max(1, len(lines)))
    end = min(end if first is None else max(1, len(lines)), max(1, len(lines)))
    if end < start:
        raise UsageError(f"the range {start}-{end} ends before it begins")
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
        context.terminal.write(dumps(record) + "\n")
    elif expand:
        _write_behind(behind, context)
    elif text:
        context.terminal.write(context.terminal.safe(text) + "\n")
    if expected is not None and expected.lower() != text_hash:
        context.terminal.warn(f"{found.path}:{start}-{end} has changed: its hash is {text_hash}")
        return ExitCode.NEGATIVE
    return ExitCode.OK


def _behind(
    file: FileText, lines: Sequence[str] | None, settings: Settings
) -> list[dict[str, Any]]:
    from memcli.cli.get_expand import raw_lines

    def read(path: str) -> FileText:
        return _read(_resolve(path, settings), settings)

    return raw_lines(file, lines, settings=settings, read=read)


def _write_behind(behind: Sequence[dict[str, Any]], context: Context) -> None:
    terminal = context.terminal
    for each in behind:
        where = f"{each['path']}:{each['start_line']}-{each['end_line']}"
        terminal.write(f"==> {terminal.safe_line(where)} <==\n{terminal.safe(each['text'])}\n")
        if each["changed"]:
            terminal.warn(f"{where} has changed since it was summarised")


def _resolve(target: str, settings: Settings) -> Target:
    """Read a path, a citation, `path#heading` or `source:path#anchor`; only known documents."""
    from memcli.workspace.discover import discover

    listing = discover(
        settings.sources,
        max_bytes=settings.max_bytes,
        follow_symlinks=settings.follow_symlinks,
    )
    known = {(file.source, file.path) for file in listing.files}
    for candidate in _readings(target, [source.name for source in settings.sources]):
        if (candidate.source, candidate.path) in known:
            return candidate
    for skip in listing.skips:
        if skip.path == target:
            raise NotFoundError(f"{target} is not a document: {skip.reason}", hint="memcli status")
    from difflib import get_close_matches

    near = get_close_matches(target, sorted(path for _, path in known), n=1)
    hint = f"memcli get {near[0]}" if near else "memcli status"
    raise NotFoundError(f"there is no document {target}", hint=hint)


def _readings(target: str, sources: list[str]) -> list[Target]:
    """List what a target may mean, a plain path first: names may hold `:` and `#`.

    A path of no source is one of the memory, else of the first other source that has it.
    """
    plain = target.removeprefix("./")
    places = [(MEMORY_SOURCE, plain)]
    places += [(s, target[len(s) + 1 :]) for s in sources if target.startswith(f"{s}:")]
    places += [(s, plain) for s in sources if s != MEMORY_SOURCE]
    found = [Target(source, path, None, None, None) for source, path in places]
    for source, path in places:
        match = _RANGE.match(path)
        if match:
            first = int(match["first"])
            last = int(match["last"]) if match["last"] else first
            found.append(Target(source, match["path"], None, max(1, first), max(1, last)))
        head, sign, anchor = path.rpartition("#")
        if sign:
            found.append(Target(source, head, anchor, None, None))
    return found


def _read(target: Target, settings: Settings) -> FileText:
    from memcli.workspace.reading import read_file

    source = next(s for s in settings.sources if s.name == target.source)
    file = read_file(
        source.root,
        target.path,
        source=source.name,
        max_bytes=settings.max_bytes,
        follow_symlinks=settings.follow_symlinks,
    )
    if isinstance(file, Skip):
        raise NotFoundError(
            f"{target.path} cannot be read: {file.detail or file.reason}", hint="memcli status"
        )
    return file


def _anchor_lines(target: Target, file: FileText, settings: Settings) -> tuple[int, int]:
    """Find a chunk by its anchor, or everything below a heading by its name."""
    from memcli.indexing.document import build_document

    source = next(s for s in settings.sources if s.name == target.source)
    document: Document = build_document(file, source, settings.limits)
    wanted = target.anchor or ""
    exact = [chunk for chunk in document.chunks if chunk.anchor == wanted]
    below = [
        chunk
        for chunk in document.chunks
        if any(name.casefold() == wanted.casefold() for name in chunk.heading_path)
    ]
    chunks = exact or below
    if not chunks:
        raise NotFoundError(
            f"{target.path} has no heading or anchor {wanted!r}", hint=f"memcli get {target.path}"
        )
    return chunks[0].start_line, chunks[-1].end_line
