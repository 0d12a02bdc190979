"""Find the older lines that a passage corrects, and the newer lines that correct given lines.

Both come from the index, even if files have changed since.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from operator import itemgetter

from memcli.checking import TYPE_CHECKING
from memcli.errors import BusyError, IndexMissingError, StoreError
from memcli.language.compared_line import read_line
from memcli.markdown.lineage import cited_lines
from memcli.record import Record
from memcli.search.claims import item_at
from memcli.search.corrections import corrections, linking, near
from memcli.search.ranked import Correction, Quotation, RankedPassage
from memcli.search.recall import scope_within
from memcli.store.records import Key, Scope
from memcli.types import OPEN_SCOPES, Filters, cite

if TYPE_CHECKING:
    from memcli.api.workspace import Workspace
    from memcli.api.workspaces import DocumentOwner, Workspaces
    from memcli.history.differences import MemoryPassage
    from memcli.store.port import Snapshot
    from memcli.types import Excerpt

MOST_OLDER = 3  # older lines shown per passage
AT_ONCE = 4  # passages in one lookup; with more, the words of some find nothing
MOST_TIMES = 50  # lookups; if there are more passages, more are looked up together
NO_INDEX = (IndexMissingError, BusyError, StoreError)


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
    first: dict[Correction, int] = {}
    with suppress(*NO_INDEX), workspace.store.snapshot() as snapshot:
        chunks = snapshot.excerpts_of([document], Scope())
        for _, older, newer in _corrected(snapshot, chunks, {document: [lines]}, is_own=is_own):
            first.setdefault(newer, older.start)
    return sorted(((line, newer) for newer, line in first.items()), key=itemgetter(0))


def corrections_of_changes(
    memory: Workspaces, passages: Iterable[MemoryPassage]
) -> dict[MemoryPassage, tuple[Correction, ...]]:
    """Return the newer lines that correct passages whose text is still in their documents.

    `line` of a correction is a line of the passage, or 0 if it corrects the whole passage. The
    newest comes first.
    """
    owners: dict[str, tuple[DocumentOwner, dict[Key, list[MemoryPassage]]]] = {}
    for passage in dict.fromkeys(passages):
        owner = memory.owner_of(passage.citation)
        source, path = passage.name
        _, documents = owners.setdefault(owner.before, (owner, {}))
        documents.setdefault((source.removeprefix(owner.before), path), []).append(passage)
    result: dict[MemoryPassage, set[Correction]] = {}
    for owner, documents in owners.values():
        with suppress(*NO_INDEX), owner.workspace.store.snapshot() as snapshot:
            for passage, newer in _correcting(snapshot, documents, is_own=owner.is_own):
                named = newer._replace(source=owner.before + newer.source)
                result.setdefault(passage, set()).add(named)
    return {
        passage: tuple(sorted(newer, key=lambda each: (each.date, *each), reverse=True))
        for passage, newer in result.items()
    }


def _correcting(
    snapshot: Snapshot, documents: Mapping[Key, Sequence[MemoryPassage]], *, is_own: bool
) -> Iterator[tuple[MemoryPassage, Correction]]:
    """Yield the passages of some documents with the newer lines that correct them."""
    places: dict[Key, list[tuple[MemoryPassage, range]]] = {}
    chunks = snapshot.excerpts_of(sorted(documents), Scope())
    for document, group in groupby(chunks, key=lambda each: each.about.document):
        lines = {
            number: "".join(line.split())
            for chunk in group
            for number, line in enumerate(chunk.text.split("\n"), start=chunk.about.start_line)
        }
        places[document] = list(_located(documents[document], lines))
    runs = {document: [place for _, place in own] for document, own in places.items()}
    for document, older, newer in _corrected(snapshot, chunks, runs, is_own=is_own):
        for passage, place in places[document]:
            if place.start < older.stop and older.start < place.stop:
                is_part = len(older) == 1 < len(place)
                line = older.start - place.start + passage.start_line if is_part else 0
                yield passage, newer._replace(line=line)


def _corrected(
    snapshot: Snapshot,
    excerpts: Iterable[Excerpt],
    lines: Mapping[Key, Iterable[range]],
    *,
    is_own: bool,
) -> Iterator[tuple[Key, range, Correction]]:
    """Yield the corrected lines among some lines, each with a line that corrects it."""
    scope = Scope() if is_own else Scope(Filters(scopes=OPEN_SCOPES))
    known: dict[Key, list[Quotation]] = {}
    for each in excerpts:
        known.setdefault(each.about.document, []).append(Quotation(each.about, each.text))
    older = [
        (chunk, passage)
        for document, chunks in known.items()
        for chunk in chunks
        for each in lines[document]
        if (passage := _cut(chunk, each))
    ]
    at_once = max(AT_ONCE, -(-len(older) // MOST_TIMES))
    for at in range(0, len(older), at_once):
        chunks, passages = zip(*older[at : at + at_once], strict=True)
        links = linking(snapshot, (each.about.document for each in passages), scope)
        pool = [*near(snapshot, passages, scope), *links, *chunks]
        newer = corrections(snapshot, pool, passages, known)
        for passage in passages:
            about = passage.about
            for line, later in newer.pairs(passage):
                first, last = (line, line) if line else (about.start_line, about.end_line)
                yield about.document, range(first, last + 1), later


def _cut(chunk: Quotation, lines: range) -> Quotation | None:
    """Return some lines of a document as far as they are in a chunk."""
    about = chunk.about
    first, end = max(about.start_line, lines.start), min(about.end_line + 1, lines.stop)
    if first >= end:
        return None
    text = chunk.text.split("\n")[first - about.start_line : end - about.start_line]
    return Quotation(about._replace(start_line=first, end_line=end - 1), "\n".join(text))


def _located(
    passages: Iterable[MemoryPassage], lines: Mapping[int, str]
) -> Iterator[tuple[MemoryPassage, range]]:
    """Yield passages whose text is still in the document, with lines nearest to the old place."""
    numbers: dict[str, list[int]] = {}
    for number, line in lines.items():
        numbers.setdefault(line, []).append(number)
    for passage in passages:
        text = ["".join(line.split()) for line in passage.text.split("\n")]
        places = (range(first, first + len(text)) for first in numbers.get(text[0], ()))
        same = [place for place in places if [lines.get(at, "") for at in place] == text]
        if same:
            yield passage, min(same, key=lambda place: abs(place.start - passage.start_line))


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
