"""Read lines of a document as they are on disk now, and the lines behind a summary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memcli.api import targets
from memcli.checking import TYPE_CHECKING
from memcli.errors import NotFoundError, UsageError, quote
from memcli.indexing.lineage import successors
from memcli.indexing.planning import Settings, make_document, plan
from memcli.markdown.lineage import cited_lines, lines_hash, locate
from memcli.markdown.segments import digest
from memcli.record import Record
from memcli.types import MEMORY_SOURCE, FileText, Lineage, Skip, SourceLines, cite, lines_of, shown

if TYPE_CHECKING:
    from memcli.api.workspaces import Workspaces

MOST_RUNS = 8  # of corrected lines that a mark names


class Lines(Record):
    """Lines of a document."""

    source: str
    path: str
    start_line: int  # from 1; both ends are included
    end_line: int
    total_lines: int
    text: str
    text_hash: str
    truncated: bool  # `count` lines were not enough
    next_from: int | None  # the next line
    expanded: tuple[RawLines, ...] = ()  # source lines of a summary, if requested
    # Newer lines that correct these, from `line` to `last_line`.
    corrected_by: tuple[dict[str, str | int], ...] = ()

    @property
    def citation(self) -> str:
        """Name the lines."""
        return cite(self.source, self.path, self.start_line, self.end_line)

    @property
    def marks(self) -> list[tuple[str, dict[str, str | int]]]:
        """List each newer line once, with the first runs of lines that it corrects: `3, 7-9`."""
        runs: dict[str, list[dict[str, str | int]]] = {}
        for each in self.corrected_by:
            runs.setdefault(str(each["citation"]), []).append(each)
        return [(_named(of_one), of_one[0]) for of_one in runs.values()]


def _named(runs: Sequence[dict[str, str | int]]) -> str:
    shown_runs = [lines_of(int(each["line"]), int(each["last_line"])) for each in runs[:MOST_RUNS]]
    more = len(runs) - len(shown_runs)
    return ", ".join(shown_runs) + (f" and {more} more" if more else "")


def get(
    memory: Workspaces,
    target: str,
    *,
    first: int | None = None,
    count: int | None = None,
    around: int = 0,
    expand: bool = False,
    here: str | None = None,
    is_use: bool = True,
) -> Lines:
    """Read what a path, a citation, `path#heading` or a record ref points at.

    With `access.count`, this is a use of the document. Relative paths start at `here`. `first` and
    `count` choose other lines (from 1), and `around` adds lines above and below. NotFoundError if
    there is no such document or it is private to another workspace, UsageError if the range ends
    before it begins.
    """
    owner = memory.owner_of(target)
    workspace, target, before, _ = owner
    settings = workspace.index_settings()
    if expand:
        workspace.need_files()
    place, file = owner.read(here)
    if first is not None and place.first is not None:
        raise UsageError(
            f"{target} already names its first line, so it cannot begin at line {first}",
            hint=f"memcli get {quote(place.name)} --from {first}",
        )
    lines = file.text.split("\n")
    if lines and lines[-1] == "":
        lines.pop()
    last = max(1, len(lines))
    start, end = targets.lines_of(place, file, settings)
    if first is not None and first > last:
        raise targets.beyond(place.name, first, len(lines))
    start = start if first is None else first
    wanted_end = min(end, last) if first is None else last
    if wanted_end < start:
        raise UsageError(
            f"the range {start}-{wanted_end} ends before it begins",
            hint=f"memcli get {quote(cite(*place.document, wanted_end, start))}",
        )
    end = wanted_end if count is None else min(wanted_end, start + count - 1)
    start, end, wanted_end = max(1, start - around), min(last, end + around), wanted_end + around
    text = "\n".join(lines[start - 1 : end])
    is_whole = (place.first, place.anchor, first, count) == (None, None, None, None)
    part = None if is_whole else range(start, end + 1)
    if is_use and workspace.config("access.count"):
        from memcli.api.usage_counts import note

        note(workspace, [place.document])
    return Lines(
        source=before + place.source,
        path=place.path,
        start_line=start,
        end_line=end,
        total_lines=len(lines),
        text=text,
        text_hash=digest(text).hex(),
        truncated=end < min(last, wanted_end),
        next_from=end + 1 if end < min(last, wanted_end) else None,
        expanded=tuple(raw_lines(file, part, settings, before)) if expand else (),
    )


def with_newer_lines(memory: Workspaces, lines: Lines) -> Lines:
    """Add the newer lines that correct some lines, as far as the index knows."""
    from memcli.api.superseded import corrections_in

    there = range(lines.start_line, lines.end_line + 1)
    corrections = corrections_in(memory, (lines.source, lines.path), [there])
    marks = tuple(
        {"line": own[0], "last_line": own[-1], **newer.record} for own, newer in corrections
    )
    return lines._replace(corrected_by=marks)


class RawLines(Record):
    """Lines of a log that a summary covers."""

    source: str
    path: str
    start_line: int
    end_line: int
    citation: str
    text: str
    text_hash: str
    changed: bool  # changed since they were summarised


def raw_lines(
    file: FileText, part: range | None, settings: Settings, before: str = ""
) -> list[RawLines]:
    """List the lines behind a summary, or behind a part of its lines, at their current place.

    Lines that changed since are marked as changed, and those at the old place are shown. `before`
    is the prefix of their source.
    """
    lineage = _lineage(file, settings)
    if lineage is None:
        name = shown(file.stat.source, file.stat.path)
        raise UsageError(
            f"{name} is not a summary: it has no source lines", hint=f"memcli get {quote(name)}"
        )
    leaves = _leaves(lineage, settings)
    inside = (cite[1:] for number, cite in cited_lines(file.text) if part and number in part)
    cites = dict.fromkeys(inside)
    ranges = [(leaf, *c[1:]) for c in cites for leaf in leaves if _holds(leaf.source, c)]
    whole = [(leaf, leaf.source.start_line, leaf.source.end_line) for leaf in leaves]
    return [_record(before + MEMORY_SOURCE, *each) for each in ranges or whole]


class Leaf(Record):
    """Summarised lines of a log, and their current place."""

    source: SourceLines
    path: str  # of the log, under its current name
    text: Sequence[str]  # the lines of that log
    shift: int  # by how many lines they moved down
    changed: bool


def _leaves(lineage: Lineage, settings: Settings) -> list[Leaf]:
    """Follow summaries of summaries down to the logs."""
    leaves: dict[SourceLines, Leaf] = {}
    seen: set[str] = set()
    todo = [lineage]
    while todo:
        here = todo.pop()
        by_path: dict[str, list[SourceLines]] = {}
        for source in here.sources:
            by_path.setdefault(source.path, []).append(source)
        below: list[Lineage] = []
        for path, sources in by_path.items():
            file = _file(path, sources, here, settings)
            under = _lineage(file, settings)
            if under is None:
                leaves |= {leaf.source: leaf for leaf in _placed(sources, file)}
            elif path not in seen:
                seen.add(path)
                below.append(under)
        todo += reversed(below)
    return list(leaves.values())


def _file(path: str, sources: Sequence[SourceLines], of: Lineage, settings: Settings) -> FileText:
    """Read a log; if it is gone, the log that has all of its summarised lines."""

    def read(path: str) -> FileText:
        name = shown(MEMORY_SOURCE, path)
        log = targets.listed(name, [targets.Target(MEMORY_SOURCE, path)], settings)
        return targets.read(log, settings)

    try:
        return read(path)
    except NotFoundError:
        files = plan(settings, {}).listing.files
        for other in successors(of, [f.path for f in files if f.source == MEMORY_SOURCE]):
            file = read(other)
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


def _record(source: str, leaf: Leaf, first: int, last: int) -> RawLines:
    first, last = first + leaf.shift, last + leaf.shift
    return RawLines(
        source=source,
        path=leaf.path,
        start_line=first,
        end_line=last,
        citation=cite(source, leaf.path, first, last),
        text="\n".join(leaf.text[first - 1 : last]),
        text_hash=lines_hash(leaf.text, first, last).hex(),
        changed=leaf.changed,
    )
