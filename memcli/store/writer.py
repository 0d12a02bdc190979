"""Write the index: one transaction a document for keyword rows, batches for vectors.

The caller holds the writer lock; nothing here reads a file or a clock.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import apsw

from memcli.markdown.chunker import context_line, embedded_text
from memcli.markdown.parse import visible
from memcli.store import schema, vectors
from memcli.store.driver import DamagedError, Opened, connect, rows, translated
from memcli.store.text import prepare
from memcli.types import Chunk, Document, FileStat, Known

MERGE_PAGES = 500  # FTS5 work after a run; a full optimise takes seconds at 100,000 chunks
DAMAGED_SUFFIX = ".damaged-1"


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


class Pending(NamedTuple):
    """A text that has no vector yet."""

    hash: bytes
    text: str


class Writer:
    """The one open store that may change it."""

    def __init__(self, path: str, opened: Opened) -> None:
        """Wrap an open, migrated connection."""
        self.path = path
        self._connection = opened.connection
        self.vec_problem = opened.vec_problem

    @classmethod
    def open(cls, path: str) -> tuple[Writer, str]:
        """Open or create the store; a damaged file is set aside and named in the notice."""
        notice = ""
        try:
            opened = _open_migrated(path)
        except DamagedError as error:
            aside = set_aside(path)
            notice = f"{error.message}; it is kept as {aside} and the index is built anew"
            opened = _open_migrated(path)
        return cls(path, opened), notice

    def close(self) -> None:
        """Fold the write-ahead log into the file and close."""
        with translated(self.path):
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            self._connection.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Run statements as one change; it raises the revision by one."""
        with translated(self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                revision = int(self.meta("revision") or 0) + 1
                self._put_meta("revision", str(revision))
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def meta(self, key: str) -> str | None:
        """Read a `meta` value."""
        found = rows(self._connection, "SELECT value FROM meta WHERE key = ?", (key,))
        return found[0][0] if found else None

    def set_meta(self, values: Mapping[str, str]) -> None:
        """Write `meta` values in a transaction of their own, if any differs."""
        if any(self.meta(key) != value for key, value in values.items()):
            with self.transaction():
                for key, value in values.items():
                    self._put_meta(key, value)

    def known(self) -> dict[tuple[str, str], Known]:
        """Give what is remembered of every document."""
        return read_known(self._connection)

    def put_document(self, document: Document, stamp: Stamp, *, skip: str = "") -> None:
        """Store a document's keyword rows in place of what was known of it."""
        connection = self._connection
        with self.transaction():
            gone = self._drop_chunks(document.source, document.path)
            connection.execute(
                "INSERT INTO documents (source, path, hash, size, mtime_ns, ctime_ns, inode,"
                " indexed_ns, title, date, kind, scope, source_kind, trust, authority,"
                " importance, always, front_matter, skip)"
                " VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
                " ON CONFLICT (source, path) DO UPDATE SET hash=excluded.hash,"
                " size=excluded.size, mtime_ns=excluded.mtime_ns, ctime_ns=excluded.ctime_ns,"
                " inode=excluded.inode, indexed_ns=excluded.indexed_ns, title=excluded.title,"
                " date=excluded.date, kind=excluded.kind, scope=excluded.scope,"
                " source_kind=excluded.source_kind, trust=excluded.trust,"
                " authority=excluded.authority, importance=excluded.importance,"
                " always=excluded.always, front_matter=excluded.front_matter,"
                " skip=excluded.skip",
                (
                    document.source, document.path, stamp.hash, stamp.stat.size,
                    stamp.stat.mtime_ns, stamp.stat.ctime_ns, stamp.stat.inode,
                    stamp.indexed_ns, document.title, document.date, document.kind,
                    document.scope, document.source_kind, document.trust, document.authority,
                    document.importance, document.always, document.front_matter, skip,
                ),
            )  # fmt: skip
            found = rows(
                connection,
                "SELECT id FROM documents WHERE source = ? AND path = ?",
                (document.source, document.path),
            )
            for chunk in document.chunks:
                self._put_chunk(found[0][0], chunk)
            living = [part.hash for chunk in document.chunks for part in chunk.parts]
            self._refresh(gone, living)

    def touch(self, document_id: int, stamp: Stamp) -> None:
        """Remember that a file with a new stat still holds the same bytes."""
        stat = stamp.stat
        with self.transaction():
            self._connection.execute(
                "UPDATE documents SET size=?, mtime_ns=?, ctime_ns=?, inode=?, indexed_ns=? "
                "WHERE id=?",
                (stat.size, stat.mtime_ns, stat.ctime_ns, stat.inode, stamp.indexed_ns,
                 document_id),
            )  # fmt: skip

    def remove(self, source: str, path: str) -> None:
        """Remove every row of a document."""
        with self.transaction():
            gone = self._drop_chunks(source, path)
            self._connection.execute(
                "DELETE FROM documents WHERE source = ? AND path = ?", (source, path)
            )
            self._refresh(gone, ())

    def pending(self, fingerprint: str, limit: int) -> list[Pending]:
        """List texts without a vector, newest documents first, each text once."""
        found = rows(
            self._connection,
            "SELECT p.hash, p.prefix, substr(c.text, p.start + 1, p.\"end\" - p.start),"
            " d.title, c.heading_path, c.date"
            " FROM parts p JOIN chunks c ON c.id = p.chunk_id"
            " JOIN documents d ON d.id = c.document_id"
            " LEFT JOIN vectors v ON v.hash = p.hash AND v.fingerprint = ?"
            " WHERE v.id IS NULL ORDER BY d.date IS NOT NULL, d.date DESC, d.path, p.id LIMIT ?",
            (fingerprint, limit),
        )
        texts: dict[bytes, str] = {}
        for hash_, prefix, text, title, heading_path, date in found:
            context = context_line(title, json.loads(heading_path), date)
            texts[hash_] = embedded_text(context, prefix, text)
        return [Pending(hash_, text) for hash_, text in texts.items()]

    def unembedded(self, fingerprint: str) -> int:
        """Count the distinct texts without a vector."""
        return int(
            rows(
                self._connection,
                "SELECT count(DISTINCT p.hash) FROM parts p LEFT JOIN vectors v"
                " ON v.hash = p.hash AND v.fingerprint = ? WHERE v.id IS NULL",
                (fingerprint,),
            )[0][0]
        )

    def put_vectors(self, fingerprint: str, found: Sequence[tuple[bytes, bytes]]) -> None:
        """Store vectors of the fingerprint by hash of their text."""
        with self.transaction():
            self._connection.executemany(
                "INSERT OR IGNORE INTO vectors (fingerprint, hash, vector) VALUES (?, ?, ?)",
                [(fingerprint, hash_, vector) for hash_, vector in found],
            )
            if self.meta("fingerprint") == fingerprint:
                self._refresh((), [hash_ for hash_, _ in found])

    def use_fingerprint(self, fingerprint: str, dimension: int) -> None:
        """Search by this encoder's vectors from now on: build their table, switch, drop the old.

        Also rebuilds a table that an installation without sqlite-vec left behind, or one
        that deletes have bloated.
        """
        table = self.meta("vec_table")
        same = self.meta("fingerprint") == fingerprint
        if same and (
            self.vec_problem
            or (
                table
                and self.meta("vec_behind") != "1"
                and not vectors.is_churned(self._connection, table)
            )
        ):
            return
        with self.transaction():
            number = int((table or "vec_0").rsplit("_", 1)[1]) + 1
            self._put_meta("fingerprint", fingerprint)
            self._put_meta("dimension", str(dimension))
            if self.vec_problem:
                self._connection.execute("DELETE FROM slots")
                self._put_meta("vec_behind", "1")
                living = rows(self._connection, "SELECT DISTINCT hash FROM parts")
                self._refresh((), [r[0] for r in living])
                return
            vectors.rebuild(self._connection, f"vec_{number}", fingerprint, dimension)
            self._put_meta("vec_table", f"vec_{number}")
            self._put_meta("vec_behind", "0")
            if table:
                self._connection.execute(f"DROP TABLE {table}")

    def counts(self) -> Counts:
        """Count documents, chunks, parts and embedded parts."""
        with translated(self.path):
            return read_counts(self._connection)

    def prune(self, *, unused_days: int) -> int:
        """Drop cached vectors that no part has used for some days; give how many."""
        with self.transaction():
            self._connection.execute(
                "DELETE FROM vectors WHERE unused_since IS NOT NULL"
                " AND unused_since <= unixepoch() - ? * 86400"
                " AND NOT EXISTS (SELECT 1 FROM parts p WHERE p.hash = vectors.hash)",
                (unused_days,),
            )
            return self._connection.changes()

    def settle(self) -> None:
        """Merge a little of the keyword index after a batch of changes."""
        with translated(self.path):
            self._connection.execute(
                f"INSERT INTO fts (fts, rank) VALUES ('merge', {MERGE_PAGES})"
            )

    def _put_meta(self, key: str, value: str) -> None:
        self._connection.execute(
            "INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value=excluded.value",
            (key, value),
        )

    def _put_chunk(self, document_id: int, chunk: Chunk) -> None:
        connection = self._connection
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

    def _drop_chunks(self, source: str, path: str) -> list[bytes]:
        """Delete a document's chunks and give the hashes its parts had."""
        connection = self._connection
        chunk_ids = rows(
            connection,
            "SELECT c.id FROM chunks c JOIN documents d ON d.id = c.document_id"
            " WHERE d.source = ? AND d.path = ?",
            (source, path),
        )
        gone: list[bytes] = []
        for chunk_id in chunk_ids:
            gone += [r[0] for r in rows(
                connection, "DELETE FROM parts WHERE chunk_id = ? RETURNING hash", chunk_id
            )]  # fmt: skip
            connection.execute("DELETE FROM fts WHERE rowid = ?", chunk_id)
            connection.execute("DELETE FROM chunks WHERE id = ?", chunk_id)
        return gone

    def _refresh(self, gone: Iterable[bytes], living: Iterable[bytes]) -> None:
        fingerprint = self.meta("fingerprint")
        if fingerprint is None:
            return
        table = self.meta("vec_table")
        usable = bool(table) and not self.vec_problem and self.meta("vec_behind") != "1"
        if not usable:
            self._put_meta("vec_behind", "1")
        vectors.refresh_slots(
            self._connection, table if usable else None, fingerprint, gone=gone, living=living
        )


def read_counts(connection: apsw.Connection) -> Counts:
    """Count what the index holds."""
    found = rows(
        connection,
        "SELECT (SELECT count(*) FROM documents WHERE skip = ''),"
        " (SELECT count(*) FROM chunks), (SELECT count(*) FROM parts),"
        " (SELECT count(*) FROM parts p JOIN slots s ON s.hash = p.hash)",
    )
    return Counts(*found[0])


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


def set_aside(path: str) -> str:
    """Move a damaged store out of the way; one such copy is kept."""
    aside = path + DAMAGED_SUFFIX
    os.replace(path, aside)
    for suffix in ("-wal", "-shm"):
        if os.path.exists(path + suffix):
            os.remove(path + suffix)
    return aside


def _open_migrated(path: str) -> Opened:
    opened = connect(path, write=True)
    with translated(path):
        schema.migrate(opened.connection, path)
    return opened
