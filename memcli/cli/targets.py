"""Read what a person points at: a path, a citation, `path#heading` or a record ref."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from memcli.errors import NotFoundError
from memcli.types import MEMORY_SOURCE, FileText, Skip

if TYPE_CHECKING:
    from memcli.indexing.planning import Settings

_RANGE = re.compile(r"^(?P<path>.+):(?P<first>[0-9]+)(?:-(?P<last>[0-9]+))?$")
# Digits of a line number; one with more is beyond the end of every file.
_MOST_DIGITS = 15


class Target(NamedTuple):
    """What is asked for."""

    source: str
    path: str
    anchor: str | None
    first: int | None
    last: int | None


def resolve(target: str, settings: Settings) -> Target:
    """Find the document that is meant; NotFoundError for what discovery would not accept."""
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
    from shlex import quote  # a hint is pasted, and a name of a file may hold `;` or `$(`

    near = get_close_matches(target, sorted(path for _, path in known), n=1)
    hint = f"memcli get {quote(near[0])}" if near else "memcli status"
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
            first = _line(match["first"])
            last = _line(match["last"]) if match["last"] else first
            found.append(Target(source, match["path"], None, max(1, first), max(1, last)))
        head, sign, anchor = path.rpartition("#")
        if sign:
            found.append(Target(source, head, anchor, None, None))
    return found


def _line(digits: str) -> int:
    digits = digits.lstrip("0")
    return int(digits or "0") if len(digits) <= _MOST_DIGITS else 10**_MOST_DIGITS


def read(target: Target, settings: Settings) -> FileText:
    """Read the document; NotFoundError where it cannot be."""
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


def lines_of(target: Target, file: FileText, settings: Settings) -> tuple[int, int]:
    """Give the first and last line that are meant, from 1; the whole file where none is named."""
    if target.anchor is not None:
        return _anchor_lines(target, file, settings)
    lines = file.text.removesuffix("\n").count("\n") + 1
    return target.first or 1, target.last or lines


def _anchor_lines(target: Target, file: FileText, settings: Settings) -> tuple[int, int]:
    """Find a chunk by its anchor, or everything below a heading by its name."""
    from shlex import quote

    from memcli.indexing.document import document_or_skip

    source = next(s for s in settings.sources if s.name == target.source)
    document = document_or_skip(file, source, settings.limits)
    if isinstance(document, Skip):
        raise NotFoundError(
            f"{target.path} has no headings to find: it is {document.reason} ({document.detail})",
            hint=f"memcli get {quote(target.path)}",
        )
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
            f"{target.path} has no heading or anchor {wanted!r}",
            hint=f"memcli get {quote(target.path)}",
        )
    return chunks[0].start_line, chunks[-1].end_line
