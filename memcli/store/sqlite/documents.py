"""The rows of one document and its lineage: put, read and counted on an open connection."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache

import apsw

from memcli.checking import TYPE_CHECKING, Any
from memcli.language.words import prepare
from memcli.markdown.comments import visible
from memcli.store.records import EMBEDDED_AT, Counts, Facts, Key, LineCheck, Support, counts_at
from memcli.store.sqlite import driver, schema
from memcli.types import MEMORY_SOURCE, Chunk, Document, KnownFile, Segment, SourceLines

if TYPE_CHECKING:
    from memcli.store.run_records import Stamp


def meta(connection: apsw.Connection, key: str) -> str | None:
    """Read a `meta` value."""
    result = driver.rows(connection, "SELECT value FROM meta WHERE key = ?", (key,))
    return result[0][0] if result else None


DOCUMENT_ID = "(SELECT id FROM documents WHERE source = ? AND path = ?)"
_NUMBERS = ("size", "mtime_ns", "ctime_ns", "inode", "indexed_ns")
_KNOWN = {
    **{"source": driver.TEXT, "path": driver.TEXT, "hash": driver.BLOB},
    **dict.fromkeys(_NUMBERS, driver.WHOLE),
}


class StoredRows:
    """The rows of an open index that its readers and its writer both need."""

    def __init__(self, path: str, connection: apsw.Connection) -> None:
        self.path, self.connection = path, connection

    @property
    def facts(self) -> Facts:
        """Return the facts of the index; `meta` contains more, for its own use."""
        with driver.understood(self.path):
            values = dict(self._typed({"key": driver.TEXT, "value": driver.TEXT}, "FROM meta"))
            facts = Facts(**{name: values[name] for name in Facts._fields if name in values})
            dimension = None if facts.dimension is None else int(facts.dimension)
            return facts._replace(revision=int(facts.revision), dimension=dimension)

    def fact(self, key: str) -> str | None:
        """Read a `meta` value."""
        with driver.understood(self.path):
            return meta(self.connection, key)

    def known(self) -> dict[Key, KnownFile]:
        result = self._typed(_KNOWN, "FROM documents")
        return {(source, path): KnownFile(*remembered) for source, path, *remembered in result}

    def counts(self) -> Counts:
        with driver.understood(self.path):
            revision, embedded_at = (meta(self.connection, k) for k in ("revision", EMBEDDED_AT))
            counts = counts_at(revision or "0", embedded_at or "")
            if counts is not None:  # without reading each row
                return counts
            documents, chunks, segments, left_out = self._count_rows()
            ((embedded,),) = self._rows(
                "SELECT count(*) FROM parts p JOIN vectors v ON v.hash = p.hash"
                f" AND v.encoder = {schema.ENCODER}"
            )
            return Counts(documents, chunks, segments, embedded, left_out)

    def _count_rows(self) -> tuple[int, int, int, int]:
        ((documents, chunks, segments, left_out),) = self._rows(
            "SELECT (SELECT count(*) FROM documents WHERE skip = ''),"
            " (SELECT count(*) FROM chunks), (SELECT count(*) FROM parts),"
            " (SELECT count(*) FROM unread u JOIN parts p ON p.hash = u.hash"
            f" WHERE u.encoder = {schema.ENCODER})"
        )
        return documents, chunks, segments, left_out

    def integrity(self) -> str:
        return schema.first_fault(self.connection, self.path)

    def supports(self) -> list[Support]:
        result = self._rows(
            "SELECT d.path, l.matches AND l.checked IS s.hash, l.path, l.start_line, l.end_line,"
            " l.hash FROM lineage l JOIN documents d ON d.id = l.document_id"
            " LEFT JOIN documents s ON s.source = ?1 AND s.path = l.path"
            " WHERE d.source = ?1 ORDER BY d.path, l.path, l.start_line, l.end_line",
            (MEMORY_SOURCE,),
        )
        return [
            Support(summary, SourceLines(*lines), bool(holds)) for summary, holds, *lines in result
        ]

    def unchecked(self) -> list[str]:
        # The lines may be in another file now, so a file that the front matter names counts, too.
        result = self._rows(
            "SELECT d.path FROM documents d WHERE d.source = ?1 AND ("
            "EXISTS (SELECT 1 FROM lineage l LEFT JOIN documents s ON s.source = ?1"
            " AND s.path = l.path WHERE l.document_id = d.id"
            " AND (s.hash IS NULL OR l.checked IS NOT s.hash))"
            " OR EXISTS (SELECT 1 FROM lineage l JOIN json_each(d.front_matter, '$.lineage') w"
            " JOIN documents s ON s.source = ?1 AND s.path = w.value ->> 'path'"
            " WHERE l.document_id = d.id AND s.path NOT IN"
            " (SELECT path FROM lineage WHERE document_id = d.id)))"
            " AND d.id IN (SELECT document_id FROM lineage) ORDER BY d.path",
            (MEMORY_SOURCE,),
        )
        return [path for (path,) in result]

    def line_checks(self, summary: str) -> list[LineCheck]:
        result = self._rows(
            "SELECT checked, matches, path, start_line, end_line, hash FROM lineage"
            f" WHERE document_id = {DOCUMENT_ID} ORDER BY rowid",
            (MEMORY_SOURCE, summary),
        )
        return [LineCheck(SourceLines(*lines), file, bool(holds)) for file, holds, *lines in result]

    def _rows(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with driver.understood(self.path):
            return driver.rows(self.connection, sql, values)

    def _typed(
        self, columns: Mapping[str, driver.ColumnType], tail: str, values: Sequence[Any] = ()
    ) -> list[tuple[Any, ...]]:
        with driver.understood(self.path):
            return driver.typed_rows(self.connection, columns, tail, values)


def put_document(connection: apsw.Connection, document: Document, stamp: Stamp, skip: str) -> None:
    """Insert or update the row of a document and insert its chunks; the caller drops old ones."""
    from memcli.store.documents import DOCUMENT, document_row

    changes = ", ".join(f"{name} = excluded.{name}" for name in DOCUMENT[2:])
    connection.execute(
        f"INSERT INTO documents ({', '.join(DOCUMENT)}) VALUES ({','.join('?' * len(DOCUMENT))})"
        f" ON CONFLICT (source, path) DO UPDATE SET {changes}",
        document_row(document, stamp, skip),
    )
    ((document_id, last),) = driver.rows(
        connection,
        "SELECT id, (SELECT coalesce(max(id), 0) FROM chunks) FROM documents"
        " WHERE source = ? AND path = ?",
        (document.source, document.path),
    )
    _put_chunks(connection, document_id, document, last + 1)
    lineage = document.lineage.sources if document.lineage else ()
    replace_rows(connection, "lineage", "path, start_line, end_line, hash", document_id, lineage)
    pairs: Iterable[tuple[str, Any]] = ()
    if document.front_matter != "{}":
        from memcli.markdown.properties import properties

        pairs = properties(json.loads(document.front_matter))
    replace_rows(connection, "properties", "key, value", document_id, pairs)
    names = {turn.speaker for chunk in document.chunks for turn in chunk.turns}
    speakers = [(name,) for name in sorted(names)]
    replace_rows(connection, "speakers", "name", document_id, speakers)


def replace_rows(
    connection: apsw.Connection,
    table: str,
    columns: str,
    document_id: int,
    values: Iterable[Sequence[Any]],
) -> None:
    """Replace the rows that a table has of a document."""
    connection.execute(f"DELETE FROM {table} WHERE document_id = ?", (document_id,))
    marks = ", ?" * len(columns.split(","))
    connection.executemany(
        f"INSERT INTO {table} (document_id, {columns}) VALUES (?{marks})",
        [(document_id, *row) for row in values],
    )


def _put_chunks(
    connection: apsw.Connection, document_id: int, document: Document, first: int
) -> None:
    """Insert the chunks of a document with their words and segments, numbered from `first`."""
    from memcli.markdown.names import headings_of
    from memcli.markdown.segments import place_of
    from memcli.store.documents import CHUNK, chunk_row

    numbered = list(enumerate(document.chunks, start=first))
    columns = ("id", "document_id", "repeat", "text", *CHUNK)
    connection.executemany(
        f"INSERT INTO chunks ({', '.join(columns)}) VALUES ({','.join('?' * len(columns))})",
        (
            (
                number,
                document_id,
                chunk.anchor.removeprefix(place_of(chunk.heading_path)),
                driver.deflated(chunk.text),
                *chunk_row(chunk),
            )
            for number, chunk in numbered
        ),
    )
    named_by = document.front_matter  # of the first chunk
    words = []
    for number, chunk in numbered:
        headings = headings_of(document.title, document.path, named_by, chunk.heading_path)
        words.append((prepare(" ".join(headings)), prepare(visible(chunk.text)), number))
        named_by = ""
    connection.executemany("INSERT INTO fts (heading, body, rowid) VALUES (?, ?, ?)", words)
    packed = cache(driver.deflated)  # most prefixes are empty or repeated
    connection.executemany(
        'INSERT INTO parts (chunk_id, no, start_line, end_line, start, "end", prefix, hash)'
        " VALUES (?,?,?,?,?,?,?,?)",
        (
            (number, no, p.start_line, p.end_line, p.start, p.end, packed(p.prefix), p.hash)
            for number, chunk in numbered
            for no, p in enumerate(chunk.segments)
        ),
    )


def read_document(connection: apsw.Connection, key: Key) -> tuple[Document, Stamp, str]:
    """Read one document as it was stored, with its stamp and its skip reason."""
    from memcli.store.documents import DOCUMENT, document_of

    ((document_id, *row),) = driver.rows(
        connection,
        f"SELECT id, {', '.join(DOCUMENT)} FROM documents WHERE source = ? AND path = ?",
        key,
    )
    return document_of(row, _chunks(connection, document_id))


_SEGMENTS = (
    f'SELECT start_line, end_line, start, "end", {driver.plain("prefix")}, hash FROM parts'
    " WHERE chunk_id = ? ORDER BY no"
)


def _chunks(connection: apsw.Connection, document_id: int) -> list[Chunk]:
    from memcli.markdown.segments import place_of
    from memcli.store.documents import CHUNK, chunk_of

    result = driver.rows(
        connection,
        f"SELECT id, repeat, {driver.plain('text')}, {', '.join(CHUNK)} FROM chunks"
        " WHERE document_id = ? ORDER BY ordinal",
        (document_id,),
    )
    chunks = []
    for chunk_id, repeat, text, *row in result:
        fields = dict(zip(CHUNK, row, strict=True), text=text)
        fields["anchor"] = place_of(json.loads(fields["heading_path"])) + repeat
        segments = driver.rows(connection, _SEGMENTS, (chunk_id,))
        chunks.append(chunk_of(fields, [Segment(*segment) for segment in segments]))
    return chunks
