"""Find the older lines that a passage corrects, and the newer lines that correct lines of a file.

`superseded_by` and `corrections_in` read the index, even if files have changed since.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import itemgetter

from memcli.checking import TYPE_CHECKING
from memcli.errors import BusyError, IndexMissingError, StoreError
from memcli.language.compared_line import read_line
from memcli.markdown.lineage import cited_lines
from memcli.record import Record
from memcli.search.claims import item_at
from memcli.search.corrections import corrections, near
from memcli.search.ranked import Correction, Quotation, RankedPassage
from memcli.search.recall import scope_within
from memcli.store.records import Key, Scope
from memcli.types import OPEN_SCOPES, Filters, cite

if TYPE_CHECKING:
    from memcli.api.workspace import Workspace
    from memcli.api.workspaces import Workspaces
    from memcli.store.port import Snapshot

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
    """Find the older lines that each passage corrects, by its citation; the newest first."""
    with memory.store.snapshot() as snapshot:
        scope = scope_within(snapshot, Filters(view="raw"))
        by_citation = {
            passage.citation: tuple(_of(snapshot, passage, scope)[:MOST_OLDER])
            for passage in passages
        }
    return {citation: older for citation, older in by_citation.items() if older}


def _of(snapshot: Snapshot, passage: RankedPassage, scope: Scope) -> list[Superseded]:
    own = Quotation(passage.about._replace(start_line=passage.start_line), passage.text)
    chunks = near(snapshot, [own], scope)
    newer = corrections(snapshot, [own], chunks)
    lines = _lines_of(passage)
    result = dict[tuple[str, str, int], Superseded]()
    for chunk in chunks:
        about = chunk.about
        for line, (correction, *_), _ in newer.by_line(chunk):
            at = line or about.start_line
            by = lines.get((correction.path, correction.start_line), correction.start_line)
            result[about.source, about.path, at] = Superseded(
                about.source, about.path, at, at, about.date or "", _claim(chunk, at), by
            )
    return sorted(result.values(), key=lambda older: (older.date, older.citation), reverse=True)


def _lines_of(passage: RankedPassage) -> dict[tuple[str, int], int]:
    """Return the line of a summary that quotes each cited line, by its path and number."""
    if not passage.about.is_summary:
        return {}
    cites = cited_lines(passage.text, passage.about.heading_path)
    return {(cite.path, cite.first): passage.start_line + number - 1 for number, cite in cites}


def _claim(chunk: Quotation, line: int) -> str:
    """Return the whole sentence or item that begins at a line of a document."""
    at = line - chunk.about.start_line
    item = item_at(chunk.text, at) or range(at, at + 1)
    return read_line(" ".join(chunk.text.split("\n")[item.start : item.stop])).text
