"""Find the older lines that a passage corrects, and the newer lines that correct given lines.

Both come from the index, even if files have changed since.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import groupby

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
from memcli.types import OPEN_SCOPES, Filters, cite, shown

if TYPE_CHECKING:
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
    memory: Workspaces, document: Key, lines: Sequence[range], *, until: str | None = None
) -> list[tuple[range, Correction]]:
    """Return the corrected lines among some lines of a document, in their order.

    Each run of lines comes with a newer line, until a day, that corrects it. Blank lines do not
    end a run. Without an index there are none.
    """
    owner = memory.owner_of(shown(*document))
    key = document[0].removeprefix(owner.before), document[1]
    corrected: dict[Correction, set[int]] = {}
    stated: list[int] = []
    with suppress(*NO_INDEX), owner.workspace.store.snapshot() as snapshot:
        chunks = snapshot.excerpts_of([key], Scope())
        stated = sorted(number for number, text in _lines_in(chunks).items() if text)
        places = _corrected(snapshot, chunks, {key: lines}, is_own=owner.is_own, until=until)
        for _, older, newer in places:
            named = newer._replace(source=owner.before + newer.source)
            corrected.setdefault(named, set()).update(older)
    runs = (
        (range(first, (first, *rest)[-1] + 1), newer)
        for newer, numbers in corrected.items()
        for is_in, (first, *rest) in groupby(stated, numbers.__contains__)
        if is_in
    )
    return sorted(runs, key=lambda each: (each[0].start, each[1].date))


def corrections_around(
    memory: Workspaces, passages: Iterable[RankedPassage], lines: int, *, until: str | None
) -> dict[Key, list[tuple[range, Correction]]]:
    """Return what corrects passages and so many lines around each, by document."""
    places: dict[Key, list[range]] = {}
    for each in passages:
        there = range(each.start_line - lines, each.end_line + lines + 1)
        places.setdefault(each.about.document, []).append(there)
    return {own: corrections_in(memory, own, there, until=until) for own, there in places.items()}


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
        places[document] = list(_located(documents[document], _lines_in(group)))
    runs = {document: [place for _, place in own] for document, own in places.items()}
    for document, older, newer in _corrected(snapshot, chunks, runs, is_own=is_own):
        for passage, place in places[document]:
            if place.start < older.stop and older.start < place.stop:
                is_part = place.start < older.start or older.stop < place.stop
                line = max(0, older.start - place.start) + passage.start_line if is_part else 0
                yield passage, newer._replace(line=line)


def _corrected(
    snapshot: Snapshot,
    excerpts: Iterable[Excerpt],
    lines: Mapping[Key, Sequence[range]],
    *,
    is_own: bool,
    until: str | None = None,
) -> Iterator[tuple[Key, range, Correction]]:
    """Yield the corrected items among some lines, each with a line that corrects it.

    With `is_own`, private notes may be named.
    """
    scope = Scope(Filters(until=until, scopes=() if is_own else OPEN_SCOPES))
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
            about, first = passage.about, passage.about.start_line
            for line, later in newer.pairs(passage):
                item = _item_at(passage, line) if line else range(first, about.end_line + 1)
                yield about.document, item, later


def _cut(chunk: Quotation, lines: range) -> Quotation | None:
    """Return the items of some lines of a document as far as they are in a chunk."""
    about = chunk.about
    first, end = max(about.start_line, lines.start), min(about.end_line + 1, lines.stop)
    if first >= end:
        return None
    first, end = _item_at(chunk, first).start, _item_at(chunk, end - 1).stop
    text = chunk.text.split("\n")[first - about.start_line : end - about.start_line]
    return Quotation(about._replace(start_line=first, end_line=end - 1), "\n".join(text))


def _item_at(text: Quotation, line: int) -> range:
    """Return the lines of the item or paragraph with a line of a document, or only this line."""
    first = text.about.start_line
    item = item_at(text.text, line - first) or range(line - first, line + 1 - first)
    return range(first + item.start, first + item.stop)


def _lines_in(chunks: Iterable[Excerpt]) -> dict[int, str]:
    """Return the lines of some chunks without their spaces, by number."""
    return {
        number: "".join(line.split())
        for chunk in chunks
        for number, line in enumerate(chunk.text.split("\n"), start=chunk.about.start_line)
    }


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
    item, first = _item_at(chunk, line), chunk.about.start_line
    return read_line(" ".join(chunk.text.split("\n")[item.start - first : item.stop - first])).text
