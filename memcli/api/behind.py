"""Find the raw lines behind a summary, on disk as they are now."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from memcli.errors import NotFoundError, UsageError
from memcli.indexing.lineage import successors
from memcli.indexing.planning import Settings, make_document
from memcli.markdown.lineage import citations, lines_hash, locate
from memcli.record import Record
from memcli.types import MEMORY_SOURCE, FileText, Lineage, Skip, SourceLines, cite, shown


class RawLines(Record):
    """Lines of a log that a summary covers."""

    source: str
    path: str
    start_line: int
    end_line: int
    citation: str
    text: str
    text_hash: str
    changed: bool  # since they were summarised


def raw_lines(
    file: FileText, lines: Sequence[str] | None, *, settings: Settings, memory: Logs
) -> list[RawLines]:
    """List the lines behind a summary, or behind some of its lines, at their present place.

    Lines that changed since are marked as changed, and those at the old place are shown.
    """
    lineage = _lineage(file, settings)
    if lineage is None:
        from shlex import quote

        name = shown(file.stat.source, file.stat.path)
        raise UsageError(
            f"{name} is not a summary: it has no lines behind it",
            hint=f"memcli get {quote(name)}",
        )
    leaves = _leaves(lineage, settings, memory)
    wanted = [] if lines is None else list(dict.fromkeys(citations("\n".join(lines))))
    ranges = [(leaf, *c[1:]) for c in wanted for leaf in leaves if _holds(leaf.source, c)]
    whole = [(leaf, leaf.source.start_line, leaf.source.end_line) for leaf in leaves]
    return [_record(*each) for each in ranges or whole]


class Logs(Record):
    """The documents of the memory."""

    read: Callable[[str], FileText]  # by path; NotFoundError if there is none
    paths: Callable[[], Sequence[str]]  # of all there are


class Leaf(Record):
    """Summarised lines of a log, and their present place."""

    source: SourceLines
    path: str  # of the log as it is called now
    text: Sequence[str]  # the lines of that log
    shift: int  # lines that it has moved down
    changed: bool


def _leaves(lineage: Lineage, settings: Settings, memory: Logs) -> list[Leaf]:
    """Go down to the logs, through the summaries below."""
    found: dict[SourceLines, Leaf] = {}
    seen: set[str] = set()
    todo = [lineage]
    while todo:
        here = todo.pop()
        by_path: dict[str, list[SourceLines]] = {}
        for source in here.sources:
            by_path.setdefault(source.path, []).append(source)
        below: list[Lineage] = []
        for path, sources in by_path.items():
            file = _file(path, sources, here, memory)
            under = _lineage(file, settings)
            if under is None:
                found |= {leaf.source: leaf for leaf in _placed(sources, file)}
            elif path not in seen:
                seen.add(path)
                below.append(under)
        todo += reversed(below)
    return list(found.values())


def _file(path: str, sources: Sequence[SourceLines], of: Lineage, memory: Logs) -> FileText:
    """Read a log; if it is gone, the log that has all of its summarised lines."""
    try:
        return memory.read(path)
    except NotFoundError:
        for other in successors(of, memory.paths()):
            file = memory.read(other)
            if None not in locate(sources, file.text.split("\n")):
                return file
        raise


def _placed(sources: Sequence[SourceLines], file: FileText) -> Iterator[Leaf]:
    text = file.text.split("\n")
    for source, place in zip(sources, locate(sources, text), strict=True):
        shift = place.start_line - source.start_line if place else 0
        yield Leaf(source, file.stat.path, text, shift, place is None)


def _lineage(file: FileText, settings: Settings) -> Lineage | None:
    document = make_document(settings, file)
    return None if isinstance(document, Skip) else document.lineage


def _holds(leaf: SourceLines, citation: tuple[str, int, int]) -> bool:
    path, first, last = citation
    return leaf.path == path and leaf.start_line <= first and last <= leaf.end_line


def _record(leaf: Leaf, first: int, last: int) -> RawLines:
    first, last = first + leaf.shift, last + leaf.shift
    return RawLines(
        source=MEMORY_SOURCE,
        path=leaf.path,
        start_line=first,
        end_line=last,
        citation=cite(MEMORY_SOURCE, leaf.path, first, last),
        text="\n".join(leaf.text[first - 1 : last]),
        text_hash=lines_hash(leaf.text, first, last).hex(),
        changed=leaf.changed,
    )
