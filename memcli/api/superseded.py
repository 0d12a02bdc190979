"""Find the older lines that a passage corrects, and the newer lines that correct lines of a file.

`superseded_by` and `corrections_in` read the index, even if files have changed since.

A line is compared with lines of earlier days that contain most of its words. Only dated lines are
compared; `language.correction` decides.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta
from operator import itemgetter

from memcli.checking import TYPE_CHECKING
from memcli.errors import BusyError, IndexMissingError, StoreError
from memcli.language.correction import corrects
from memcli.markdown.evidence import unmarked
from memcli.markdown.lineage import cited_lines
from memcli.markdown.parse import parse
from memcli.markdown.units import units
from memcli.record import Record
from memcli.search.corrections import corrections, near
from memcli.search.ranked import Correction, Quotation, RankedPassage
from memcli.search.recall import RecallBounds, recall, scope_within
from memcli.search.related import words_of
from memcli.search.summaries import first_day
from memcli.store.records import Key, Scope
from memcli.types import OPEN_SCOPES, Filters, cite

if TYPE_CHECKING:
    from memcli.api.workspace import Workspace
    from memcli.api.workspaces import Workspaces
    from memcli.store.port import Snapshot

LOOKED_AT = 12  # chunks per line
MOST_LINES = 12  # lines per passage
MOST_OLDER = 3  # older lines shown per passage
AT_ONCE = 20  # chunks of a document that are looked up together


class Superseded(Record):
    """A line that a later line corrects."""

    source: str
    path: str
    start_line: int
    end_line: int
    date: str
    text: str
    by: int  # the line of the passage that corrects it

    @property
    def citation(self) -> str:
        """Name its lines."""
        return cite(self.source, self.path, self.start_line, self.end_line)


def corrections_in(
    workspace: Workspace, document: Key, lines: range, *, is_own: bool
) -> list[tuple[int, Correction]]:
    """Return the newer lines that correct lines of a document, in the order of these lines.

    Without an index there are none. With `is_own`, private notes may be named.
    """
    scope = Scope() if is_own else Scope(Filters(scopes=OPEN_SCOPES))
    first: dict[Correction, int] = {}
    try:
        with workspace.store.snapshot() as snapshot:
            excerpts = snapshot.excerpts_of([document], Scope())
            chunks = [Quotation(each.about, each.text) for each in excerpts
                      if each.about.start_line < lines.stop
                      and each.about.end_line >= lines.start]  # fmt: skip
            for at in range(0, len(chunks), AT_ONCE):
                near_by = chunks[at : at + AT_ONCE]
                newer = corrections(snapshot, [*near(snapshot, near_by, scope), *near_by], near_by)
                for chunk in near_by:
                    for at_line, _, later in newer.by_line(chunk):
                        line = at_line or max(chunk.about.start_line, lines.start)
                        if line in lines:
                            first.setdefault(later[-1], line)
    except (IndexMissingError, BusyError, StoreError):
        return []
    return sorted(((line, correction) for correction, line in first.items()), key=itemgetter(0))


def superseded_by(
    memory: Workspaces, passages: Sequence[RankedPassage]
) -> Mapping[str, tuple[Superseded, ...]]:
    """Find the older lines that each passage corrects, by its citation; the surest first."""
    with memory.store.snapshot() as snapshot:
        by_citation = {
            passage.citation: tuple(_of(snapshot, passage)[:MOST_OLDER]) for passage in passages
        }
    return {citation: older for citation, older in by_citation.items() if older}


def _of(snapshot: Snapshot, passage: RankedPassage) -> list[Superseded]:
    result: dict[tuple[str, str, int], tuple[float, Superseded]] = {}
    for line, text, day in _dated(passage):
        query = words_of(text)
        if day is None or query.is_empty:
            continue
        until = (date.fromisoformat(day) - timedelta(days=1)).isoformat()
        bounds = RecallBounds(LOOKED_AT, scope_within(snapshot, Filters(until=until, view="raw")))
        total = snapshot.counts().chunks
        for candidate in recall(
            snapshot, query, total=total, keyword=True, vector=None, bounds=bounds
        ).candidates:
            about = candidate.about
            for number, other in _lines(candidate.text, about.start_line):
                chance = corrects(text, other)
                key = about.source, about.path, number
                if chance and chance > result.get(key, (0.0, None))[0]:
                    result[key] = (
                        chance,
                        Superseded(
                            about.source, about.path, number, number, about.date or "", other, line
                        ),
                    )
    ordered = sorted(result.values(), key=lambda pair: (-pair[0], pair[1].citation))
    return [older for _, older in ordered]


def _dated(passage: RankedPassage) -> Iterator[tuple[int, str, str | None]]:
    """Yield the lines of a passage with their first day; for a summary, that of the cited log."""
    about = passage.about
    if about.is_summary:
        for number, cite in cited_lines(passage.text, about.heading_path):
            line = passage.start_line + number - 1
            yield line, unmarked(cite.text)[0], first_day(cite.path)
        return
    for number, text in _lines(passage.text, passage.start_line):
        yield number, text, about.first_day or about.date


def _lines(text: str, first: int) -> Iterator[tuple[int, str]]:
    """Yield the items and paragraphs of a passage, each with the line that it begins in."""
    lines = text.split("\n")
    count = 0
    for block in parse(text).blocks:
        if block.kind not in ("paragraph", "item", "quote"):
            continue
        for unit in units(block, lines):
            if count < MOST_LINES:
                yield first + unit.numbers[0] - 1, unit.text
            count += 1
