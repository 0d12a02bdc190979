"""Write, delete and read back the rows of one document."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

from memcli.checking import TYPE_CHECKING, Any
from memcli.digests import blake2b
from memcli.markdown.names import headings_of
from memcli.markdown.properties import properties
from memcli.markdown.segments import digest
from memcli.store.documents import CHUNK, DOCUMENT, chunk_of, chunk_row, document_of, document_row
from memcli.store.postgres.statements import Statement
from memcli.store.postgres.tsvector import cut_of, stored_words
from memcli.types import Chunk, Document, Segment

if TYPE_CHECKING:
    from memcli.store.postgres.libpq import Connection
    from memcli.store.records import Key
    from memcli.store.run_records import Stamp

# Columns of the rows that are inserted together.
_COLUMNS = {
    "chunks": ("id", "document", "anchor", "text_hash", "text", *CHUNK),
    "keywords": ("chunk", "length", "whole", "words"),
    "parts": ("chunk", "no", "start_line", "end_line", "start", "end", "prefix", "hash"),
    "properties": ("document", "key", "value"),
    "speakers": ("name", "document"),
    "lineage": ("document", "no", "path", "start_line", "end_line", "hash", "checked", "matches"),
}


def encoder_of(fingerprint: str) -> int:
    """Return the number of an encoder, which fits a 64-bit column."""
    digest = blake2b(fingerprint.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def comparable(value: str | int | float) -> str:
    """Write a value of front matter as text; only equal values become equal texts."""
    if isinstance(value, str):
        return f"s{value}"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return f"n{value!r}"


def inserting(table: str, workspace: int, rows: Sequence[Sequence[Any]]) -> Statement:
    """Insert rows of a table, with the columns in the order above."""
    names = _COLUMNS[table]
    records = [dict(zip(names, map(_json, row), strict=True)) for row in rows]
    columns = ", ".join(f'"{name}"' for name in names)
    return Statement(
        f"insert into memcli.{table} (workspace, {columns}) select $1, {columns}"
        f" from json_populate_recordset(null::memcli.{table}, $2::json)",
        (workspace, json.dumps(records, ensure_ascii=False)),
    )


def _json(value: object) -> object:
    if isinstance(value, str):
        return value.replace("\0", "\ufffd")
    return f"\\x{value.hex()}" if isinstance(value, bytes) else value


def dropping(workspace: int, key: Key) -> Statement:
    """Delete a document and its rows; return the number of chunks, of words, and the hashes."""
    return Statement(
        "with gone as (select id from memcli.documents where workspace = $1 and source = $2"
        " and path = $3), held as (select c.id, k.length from gone join memcli.chunks c"
        " on c.workspace = $1 and c.document = gone.id join memcli.keywords k"
        " on k.workspace = $1 and k.chunk = c.id), deleted as materialized"
        " (select memcli.drop_documents($1, array_agg(id)) from gone)"
        " select (select count(*) from held), (select coalesce(sum(length), 0)::bigint from held),"
        " (select coalesce(json_agg(distinct encode(p.hash, 'hex')), '[]') from held"
        " join memcli.parts p on p.workspace = $1 and p.chunk = held.id)"
        " from deleted",
        (workspace, *key),
    )


def putting(
    workspace: int, own: int, document: Document, stamp: Stamp, skip: str
) -> tuple[list[Statement], int]:
    """Insert a document with the number `own` and its chunks, numbered from the next one.

    The second value is the number of words.
    """
    chunks, keywords, segments = [], [], []
    words = 0
    for number, chunk in enumerate(document.chunks, start=own + 1):
        named_by = "" if chunk.ordinal else document.front_matter
        headings = headings_of(document.title, document.path, named_by, chunk.heading_path)
        stored = stored_words(cut_of(headings, chunk.text))
        words += stored.length
        keywords.append((number, *stored))
        chunks.append(
            (number, own, chunk.anchor, digest(chunk.text), chunk.text, *chunk_row(chunk))
        )
        segments += [
            (number, place, p.start_line, p.end_line, p.start, p.end, p.prefix, p.hash)
            for place, p in enumerate(chunk.segments)
        ]
    metadata = json.loads(document.front_matter)
    names = {turn.speaker for chunk in document.chunks for turn in chunk.turns}
    many = {
        "chunks": chunks,
        "keywords": keywords,
        "parts": segments,
        "properties": [(own, key, comparable(value)) for key, value in properties(metadata)],
        "speakers": [(name, own) for name in sorted(names)],
        "lineage": [
            (own, place, *lines, None, False)
            for place, lines in enumerate(document.lineage.sources if document.lineage else ())
        ],
    }
    marks = ", ".join(f"${at}" for at in range(1, len(DOCUMENT) + 3))
    inserting_document = Statement(
        f"insert into memcli.documents (workspace, id, {', '.join(DOCUMENT)}) values ({marks})",
        (workspace, own, *document_row(document, stamp, skip)),
    )
    others = [inserting(table, workspace, rows) for table, rows in many.items() if rows]
    return [inserting_document, *others], words


LOT = 100  # documents in memory at once


def read_documents(
    connection: Connection, workspace: int, keys: Iterable[Key]
) -> Iterator[tuple[Document, Stamp, str]]:
    """Read documents back as they were stored: each with its stamp and its skip reason."""
    every = [*keys]
    for at in range(0, len(every), LOT):
        rows = connection.rows(
            f"select id, {', '.join(DOCUMENT)} from memcli.documents where workspace = $1 and"
            " (source, path) in (select e ->> 0, e ->> 1 from json_array_elements($2::json) e)",
            (workspace, json.dumps(every[at : at + LOT], ensure_ascii=False)),
        )
        chunks = _chunks(connection, workspace, [number for number, *_ in rows])
        for number, *row in rows:
            yield document_of(row, chunks.get(number, []))


def _chunks(
    connection: Connection, workspace: int, documents: Sequence[int]
) -> dict[int, list[Chunk]]:
    segments: dict[int, list[Segment]] = {}
    for chunk, *row in connection.rows(
        'select p.chunk, p.start_line, p.end_line, p."start", p."end", p.prefix, p.hash'
        " from memcli.chunks c join memcli.parts p on p.workspace = c.workspace and p.chunk = c.id"
        " where c.workspace = $1 and c.document = any($2::bigint[]) order by p.chunk, p.no",
        (workspace, documents),
    ):
        segments.setdefault(chunk, []).append(Segment(*row))
    by_document: dict[int, list[Chunk]] = {}
    for number, document, anchor, text, *row in connection.rows(
        f"select id, document, anchor, text, {', '.join(CHUNK)} from memcli.chunks"
        " where workspace = $1 and document = any($2::bigint[]) order by document, ordinal",
        (workspace, documents),
    ):
        fields = dict(zip(CHUNK, row, strict=True), anchor=anchor, text=text)
        chunk = chunk_of(fields, segments.get(number, ()))
        by_document.setdefault(document, []).append(chunk)
    return by_document
