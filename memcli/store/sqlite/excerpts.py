"""Read chunks and their documents; the columns of a row are defined once, by field."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import date
from itertools import groupby

import apsw

from memcli.checking import TYPE_CHECKING, Any
from memcli.markdown.segments import place_of
from memcli.record import Record
from memcli.store.records import MOST_DAYS, ChunkLines, First, Key, Scope, checked_object, strings
from memcli.store.sqlite.documents import StoredRows
from memcli.store.sqlite.driver import TEXT, WHOLE, ColumnType, marks, plain, typed_rows, understood
from memcli.store.sqlite.filters import within
from memcli.types import SCOPES, TRUSTS, About, Excerpt, Lines, Turn

if TYPE_CHECKING:
    from memcli.store.documents import AlwaysDocument, IndexedDocument, Linking, TitledDocument


DAY = ColumnType((str, type(None)), date.fromisoformat)
SCOPE, TRUST = ColumnType((str,), SCOPES.index), ColumnType((str,), TRUSTS.index)
SHARE = ColumnType((float, int, type(None)))
FRONT_MATTER = ColumnType((str,), checked_object)
# Columns of chunks c of documents d, in the order of the fields they fill. An anchor is stored as
# what follows the headings: "" or `~2`.
ABOUT = {
    "c.id": WHOLE, "d.source": TEXT, "d.path": TEXT, "c.repeat": TEXT, "c.heading_path": TEXT,
    "d.title": TEXT, "c.start_line": WHOLE, "c.end_line": WHOLE, "c.date": DAY, "d.date": DAY,
    "d.kind": TEXT, "d.scope": SCOPE, "d.source_kind": TEXT, "d.trust": TRUST, "c.first_day": DAY,
}  # fmt: skip
_TEXT = plain("c.text")
_EXCERPT = {_TEXT: TEXT, "c.start_byte": WHOLE, "c.end_byte": WHOLE, "c.ordinal": WHOLE}
_DOCUMENT = {
    "d.source": TEXT, "d.path": TEXT, "d.title": TEXT, "d.date": DAY, "d.first_day": DAY,
    "d.kind": TEXT, "d.scope": SCOPE, "d.trust": TRUST, "d.authority": SHARE,
    "d.importance": SHARE, "d.front_matter": FRONT_MATTER, "d.skip": TEXT, "n.chunks": WHOLE,
}  # fmt: skip
# How to order the first documents, before source and path; undated ones come last.
FIRST = {"path": "", "date": "d.date IS NULL, d.date, ", "newest": "d.date IS NULL, d.date DESC, "}
# Columns of a chunk that ranking needs, after those that describe it.
_RANKED = {
    "c.tokens": WHOLE, _TEXT: TEXT, "d.authority": SHARE, "d.importance": SHARE,
    "c.ordinal": WHOLE, "CASE c.ordinal WHEN 0 THEN d.front_matter ELSE '' END": TEXT,
}  # fmt: skip
_PARTS = {
    "p.chunk_id": WHOLE, "v.id": ColumnType((int, type(None))),
    "p.start_line": WHOLE, "p.end_line": WHOLE, "p.start": WHOLE, 'p."end"': WHOLE,
}  # fmt: skip
_REPEAT, _HEADINGS = map(tuple(ABOUT).index, ("c.repeat", "c.heading_path"))  # neighbours
CHUNKS = "FROM chunks c JOIN documents d ON d.id = c.document_id"


class ChunkRow(Record):
    """A stored chunk with everything that ranking needs except scores."""

    about: About
    tokens: int
    text: str
    authority: float | None
    importance: float | None
    ordinal: int  # of the chunk in its document, from 0
    named_by: str  # see `Candidate.named_by`
    # For each segment: number of its vector, first and last line, characters.
    segments: Sequence[tuple[int | None, int, int, int, int]]


# One step of the index for each name, however many documents contain it.
_NAMES = """
WITH RECURSIVE names (name) AS (
  SELECT min(name) FROM speakers
  UNION ALL
  SELECT (SELECT min(s.name) FROM speakers s WHERE s.name > names.name) FROM names
  WHERE names.name IS NOT NULL
)
SELECT name FROM names WHERE name IS NOT NULL
"""
_BUT = " AND name IN (SELECT s.name FROM speakers s, documents d ON d.id = s.document_id"
_BUT += " WHERE d.scope <> ?)"


class StoredChunks(StoredRows):
    """The methods of a `port.Snapshot` that read chunks and documents."""

    def excerpts(self, chunk_ids: Sequence[int]) -> dict[int, Excerpt]:
        result = self._read(f"WHERE c.id IN ({marks(chunk_ids)})", chunk_ids)
        return {excerpt.about.chunk_id: excerpt for excerpt in result}

    def excerpts_of(self, documents: Sequence[Key], scope: Scope) -> list[Excerpt]:
        test, values = within(scope)
        return self._read(
            "JOIN json_each(?) w ON d.source = w.value ->> 0 AND d.path = w.value ->> 1"
            f"{f' WHERE {test}' if test else ''} ORDER BY d.source, d.path, c.ordinal",
            (json.dumps(documents), *values),
        )

    def newest(self, scope: Scope) -> Iterator[Excerpt]:
        test, values = within(scope)
        tested = f" AND {test}" if test else ""
        documents = self._rows(
            "SELECT d.id FROM documents d WHERE d.date IS NOT NULL AND NOT d.always AND NOT d.soft"
            f" AND EXISTS (SELECT 1 FROM chunks c WHERE c.document_id = d.id{tested})"
            " ORDER BY d.date DESC, d.path DESC, d.source DESC",
            values,
        )
        for document in documents:
            yield from self._read(
                f"WHERE d.id = ?{tested} ORDER BY c.ordinal DESC", (*document, *values)
            )

    def marked(self, *, soft: bool) -> list[AlwaysDocument]:
        from memcli.store.documents import AlwaysDocument

        which = "soft AND NOT always" if soft else "always"
        columns = {"d.source": TEXT, "d.path": TEXT, "d.authority": SHARE}
        weights = self._typed(columns, f"FROM documents d WHERE {which}")
        authorities = {(source, path): authority for source, path, authority in weights}
        # Documents come first: otherwise SQLite reads every chunk to find its document.
        result = self._read(
            f"WHERE d.id IN (SELECT id FROM documents WHERE {which})"
            " ORDER BY d.source, d.path, c.ordinal"
        )
        runs = groupby(result, lambda excerpt: excerpt.about.document)
        return [AlwaysDocument(authorities[document], tuple(run)) for document, run in runs]

    def documents(self, scope: Scope, first: First | None = None) -> list[IndexedDocument]:
        test, values = within(scope)
        bare, of_bare = within(scope, "d")
        chunks = f"{CHUNKS} WHERE {test}" if test else "FROM chunks c"
        total, ending, limit = "0", "ORDER BY d.source, d.path", []
        if first is not None:
            total, limit = "count(*) OVER ()", [first.limit]
            ending = f"WHERE d.skip = '' ORDER BY {FIRST[first.order]}d.source, d.path LIMIT ?"
        result = self._typed(
            {**_DOCUMENT, total: WHOLE},
            f"FROM (SELECT c.document_id AS id, count(*) AS chunks {chunks} GROUP BY c.document_id"
            " UNION ALL SELECT d.id, 0 FROM documents d LEFT JOIN chunks c ON c.document_id = d.id"
            f" WHERE c.id IS NULL{bare and f' AND {bare}'}) n"
            f" JOIN documents d ON d.id = n.id {ending}",
            (*values, *of_bare, *limit),
        )
        if not result:  # a search lists the documents that replace others: mostly none
            return []
        from memcli.store.documents import IndexedDocument

        documents = [IndexedDocument._make(row) for row in result]
        spans = {(d.first_day, d.date) for d in documents if d.first_day and d.date}
        with understood(self.path):
            for day, last in spans:
                if not 0 <= (date.fromisoformat(last) - date.fromisoformat(day)).days < MOST_DAYS:
                    raise ValueError(f"{day} to {last} is no week, month or quarter")
        return documents

    def links(self, chunk_ids: Sequence[int]) -> dict[int, Linking]:
        from memcli.store.documents import Linking

        columns = {"c.id": WHOLE, "c.links": TEXT, "d.front_matter": FRONT_MATTER}
        result = self._typed(columns, f"{CHUNKS} WHERE c.id IN ({marks(chunk_ids)})", chunk_ids)
        with understood(self.path):
            return {chunk: Linking(strings(targets), matter) for chunk, targets, matter in result}

    def titles(self) -> list[TitledDocument]:
        from memcli.store.documents import TitledDocument

        columns = {"source": TEXT, "path": TEXT, "title": TEXT}
        return [TitledDocument._make(row) for row in self._typed(columns, "FROM documents")]

    def speakers(self, *, but: str | None = None) -> list[str]:
        if not self._rows("SELECT 1 FROM speakers LIMIT 1"):
            return []
        result = self._rows(_NAMES) if but is None else self._rows(_NAMES + _BUT, (but,))
        with understood(self.path):
            if any(type(name) is not str for (name,) in result):
                raise ValueError("speakers.name is no text")
        return [name for (name,) in result]

    def preferences(self, limit: int, scope: Scope) -> dict[int, tuple[Lines, ...]]:
        from memcli.store.documents import lines_of

        test, values = within(scope)
        result = self._typed(
            {"c.id": WHOLE, "c.preferences": TEXT},
            f"{CHUNKS} WHERE c.preferences <> '[]'{test and f' AND {test}'}"
            " ORDER BY c.date IS NOT NULL, c.date DESC, d.source, d.path, c.ordinal LIMIT ?",
            (*values, limit),
        )
        with understood(self.path):
            return {chunk_id: lines_of(text) for chunk_id, text in result}

    def _read(self, tail: str, values: Sequence[Any] = ()) -> list[Excerpt]:
        result = self._typed(ABOUT | _EXCERPT, f"{CHUNKS} {tail}", values)
        with understood(self.path):
            return [Excerpt(about(row), *row[len(ABOUT) :]) for row in result]


def chunk_rows(
    connection: apsw.Connection, chunk_ids: Sequence[int], fingerprint: str | None
) -> dict[int, ChunkRow]:
    """Read some chunks, with the numbers of the vectors of an encoder."""
    segments: dict[int, list[Any]] = {}
    for chunk_id, *segment in typed_rows(
        connection,
        _PARTS,
        "FROM parts p LEFT JOIN vectors v ON v.hash = p.hash"
        " AND v.encoder = (SELECT id FROM encoders WHERE fingerprint = ?)"
        f" WHERE p.chunk_id IN ({marks(chunk_ids)}) ORDER BY p.chunk_id, p.no",
        (fingerprint, *chunk_ids),
    ):
        segments.setdefault(chunk_id, []).append(segment)
    result = typed_rows(
        connection, ABOUT | _RANKED, f"{CHUNKS} WHERE c.id IN ({marks(chunk_ids)})", chunk_ids
    )
    start = len(ABOUT)
    return {
        row[0]: ChunkRow._make((about(row), *row[start:], segments.get(row[0], ())))
        for row in result
    }


def about(row: Sequence[Any]) -> About:
    """Describe a chunk from the first columns of a row."""
    headings = strings(row[_HEADINGS])
    anchor = place_of(headings) + row[_REPEAT]
    return About._make((*row[:_REPEAT], anchor, headings, *row[_HEADINGS + 1 : len(ABOUT)]))


def lines_of(connection: apsw.Connection, chunk_ids: Sequence[int]) -> dict[int, ChunkLines]:
    """Return whether chunks begin and end within a line, and their speakers.

    The chunks of a document are numbered in order. Between two lines there is at least the byte
    that ends a line.
    """
    beside = "LEFT JOIN chunks {0} ON {0}.document_id = c.document_id AND {0}.id = c.id"
    result = typed_rows(
        connection,
        {
            "c.id": WHOLE,
            "b.end_byte IS c.start_byte": WHOLE,
            "a.start_byte IS c.end_byte": WHOLE,
            "c.turns": TEXT,
        },
        f"FROM chunks c {beside.format('b')} - 1 {beside.format('a')} + 1"
        f" WHERE c.id IN ({marks(chunk_ids)})",
        chunk_ids,
    )
    return {
        chunk_id: ChunkLines((bool(before), bool(after)), _turns_of(turns))
        for chunk_id, before, after, turns in result
    }


def _turns_of(text: str) -> tuple[Turn, ...]:
    if text == "[]":  # most chunks; a search in notes need not load the module
        return ()
    from memcli.store.documents import turns_of

    return turns_of(text)
