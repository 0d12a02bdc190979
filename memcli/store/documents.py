"""Whole documents: what stores return of them, and how their rows are read; pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from memcli.checking import TYPE_CHECKING, Any
from memcli.record import Record
from memcli.types import SUMMARY, Chunk, Document, Excerpt, FileStat, Lines, Segment, Skip, Turn

if TYPE_CHECKING:
    from memcli.store.run_records import Stamp


class IndexedDocument(Record):
    """A document as it is stored."""

    source: str
    path: str
    title: str
    date: str | None
    first_day: str | None  # if the date is the last one of a span
    kind: str
    scope: str
    trust: str
    authority: float | None
    importance: float | None
    front_matter: str  # JSON
    skip: str  # why it has no text; empty if it has
    chunks: int  # how many of them are within reach
    total: int = 0  # documents that a list has without its limit, if it has one


class AlwaysDocument(Record):
    """A document that its author wants in every context."""

    authority: float | None
    excerpts: tuple[Excerpt, ...]  # its chunks, in order


class Linking(Record):
    """What a chunk links to, and the front matter of its document."""

    targets: tuple[str, ...]  # as they are written
    front_matter: str  # JSON


class TitledDocument(Record):
    """A document and its title."""

    source: str
    path: str
    title: str


class SourceCounts(Record):
    """How much a store contains of one source."""

    documents: int
    chunks: int
    first_date: str | None
    last_date: str | None


def turns_of(text: str) -> tuple[Turn, ...]:
    """Read turns as a chunk keeps them; a ValueError if it is anything else."""
    turns = tuple(Turn(*each) for each in json.loads(text))
    if any(tuple(map(type, turn)) != (int, int, str) for turn in turns):
        raise ValueError("chunks.turns holds something else")
    return turns


def lines_of(text: str) -> tuple[Lines, ...]:
    """Read the stored lines of preferences; a ValueError like that of turns."""
    lines = tuple((first, last) for first, last in json.loads(text))
    if any((type(first), type(last)) != (int, int) for first, last in lines):
        raise ValueError("chunks.preferences holds something else")
    return lines


# The columns of a document and of a chunk that have the same names and values in every store.
DOCUMENT = (
    "source", "path", "hash", "size", "mtime_ns", "ctime_ns", "inode", "indexed_ns", "title",
    "date", "first_day", "kind", "scope", "source_kind", "trust", "authority", "importance",
    "always", "soft", "front_matter", "skip",
)  # fmt: skip
CHUNK = (
    "ordinal", "heading_path", "start_line", "end_line", "start_byte", "end_byte", "tokens", "date",
    "first_day", "links", "turns", "preferences",
)  # fmt: skip


def document_row(document: Document, stamp: Stamp, skip: str) -> list[Any]:
    """Write the columns DOCUMENT."""
    fields = {**document._asdict(), **stamp.stat._asdict(), "hash": stamp.hash}
    fields |= {"indexed_ns": stamp.indexed_ns, "skip": skip}
    return [fields[name] for name in DOCUMENT]


def chunk_row(chunk: Chunk) -> list[Any]:
    """Write the columns CHUNK."""
    fields = chunk._asdict()
    for name in ("heading_path", "links", "preferences"):
        fields[name] = json.dumps(fields[name], ensure_ascii=False)
    fields["turns"] = turns_as_json(chunk.turns)
    return [fields[name] for name in CHUNK]


def turns_as_json(turns: Iterable[Turn]) -> str:
    """Write turns as a chunk stores them."""
    return json.dumps([tuple(turn) for turn in turns], ensure_ascii=False, separators=(",", ":"))


def chunk_of(columns: Mapping[str, Any], segments: Sequence[Segment]) -> Chunk:
    """Read a chunk from its columns, by the names of their fields."""
    lists = {name: tuple(json.loads(columns[name])) for name in ("heading_path", "links")}
    turns, preferences = turns_of(columns["turns"]), lines_of(columns["preferences"])
    fields = {**columns, **lists, "turns": turns, "preferences": preferences}
    return Chunk(**fields, segments=tuple(segments))


def document_of(row: Sequence[Any], chunks: Sequence[Chunk]) -> tuple[Document, Stamp, str]:
    """Read a document from the columns DOCUMENT: with its stamp, and why it has no text."""
    from memcli.store.run_records import Stamp

    columns = dict(zip(DOCUMENT, row, strict=True))
    fields = {name: columns[name] for name in Document._fields if name in columns}
    fields |= {name: bool(fields[name]) for name in ("always", "soft")}
    lineage = None
    if fields["kind"] == SUMMARY:
        from memcli.markdown.lineage import read_lineage

        lineage = read_lineage(json.loads(fields["front_matter"]))
    stat = FileStat(**{name: columns[name] for name in FileStat._fields})
    stamp = Stamp(stat, columns["hash"], columns["indexed_ns"])
    return Document(**fields, chunks=tuple(chunks), lineage=lineage), stamp, columns["skip"]


def in_order(documents: Iterable[IndexedDocument], order: str) -> list[IndexedDocument]:
    """Order documents by date, or the newest first; undated ones come last."""
    result = list(documents)
    if order == "path":
        return result
    dated = [document for document in result if document.date]
    dated.sort(key=lambda document: document.date or "", reverse=order == "newest")
    return dated + [document for document in result if not document.date]


def with_chunks(documents: Iterable[IndexedDocument]) -> list[IndexedDocument]:
    """Keep the documents that have a chunk within reach."""
    return [document for document in documents if document.chunks]


def counts_by_source(documents: Iterable[IndexedDocument]) -> dict[str, SourceCounts]:
    """Count documents and chunks and give the dates covered, by source."""
    by_source: dict[str, list[IndexedDocument]] = {}
    for document in documents:
        if not document.skip:
            by_source.setdefault(document.source, []).append(document)
    return {
        source: SourceCounts(
            len(own),
            sum(each.chunks for each in own),
            min((day for each in own if (day := each.first_day or each.date)), default=None),
            max((each.date for each in own if each.date), default=None),
        )
        for source, own in by_source.items()
    }


def documents_by_day(documents: Iterable[IndexedDocument]) -> dict[str, int]:
    """Count the dated documents by ISO date, those of a week or month on every day of it."""
    from datetime import date, timedelta

    counted: dict[str, int] = {}
    for document in documents:
        if document.date:
            last = date.fromisoformat(document.date)
            first = date.fromisoformat(document.first_day or document.date)
            for n in range((last - first).days + 1):
                day = (first + timedelta(n)).isoformat()
                counted[day] = counted.get(day, 0) + 1
    return counted


def skipped_files(documents: Iterable[IndexedDocument]) -> list[Skip]:
    """List the files whose content is not text."""
    return [Skip(each.source, each.path, each.skip) for each in documents if each.skip]
