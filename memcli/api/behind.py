"""Follow lines of a summary down to the raw lines they stand for, on disk as it is now."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from memcli.errors import UsageError
from memcli.indexing.planning import Settings, make_document
from memcli.markdown.lineage import citations, lines_hash
from memcli.record import Record
from memcli.types import MEMORY_SOURCE, FileText, Lineage, Skip, SourceLines, cite, shown


class RawLines(Record):
    """Lines of a log that a summary stands for."""

    source: str
    path: str
    start_line: int
    end_line: int
    citation: str
    text: str
    text_hash: str
    changed: bool  # since they were summarised


def raw_lines(
    file: FileText,
    lines: Sequence[str] | None,
    *,
    settings: Settings,
    read: Callable[[str], FileText],
) -> list[RawLines]:
    """Give the lines behind some lines of a summary, or all of it.

    `read` reads another document of the memory by its path. Lines that are no longer as they were
    summarised are marked as changed.
    """
    lineage = _lineage(file, settings)
    if lineage is None:
        from shlex import quote

        name = shown(file.stat.source, file.stat.path)
        raise UsageError(
            f"{name} is no summary: there is nothing behind its lines",
            hint=f"memcli get {quote(name)}",
        )
    texts: dict[str, list[str]] = {}
    leaves = _leaves(lineage, settings, read, texts)
    wanted = [] if lines is None else list(dict.fromkeys(citations("\n".join(lines))))
    ranges = [c for c in wanted if any(_holds(leaf, c) for leaf in leaves)]
    changed = {leaf for leaf in leaves if _differs(leaf, texts)}
    return [
        _record(path, first, last, texts[path], changed=changed)
        for path, first, last in ranges or [leaf[:3] for leaf in leaves]
    ]


def _leaves(
    lineage: Lineage,
    settings: Settings,
    read: Callable[[str], FileText],
    texts: dict[str, list[str]],
) -> list[SourceLines]:
    found: dict[SourceLines, None] = {}
    seen: set[str] = set()
    todo = list(reversed(lineage.sources))
    while todo:
        source = todo.pop()
        if source.path not in texts:
            file = read(source.path)
            texts[source.path] = file.text.split("\n")
            below = _lineage(file, settings)
            if below is not None:
                seen.add(source.path)
                todo += reversed(below.sources)
        if source.path not in seen:
            found[source] = None
    return list(found)


def _lineage(file: FileText, settings: Settings) -> Lineage | None:
    document = make_document(settings, file)
    return None if isinstance(document, Skip) else document.lineage


def _holds(leaf: SourceLines, citation: tuple[str, int, int]) -> bool:
    path, first, last = citation
    return leaf.path == path and leaf.start_line <= first and last <= leaf.end_line


def _differs(leaf: SourceLines, texts: dict[str, list[str]]) -> bool:
    return lines_hash(texts[leaf.path], leaf.start_line, leaf.end_line) != leaf.hash


def _record(
    path: str, first: int, last: int, lines: list[str], *, changed: set[SourceLines]
) -> RawLines:
    return RawLines(
        source=MEMORY_SOURCE,
        path=path,
        start_line=first,
        end_line=last,
        citation=cite(MEMORY_SOURCE, path, first, last),
        text="\n".join(lines[first - 1 : last]),
        text_hash=lines_hash(lines, first, last).hex(),
        changed=any(_holds(leaf, (path, first, last)) for leaf in changed),
    )
