"""Write the index: one transaction a document for keyword rows, batches for vectors.

The caller holds the writer lock; nothing here reads a file or a clock.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

import apsw

from memcli.markdown.parts import contexts, digest, embedded_text
from memcli.store import lineage, records, schema, vectors
from memcli.store.driver import DamagedError, Opened, connect, rows, translated
from memcli.store.records import Counts as Counts
from memcli.store.records import Stamp as Stamp
from memcli.types import Document, Known, SourceLines

MERGE_PAGES = 20_000  # FTS5 work after a run: about a second
DAMAGED_SUFFIX = ".damaged-1"
WORDS_LEFT = "words_left"  # meta key: the keyword index still holds words of deleted rows


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
    def transaction(self, *, revise: bool = True) -> Iterator[None]:
        """Run statements as one change; unless no answer can differ it raises the revision."""
        with translated(self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                if revise:
                    self._put_meta("revision", str(int(self.meta("revision") or 0) + 1))
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def meta(self, key: str) -> str | None:
        """Read a `meta` value."""
        found = self._rows("SELECT value FROM meta WHERE key = ?", (key,))
        return found[0][0] if found else None

    def set_meta(self, values: Mapping[str, str]) -> None:
        """Write `meta` values in a transaction of their own, if any differs."""
        if any(self.meta(key) != value for key, value in values.items()):
            with self.transaction():
                for key, value in values.items():
                    self._put_meta(key, value)

    def known(self) -> dict[tuple[str, str], Known]:
        """Give what is remembered of every document."""
        with translated(self.path):
            return records.read_known(self._connection)

    def put_document(self, document: Document, stamp: Stamp, *, skip: str = "") -> None:
        """Store a document's keyword rows in place of what was known of it."""
        with self.transaction():
            gone = self._drop_chunks(document.source, document.path)
            records.put_document(self._connection, document, stamp, skip)
            living = [part.hash for chunk in document.chunks for part in chunk.parts]
            self._refresh(gone, living)

    def unchecked_lineage(self) -> list[SourceLines]:
        """List the lines of lineage whose file has changed since they were last looked up."""
        with translated(self.path):
            return lineage.unchecked(self._connection)

    def check_lineage(self, path: str, file_hash: bytes, held: Sequence[SourceLines]) -> None:
        """Remember which lines of lineage a file of the memory, known by its hash, still has."""
        with self.transaction():
            lineage.check(self._connection, path, file_hash, held)

    def touch(self, document_id: int, stamp: Stamp) -> None:
        """Remember that a file with a new stat still holds the same bytes."""
        stat = stamp.stat
        with self.transaction(revise=False):
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
            lineage.drop(self._connection, source, path)
            self._connection.execute(
                "DELETE FROM documents WHERE source = ? AND path = ?", (source, path)
            )
            self._refresh(gone, ())

    def pending(self, fingerprint: str, limit: int) -> list[Pending]:
        """List texts without a vector, newest documents first, each text once."""
        found = self._rows(
            'SELECT p.hash, p.prefix, substr(c.text, p.start + 1, p."end" - p.start),'
            " d.title, c.heading_path, c.date"
            " FROM parts p JOIN chunks c ON c.id = p.chunk_id"
            " JOIN documents d ON d.id = c.document_id"
            " LEFT JOIN vectors v ON v.hash = p.hash AND v.fingerprint = ?"
            " WHERE v.id IS NULL ORDER BY d.date IS NOT NULL, d.date DESC, d.path, p.id LIMIT ?",
            (fingerprint, limit),
        )
        texts: dict[bytes, str] = {}
        for hash_, prefix, text, title, heading_path, date in found:
            for context in contexts(title, json.loads(heading_path), date):
                texts[hash_] = embedded_text(context, prefix, text)
                if digest(texts[hash_]) == hash_:
                    break
        return [Pending(hash_, text) for hash_, text in texts.items()]

    def unembedded(self, fingerprint: str) -> int:
        """Count the distinct texts without a vector."""
        found = self._rows(
            "SELECT count(DISTINCT p.hash) FROM parts p LEFT JOIN vectors v"
            " ON v.hash = p.hash AND v.fingerprint = ? WHERE v.id IS NULL",
            (fingerprint,),
        )
        return int(found[0][0])

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
            if not same:
                vectors.switch_cache(self._connection, fingerprint)
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
            return records.read_counts(self._connection)

    def prune(self, *, unused_days: int) -> int:
        """Drop cached vectors that no part has used for some days; give how many."""
        with self.transaction():
            self._connection.execute(
                "DELETE FROM vectors WHERE unused_since <= unixepoch() - ? * 86400"
                " AND (fingerprint IS NOT ?"
                " OR NOT EXISTS (SELECT 1 FROM parts p WHERE p.hash = vectors.hash))",
                (unused_days, self.meta("fingerprint")),
            )
            return self._connection.changes()

    def settle(self, pages: int = MERGE_PAGES) -> None:
        """Merge the keyword index after a batch of changes until deleted words are gone.

        FTS5 marks a deleted row and keeps its words until all older segments are merged into
        one; `pages` bounds the work, and the next call goes on.
        """
        if self.meta(WORDS_LEFT) != "1":
            return
        with self.transaction(revise=False):
            for _ in range(2):  # a merge that changes less than two rows had nothing to do
                before = self._connection.total_changes()
                self._connection.execute(
                    "INSERT INTO fts (fts, rank) VALUES ('merge', ?)", (-pages,)
                )
                if self._connection.total_changes() - before < 2:
                    self._put_meta(WORDS_LEFT, "0")
                    break

    def integrity(self) -> str:
        """Check the whole file: "ok", or the first fault."""
        return str(self._rows("PRAGMA integrity_check(1)")[0][0])

    def start_over(self, fault: str) -> str:
        """Set a damaged store aside and go on with an empty one; say so."""
        with suppress(apsw.Error):
            self._connection.close(True)
        aside = set_aside(self.path)
        self._connection, self.vec_problem = _open_migrated(self.path)
        return f"{fault}; it is kept as {aside} and the index is built anew"

    def _rows(self, sql: str, bindings: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with translated(self.path):
            return rows(self._connection, sql, bindings)

    def _drop_chunks(self, source: str, path: str) -> list[bytes]:
        gone = records.drop_chunks(self._connection, source, path)
        if gone:
            self._put_meta(WORDS_LEFT, "1")
        return gone

    def _put_meta(self, key: str, value: str) -> None:
        self._connection.execute(
            "INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value=excluded.value",
            (key, value),
        )

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
