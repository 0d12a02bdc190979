"""The keyword rows of one document: put, dropped and counted on an open connection."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import apsw

from memcli.markdown.comments import visible
from memcli.markdown.words import prepare
from memcli.store.sqlite import lineage
from memcli.store.sqlite.driver import rows
from memcli.types import SUMMARY, Chunk, Document, FileStat, Known, Part

# meta key: the revision at which every text had its vector, and how many documents, chunks and
# parts there were
EMBEDDED_AT = "embedded_at"


class Stamp(NamedTuple):
    """What identifies the file state a document was read from."""

    stat: FileStat
    hash: bytes
    indexed_ns: int


class Counts(NamedTuple):
    """How much the index holds."""

    documents: int
    chunks: int
    parts: int
    embedded: int  # parts with a vector of the index's own fingerprint


def put_document(connection: apsw.Connection, document: Document, stamp: Stamp, skip: str) -> None:
    """Insert or update the row of a document and insert its chunks; old ones are dropped before."""
    connection.execute(
        "INSERT INTO documents (source, path, hash, size, mtime_ns, ctime_ns, inode,"
        " indexed_ns, title, date, kind, scope, source_kind, trust, authority,"
        " importance, always, soft, front_matter, skip)"
        " VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
        " ON CONFLICT (source, path) DO UPDATE SET hash=excluded.hash,"
        " size=excluded.size, mtime_ns=excluded.mtime_ns, ctime_ns=excluded.ctime_ns,"
        " inode=excluded.inode, indexed_ns=excluded.indexed_ns, title=excluded.title,"
        " date=excluded.date, kind=excluded.kind, scope=excluded.scope,"
        " source_kind=excluded.source_kind, trust=excluded.trust,"
        " authority=excluded.authority, importance=excluded.importance,"
        " always=excluded.always, soft=excluded.soft, front_matter=excluded.front_matter,"
        " skip=excluded.skip",
        (
            document.source, document.path, stamp.hash, stamp.stat.size,
            stamp.stat.mtime_ns, stamp.stat.ctime_ns, stamp.stat.inode,
            stamp.indexed_ns, document.title, document.date, document.kind,
            document.scope, document.source_kind, document.trust, document.authority,
            document.importance, document.always, document.soft, document.front_matter, skip,
        ),
    )  # fmt: skip
    found = rows(
        connection,
        "SELECT id FROM documents WHERE source = ? AND path = ?",
        (document.source, document.path),
    )
    for chunk in document.chunks:
        _put_chunk(connection, found[0][0], chunk)
    lineage.put(connection, found[0][0], document.lineage)


def _put_chunk(connection: apsw.Connection, document_id: int, chunk: Chunk) -> None:
    connection.execute(
        "INSERT INTO chunks (document_id, ordinal, anchor, heading_path, start_line,"
        " end_line, start_byte, end_byte, tokens, text_hash, date, links, text)"
        " VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)",
        (
            document_id, chunk.ordinal, chunk.anchor,
            json.dumps(chunk.heading_path, ensure_ascii=False), chunk.start_line,
            chunk.end_line, chunk.start_byte, chunk.end_byte, chunk.tokens,
            chunk.text_hash, chunk.date, json.dumps(chunk.links, ensure_ascii=False),
            chunk.text,
        ),
    )  # fmt: skip
    chunk_id = connection.last_insert_rowid()
    connection.execute(
        "INSERT INTO fts (rowid, heading, body) VALUES (?, ?, ?)",
        (chunk_id, prepare(" ".join(chunk.heading_path)), prepare(visible(chunk.text))),
    )
    connection.executemany(
        'INSERT INTO parts (chunk_id, start_line, end_line, start, "end", prefix, hash)'
        " VALUES (?,?,?,?,?,?,?)",
        [
            (chunk_id, p.start_line, p.end_line, p.start, p.end, p.prefix, p.hash)
            for p in chunk.parts
        ],
    )


def drop_chunks(connection: apsw.Connection, source: str, path: str) -> list[bytes]:
    """Delete the chunks of a document and give the hashes its parts had."""
    chunks = rows(
        connection,
        "SELECT c.id FROM documents d JOIN chunks c ON c.document_id = d.id"
        " WHERE d.source = ? AND d.path = ?",
        (source, path),
    )
    gone: list[bytes] = []
    for chunk in chunks:
        deleted = rows(connection, "DELETE FROM parts WHERE chunk_id = ? RETURNING hash", chunk)
        gone += [row[0] for row in deleted]
        connection.execute("DELETE FROM fts WHERE rowid = ?", chunk)
        connection.execute("DELETE FROM chunks WHERE id = ?", chunk)
    return gone


def read_counts(connection: apsw.Connection) -> Counts:
    """Count what the index holds."""
    meta = dict(
        rows(
            connection,
            "SELECT key, value FROM meta WHERE key IN ('revision', ?)",
            (EMBEDDED_AT,),
        )
    )
    at, *counted = meta.get(EMBEDDED_AT, "").split(" ")
    if at == meta.get("revision", "0") and len(counted) == 3:  # without a look at each
        documents, chunks, parts = map(int, counted)
        return Counts(documents, chunks, parts, parts)
    documents, chunks, parts = _count_rows(connection)
    found = rows(connection, "SELECT count(*) FROM parts p JOIN slots s ON s.hash = p.hash")
    return Counts(documents, chunks, parts, found[0][0])


def all_embedded(connection: apsw.Connection, revision: str) -> str:
    """Give the value of EMBEDDED_AT for a revision in which every text has its vector."""
    return " ".join([revision, *map(str, _count_rows(connection))])


def _count_rows(connection: apsw.Connection) -> tuple[int, int, int]:
    ((documents, chunks, parts),) = rows(
        connection,
        "SELECT (SELECT count(*) FROM documents WHERE skip = ''),"
        " (SELECT count(*) FROM chunks), (SELECT count(*) FROM parts)",
    )
    return documents, chunks, parts


def read_known(connection: apsw.Connection) -> dict[tuple[str, str], Known]:
    """Read what is remembered of every document, by (source, path)."""
    return {
        (row[0], row[1]): Known(*row[2:])
        for row in rows(
            connection,
            "SELECT source, path, id, hash, size, mtime_ns, ctime_ns, inode, indexed_ns"
            " FROM documents",
        )
    }


def read_document(
    connection: apsw.Connection, source: str, path: str
) -> tuple[Document, Stamp, str]:
    """Read one document back as it was put: the document, its stamp and its skip reason."""
    ((id_, *stamp, skip), document) = _read_row(connection, source, path)
    size, mtime_ns, ctime_ns, inode, hash_, indexed_ns = stamp
    chunks = tuple(_read_chunk(connection, row) for row in rows(
        connection,
        "SELECT id, ordinal, anchor, heading_path, start_line, end_line, start_byte, end_byte,"
        " tokens, text, text_hash, date, links FROM chunks WHERE document_id = ? ORDER BY ordinal",
        (id_,),
    ))  # fmt: skip
    stat = FileStat(source, path, size, mtime_ns, ctime_ns, inode)
    return document._replace(chunks=chunks), Stamp(stat, hash_, indexed_ns), skip


def _read_row(
    connection: apsw.Connection, source: str, path: str
) -> tuple[tuple[Any, ...], Document]:
    (row,) = rows(
        connection,
        "SELECT id, size, mtime_ns, ctime_ns, inode, hash, indexed_ns, skip, title, date, kind,"
        " scope, source_kind, trust, authority, importance, always, soft, front_matter"
        " FROM documents WHERE source = ? AND path = ?",
        (source, path),
    )
    *told, always, soft, front_matter = row[8:]
    document = Document._make(
        (source, path, *told, bool(always), bool(soft), front_matter, (), None)
    )
    if document.kind == SUMMARY:
        from memcli.markdown.lineage import read_lineage

        document = document._replace(lineage=read_lineage(json.loads(front_matter)))
    return row[:8], document


def _read_chunk(connection: apsw.Connection, row: tuple[Any, ...]) -> Chunk:
    id_, ordinal, anchor, heading_path, *middle, text, text_hash, date, links = row
    parts = rows(
        connection,
        'SELECT start_line, end_line, start, "end", prefix, hash FROM parts'
        " WHERE chunk_id = ? ORDER BY id",
        (id_,),
    )
    links_, parts_ = tuple(json.loads(links)), tuple(Part(*part) for part in parts)
    return Chunk._make(
        (ordinal, anchor, tuple(json.loads(heading_path)), *middle, text, text_hash, date,
         links_, parts_)
    )  # fmt: skip
