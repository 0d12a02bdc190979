"""Write the index: one transaction a document for keyword rows, batches for vectors.

The caller holds the writer lock; nothing here reads a file or a clock.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import apsw

from memcli.errors import StoreError
from memcli.store.sqlite import documents, driver, integrity, lineage, pending, schema, vectors
from memcli.store.sqlite.documents import EMBEDDED_AT as EMBEDDED_AT
from memcli.store.sqlite.documents import Counts as Counts
from memcli.store.sqlite.documents import Stamp as Stamp
from memcli.store.sqlite.driver import DamagedError, Opened, connect, rows, set_aside, translated
from memcli.store.sqlite.network import MOUNTS
from memcli.store.sqlite.pending import Pending
from memcli.types import Document, Known, SourceLines

# The log can be folded into the file while no search reads it. Where one search follows another
# without a gap, a run that is done would wait for the usual timeout and fold nothing.
CLOSE_TIMEOUT_MS = 250
MERGE_PAGES = 20_000  # FTS5 work after a run: about a second
WORDS_LEFT = "words_left"  # meta key: the keyword index still holds words of deleted rows


class Writer:
    """The one open store that may change it."""

    def __init__(self, path: str, opened: Opened, mounts: str = MOUNTS) -> None:
        """Wrap an open, migrated connection."""
        self.path, self.mounts = path, mounts
        self.connection = opened.connection
        self.vec_problem = opened.vec_problem
        self._file = os.stat(path)

    @classmethod
    def open(cls, path: str, *, mounts: str = MOUNTS) -> tuple[Writer, str]:
        """Open or create the store; a damaged file is set aside and named in the notice."""
        try:
            return cls(path, open_migrated(path, mounts), mounts), ""
        except DamagedError as error:
            notice = f"{error.message}; it is kept as {set_aside(path)} and the index is built anew"
        return cls(path, open_migrated(path, mounts), mounts), notice

    def close(self) -> None:
        """Fold the write-ahead log into the file and close; what cannot be folded stays in it."""
        with suppress(apsw.Error):
            self.connection.set_busy_timeout(CLOSE_TIMEOUT_MS)
            self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        with translated(self.path):
            self.connection.close(True)

    @contextmanager
    def transaction(self, *, revise: bool = True) -> Iterator[None]:
        """Run statements as one change; unless no answer can differ it raises the revision."""
        with translated(self.path):
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                if revise:
                    self.put_meta("revision", str(int(self.meta("revision") or 0) + 1))
                self.check_present()
                self.connection.execute("COMMIT")
            except BaseException:
                if self.connection.in_transaction:
                    self.connection.execute("ROLLBACK")
                raise

    def check_present(self) -> None:
        """Raise StoreError when the file is no longer where it was opened: nobody would read it."""
        try:
            if os.path.samestat(os.stat(self.path), self._file):
                return
        except OSError:
            pass
        raise StoreError(
            f"the index {self.path} was deleted or replaced while it was written",
            hint="memcli index",
        )

    def meta(self, key: str) -> str | None:
        """Read a `meta` value."""
        found = self._rows("SELECT value FROM meta WHERE key = ?", (key,))
        return found[0][0] if found else None

    def set_meta(self, values: Mapping[str, str], *, revise: bool = True) -> None:
        """Write `meta` values in a transaction of their own, if any differs."""
        if any(self.meta(key) != value for key, value in values.items()):
            with self.transaction(revise=revise):
                for key, value in values.items():
                    self.put_meta(key, value)

    def known(self) -> dict[tuple[str, str], Known]:
        """Give what is remembered of every document."""
        with translated(self.path):
            return documents.read_known(self.connection)

    def put_document(self, document: Document, stamp: Stamp, *, skip: str = "") -> None:
        """Store a document's keyword rows in place of what was known of it."""
        with self.transaction():
            gone = self._drop_chunks(document.source, document.path)
            documents.put_document(self.connection, document, stamp, skip)
            living = [part.hash for chunk in document.chunks for part in chunk.parts]
            self.refresh(gone, living)

    def touch(self, document_id: int, stamp: Stamp) -> None:
        """Remember that a file with a new stat still holds the same bytes."""
        stat = stamp.stat
        with self.transaction(revise=False):
            self.connection.execute(
                "UPDATE documents SET size=?, mtime_ns=?, ctime_ns=?, inode=?, indexed_ns=? "
                "WHERE id=?",
                (*stat[2:], stamp.indexed_ns, document_id),
            )

    def remove(self, source: str, path: str) -> None:
        """Remove every row of a document."""
        with self.transaction():
            gone = self._drop_chunks(source, path)
            lineage.drop(self.connection, source, path)
            self.connection.execute(
                "DELETE FROM documents WHERE source = ? AND path = ?", (source, path)
            )
            self.refresh(gone, ())

    def pending(self, fingerprint: str, limit: int) -> list[Pending]:
        """List texts without a vector, newest documents first, each text once."""
        with translated(self.path):
            return pending.read_pending(self.connection, fingerprint, limit)

    def unembedded(self, fingerprint: str) -> int:
        """Count the distinct texts without a vector."""
        if self.is_embedded(fingerprint):
            return 0
        found = self._rows(
            "SELECT count(DISTINCT p.hash) FROM parts p LEFT JOIN vectors v"
            " ON v.hash = p.hash AND v.fingerprint = ? WHERE v.id IS NULL",
            (fingerprint,),
        )
        return int(found[0][0])

    def is_embedded(self, fingerprint: str | None) -> bool:
        """Tell, without a look at the texts, that each has its vector and search uses them."""
        return (
            fingerprint is not None
            and self.meta("fingerprint") == fingerprint
            and (self.meta(EMBEDDED_AT) or "").split(" ")[0] == (self.meta("revision") or "0")
            and (self.meta("vec_behind") != "1" or bool(self.vec_problem))
        )

    def mark_embedded(self) -> None:
        """Remember that every text has its vector, until the next change."""
        revision = self.meta("revision") or "0"
        if not (self.meta(EMBEDDED_AT) or "").startswith(f"{revision} "):
            with self.transaction(revise=False):
                self.put_meta(EMBEDDED_AT, documents.all_embedded(self.connection, revision))

    def put_vectors(self, fingerprint: str, found: Sequence[tuple[bytes, bytes]]) -> None:
        """Store vectors of the fingerprint by hash of their text.

        Those of another encoder than the index's own count as unused until it is switched.
        """
        with self.transaction():
            is_own = self.meta("fingerprint") == fingerprint
            self.connection.executemany(
                "INSERT OR IGNORE INTO vectors (fingerprint, hash, vector, unused_since)"
                f" VALUES (?, ?, ?, {'NULL' if is_own else 'unixepoch()'})",
                [(fingerprint, hash_, vector) for hash_, vector in found],
            )
            if is_own:
                self.refresh((), [hash_ for hash_, _ in found])

    def use_fingerprint(self, fingerprint: str, dimension: int) -> None:
        """Search by this encoder's vectors from now on: build their table, switch, drop the old.

        Also rebuilds a table that an installation without sqlite-vec left behind, or one
        that the number of vectors no longer fits.
        """
        table = self.meta("vec_table")
        same = self.meta("fingerprint") == fingerprint
        if same and (
            self.vec_problem
            or (
                table
                and self.meta("vec_behind") != "1"
                and not vectors.is_outgrown(self.connection, table, dimension)
            )
        ):
            return
        with self.transaction():
            number = int((table or "vec_0").rsplit("_", 1)[1]) + 1
            if not same:
                vectors.switch_cache(self.connection, fingerprint)
            self.put_meta("fingerprint", fingerprint)
            self.put_meta("dimension", str(dimension))
            if self.vec_problem:
                self.connection.execute("DELETE FROM slots")
                self.put_meta("vec_behind", "1")
                self.refresh((), [r[0] for r in self._rows("SELECT DISTINCT hash FROM parts")])
                return
            self.put_meta(
                "vec_table", vectors.rebuild(self.connection, number, fingerprint, dimension)
            )
            self.put_meta("vec_behind", "0")
            if table:
                self.connection.execute(f"DROP TABLE {table}")

    def counts(self) -> Counts:
        """Count documents, chunks, parts and embedded parts."""
        with translated(self.path):
            return documents.read_counts(self.connection)

    def prune(self, *, unused_days: int) -> int:
        """Drop cached vectors that no part has used for some days; give how many."""
        unused = "unused_since <= unixepoch() - ? * 86400"
        if not self._rows(f"SELECT 1 FROM vectors WHERE {unused} LIMIT 1", (unused_days,)):
            return 0
        with self.transaction(revise=False):
            self.connection.execute(
                f"DELETE FROM vectors WHERE {unused} AND (fingerprint IS NOT ?"
                " OR NOT EXISTS (SELECT 1 FROM parts p WHERE p.hash = vectors.hash))",
                (unused_days, self.meta("fingerprint")),
            )
            return self.connection.changes()

    def unchecked(self) -> list[SourceLines]:
        """List the lines of lineage whose file is not the one they were looked up in."""
        with translated(self.path):
            return lineage.unchecked(self.connection)

    def check(self, path: str, file_hash: bytes, held: Sequence[SourceLines]) -> None:
        """Note the file in which lines of `path` were looked up, and which of them it has."""
        with self.transaction():
            lineage.check(self.connection, path, file_hash, held)

    def settle(self, pages: int = MERGE_PAGES) -> None:
        """Merge the keyword index after a batch of changes until deleted words are gone.

        FTS5 marks a deleted row and keeps its words until all older segments are merged into
        one; `pages` bounds the work, and the next call goes on.
        """
        if self.meta(WORDS_LEFT) != "1":
            return
        driver.remove_files(self.path + driver.NEXT_SUFFIX)  # it may hold what is deleted now
        with self.transaction(revise=False):
            for _ in range(2):  # a merge that changes less than two rows had nothing to do
                before = self.connection.total_changes()
                self.connection.execute(
                    "INSERT INTO fts (fts, rank) VALUES ('merge', ?)", (-pages,)
                )
                if self.connection.total_changes() - before < 2:
                    self.put_meta(WORDS_LEFT, "0")
                    break

    def integrity(self) -> str:
        """Check the whole file: "ok", or the first fault."""
        return integrity.first_fault(self.connection, self.path)

    def start_over(self, fault: str) -> str:
        """Set a damaged store aside and go on with an empty one; say so."""
        with suppress(apsw.Error):
            self.connection.close(True)
        aside = set_aside(self.path)
        self.connection, self.vec_problem = open_migrated(self.path, self.mounts)
        self._file = os.stat(self.path)
        return f"{fault}; it is kept as {aside} and the index is built anew"

    def _rows(self, sql: str, bindings: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with translated(self.path):
            return rows(self.connection, sql, bindings)

    def _drop_chunks(self, source: str, path: str) -> list[bytes]:
        gone = documents.drop_chunks(self.connection, source, path)
        if gone:
            self.put_meta(WORDS_LEFT, "1")
        return gone

    def put_meta(self, key: str, value: str) -> None:
        """Write a `meta` value inside a transaction of the caller."""
        self.connection.execute(
            "INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value=excluded.value",
            (key, value),
        )

    def refresh(self, gone: Iterable[bytes], living: Iterable[bytes]) -> None:
        """Search by the vectors of living texts and no more by those of gone ones."""
        fingerprint = self.meta("fingerprint")
        if fingerprint is None:
            return
        table = self.meta("vec_table")
        usable = bool(table) and not self.vec_problem and self.meta("vec_behind") != "1"
        if not usable:
            self.put_meta("vec_behind", "1")
        vectors.refresh_slots(
            self.connection, table if usable else None, fingerprint, gone=gone, living=living
        )


def open_migrated(path: str, mounts: str = MOUNTS) -> Opened:
    """Open or create a store with the newest tables; DamagedError where it is damaged."""
    opened = connect(path, write=True, mounts=mounts)
    with translated(path):
        schema.migrate(opened.connection, path)
    return opened
