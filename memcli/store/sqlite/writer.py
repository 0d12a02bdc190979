"""Change the index file, or build one next to it: one transaction per document.

The caller holds the writer lock, provides the clock, and has read the files. Before a commit, the
writer checks that the file of the index is still where it was opened.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress

import apsw

from memcli import system
from memcli.checking import TYPE_CHECKING, Any
from memcli.errors import DamagedError, RetryLaterError, StoreError
from memcli.store.change import IMPORTANT, BaseChange, Clock, waiting
from memcli.store.quantize import packed
from memcli.store.records import Key, LineCheck, strings
from memcli.store.run_records import AWAITED, Pending, Stamp
from memcli.store.sqlite import documents, driver, keywords, schema
from memcli.store.sqlite import vectors as vector_rows
from memcli.store.sqlite.documents import DOCUMENT_ID, StoredRows
from memcli.types import MEMORY_SOURCE, Document

if TYPE_CHECKING:
    from memcli.store.sqlite.vector_cache import VectorCache

# The log can be folded into the file while no search reads it. If searches follow each other
# without a gap, a finished run would wait for the usual timeout and fold nothing.
CLOSE_TIMEOUT_MS = 250
MERGE_PAGES = 20_000  # FTS5 work after a run: about a second
BORROWED_AT_ONCE = 4096  # vectors
_ENCODER = "(SELECT id FROM encoders WHERE fingerprint = ?1)"
_WAITING = (  # the parts p that this encoder can read and has not embedded
    f" LEFT JOIN vectors v ON v.hash = p.hash AND v.encoder = {_ENCODER} WHERE v.id IS NULL"
    f" AND NOT EXISTS (SELECT 1 FROM unread u WHERE u.hash = p.hash AND u.encoder = {_ENCODER})"
)
_SEGMENTS = (
    "FROM parts p JOIN chunks c ON c.id = p.chunk_id JOIN documents d ON d.id = c.document_id"
)
_URGENCY = (
    f"ORDER BY d.always DESC, coalesce(d.importance, 0) > {IMPORTANT} DESC, d.date IS NOT NULL,"
    " d.date DESC, d.mtime_ns DESC, d.path, d.source, p.chunk_id, p.no"
)
PUBLISHED_AS = "published_as"  # meta key: the revision under which the copy is published
WORDS_LEFT = "words_left"  # meta key: the keyword index still contains words of deleted rows


class Writer(StoredRows, BaseChange):
    """The only open index that may change the file; a `port.Change`."""

    def __init__(
        self,
        path: str,
        now_ns: Clock,
        *,
        tiers: Sequence[int] = (),
        shared: VectorCache | None = None,
    ) -> None:
        """Open or create the index; `tiers` get tables of codes, too.

        The vectors are `shared` with other indexes.
        """
        BaseChange.__init__(self, now_ns)
        self.path, self.tiers, self.shared = path, tiers, shared
        self._has_dropped = False
        self._start()

    def _start(self) -> None:
        """Open the file; a damaged one is set aside and named in the notices.

        A single failed read looks like damage, so the file is first opened a second time.
        """
        for _ in range(2):
            try:
                self._open()
                return
            except DamagedError as error:
                fault = error.message
        self.notices.append(self._begin_again(fault))

    def _open(self) -> None:
        """Open or create the file, and say if it is begun again; DamagedError if it is damaged."""
        opened = driver.connect(self.path, write=True)
        with driver.understood(self.path), driver.closed_on_failure(opened.connection):
            is_older = schema.make(opened.connection, self.path)
        self.connection, self.vec_problem, self._file = opened
        if is_older:
            self.notices.append(
                f"the index {self.path} was made by an older memcli and is built again"
            )

    def close(self) -> None:
        """Fold the write-ahead log into the file and close; what cannot be folded stays in it."""
        with suppress(apsw.Error):
            self.connection.set_busy_timeout(CLOSE_TIMEOUT_MS)
            ((is_busy, *_),) = self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            if is_busy and self._has_dropped:
                self.notices.append(
                    f"another process is reading {self.path}: what was deleted leaves the file"
                    " with the next search or run"
                )
        if self.shared is not None:
            self.shared.close()
            if self.shared.problem:
                self.notices.append(f"vectors are not shared: {self.shared.problem}")
        with driver.translated(self.path):
            self.connection.close(True)

    def _translated(self) -> AbstractContextManager[None]:
        return driver.translated(self.path)

    def _is_open(self) -> bool:
        return self.connection.in_transaction

    def _begin(self) -> None:
        self.connection.execute("BEGIN IMMEDIATE")

    def _end(self) -> None:
        if self._revises:
            self.put_fact("revision", str(self.facts.revision + 1))
        self.check_present()
        self.connection.execute("COMMIT")

    def _roll_back(self) -> None:
        self._revises = False
        if self._is_open():
            self.connection.execute("ROLLBACK")
        elif isinstance(sys.exception(), apsw.SQLError) and not system.is_short_of_memory():
            # SQLite ends a transaction by itself if its disk fails; sqlite-vec does not say how.
            raise StoreError(
                f"the index {self.path} cannot be changed: its disk is full or fails",
                hint=driver.MORE_ROOM,
            )

    def check_present(self) -> None:
        """Raise StoreError if the file was moved since it was opened: no search would read it."""
        if not system.is_at(self.path, self._file):
            raise StoreError(
                f"the index {self.path} was deleted or replaced while it was written",
                hint="memcli index",
            )

    def put(self, document: Document, stamp: Stamp, *, skip: str = "") -> None:
        with self.transaction():
            gone = self._drop_chunks((document.source, document.path))
            documents.put_document(self.connection, document, stamp, skip)
            living = [segment.hash for chunk in document.chunks for segment in chunk.segments]
            self.refresh(gone, living)

    def touch(self, key: Key, stamp: Stamp) -> None:
        with self.transaction(revise=False):
            stat = stamp.stat
            self.connection.execute(
                "UPDATE documents SET size = ?, mtime_ns = ?, ctime_ns = ?, inode = ?,"
                " indexed_ns = ? WHERE source = ? AND path = ?",
                (stat.size, stat.mtime_ns, stat.ctime_ns, stat.inode, stamp.indexed_ns, *key),
            )

    def remove(self, key: Key) -> None:
        with self.transaction():
            gone = self._drop_chunks(key)
            for table in ("lineage", "properties", "speakers"):
                self.connection.execute(
                    f"DELETE FROM {table} WHERE document_id = {DOCUMENT_ID}", key
                )
            self.connection.execute("DELETE FROM documents WHERE source = ? AND path = ?", key)
            self.refresh(gone, ())

    def pending(
        self, fingerprint: str, limit: int, *, within: Sequence[int] | None = None
    ) -> list[Pending]:
        among = "" if within is None else " AND c.id IN (SELECT value FROM json_each(?3))"
        listed = () if within is None else (json.dumps(within),)
        text = f'substr({driver.plain("c.text")}, p.start + 1, p."end" - p.start)'
        result = self._rows(
            f"SELECT p.hash, {driver.plain('p.prefix')}, {text},"
            " d.title, c.heading_path, coalesce(c.first_day, c.date), c.date,"
            " iif(instr(d.front_matter, '\"description\"'), d.front_matter, '{}')"
            f" {_SEGMENTS} WHERE (p.chunk_id, p.no) IN"  # only these texts are inflated
            f" (SELECT p.chunk_id, p.no {_SEGMENTS}{_WAITING}{among} {_URGENCY} LIMIT ?2)"
            f" {_URGENCY}",
            (fingerprint, limit, *listed),
        )
        with driver.understood(self.path):
            return waiting((*row[:4], strings(row[4]), *row[5:]) for row in result)

    def borrow(self, fingerprint: str) -> int:
        """Copy the vectors of waiting texts from other indexes of this user."""
        if self.shared is None or self.is_embedded(fingerprint):
            return 0
        waiting = [hash_ for (hash_,) in self._waiting("DISTINCT p.hash", fingerprint)]
        count = 0
        for at in range(0, len(waiting), BORROWED_AT_ONCE):
            hashes = waiting[at : at + BORROWED_AT_ONCE]
            vectors = self.shared.get(fingerprint, hashes, self.now)
            if not vectors:
                continue
            with self.transaction():
                self._put(fingerprint, [*vectors.items()])
            count += len(vectors)
        return count

    def _count_waiting(self, fingerprint: str) -> int:
        return int(self._waiting("count(DISTINCT p.hash)", fingerprint)[0][0])

    def _waiting(self, columns: str, fingerprint: str) -> list[tuple[Any, ...]]:
        return self._rows(f"SELECT {columns} FROM parts p{_WAITING}", (fingerprint,))

    def _is_searchable(self) -> bool:
        if self.vec_problem:
            return True
        return self.fact("vec_behind") != "1" and self._has_its_tiers()

    def put_vectors(self, fingerprint: str, made: Sequence[tuple[bytes, bytes | None]]) -> None:
        """Store vectors; those of another encoder, and of texts in no document, are unused."""
        rows = [(hash_, packed(vector)) for hash_, vector in made if vector is not None]
        with self.transaction():
            self._put(fingerprint, rows)
            if unread := [hash_ for hash_, vector in made if vector is None]:
                encoder = vector_rows.encoder_of(self.connection, fingerprint)
                self.connection.executemany(
                    "INSERT OR IGNORE INTO unread (hash, encoder) VALUES (?, ?)",
                    [(hash_, encoder) for hash_ in unread],
                )
        if self.shared is not None:
            public = vector_rows.shareable(self.connection, [hash_ for hash_, _ in rows])
            self.shared.put(fingerprint, [pair for pair in rows if pair[0] in public], self.now)

    def _put(self, fingerprint: str, vectors: Sequence[tuple[bytes, bytes]]) -> None:
        vector_rows.put(self.connection, [(fingerprint, *pair, self.now) for pair in vectors])
        if self.facts.fingerprint == fingerprint:
            used = "SELECT 1 FROM parts WHERE hash = ? LIMIT 1"
            self.refresh((), [hash_ for hash_, _ in vectors if self._rows(used, (hash_,))])

    def _switch_to(self, fingerprint: str, dimension: int) -> None:
        """Search by this encoder's vectors; if there are many, by a table of codes first.

        A table that an installation without sqlite-vec left out of date is rebuilt, and so is one
        that no longer fits the number of vectors.
        """
        table = self.fact("vec_table")
        same = self.facts.fingerprint == fingerprint
        with driver.understood(self.path):
            fits = self.vec_problem or not (
                self.fact("vec_behind") == "1"
                or vector_rows.is_outgrown(self.connection, table, dimension)
            )
        if same and fits:
            self._keep_tiers(fingerprint, dimension)
            return
        with self.transaction():
            number = int(table.rsplit("_", 1)[1]) + 1 if table else 1
            if not same:
                self._rows(
                    "UPDATE vectors SET unused_since = ? WHERE encoder IS NOT"
                    f" {vector_rows.ENCODER} AND unused_since IS NULL",
                    (self.now, fingerprint),
                )
                self._rows(
                    f"UPDATE vectors SET unused_since = NULL WHERE encoder = {_ENCODER}"
                    " AND unused_since IS NOT NULL AND hash IN (SELECT hash FROM parts)",
                    (fingerprint,),
                )
            self.put_fact("fingerprint", fingerprint)
            self.put_fact("dimension", str(dimension))
            if self.vec_problem:
                self.put_fact("vec_behind", "1")
                return
            made = vector_rows.rebuild(self.connection, number, fingerprint, dimension)
            self.connection.execute("DELETE FROM meta WHERE key = 'vec_table'")
            if table:
                vector_rows.keep_tiers(self.connection, table, fingerprint, dimension, ())
                self.connection.execute(f"DROP TABLE {table}")
            if made:
                self.put_fact("vec_table", made)
            self.put_fact("vec_behind", "0")
        self._keep_tiers(fingerprint, dimension)

    def _keep_tiers(self, fingerprint: str, dimension: int) -> None:
        """Fill the tiers that are out of date from the whole vectors, and drop the others."""
        table = self.fact("vec_table")
        if table and not self.vec_problem and not self._has_its_tiers():
            with self.transaction():
                tiers = self._tiers_of(dimension)
                vector_rows.keep_tiers(self.connection, table, fingerprint, dimension, tiers)

    def _has_its_tiers(self) -> bool:
        table = self.fact("vec_table")
        if not table:
            return True
        with driver.understood(self.path):
            existing = vector_rows.tiers_beside(self.connection, table)
        return existing.keys() == self._tiers_of(self.facts.dimension or 0)

    def _tiers_of(self, dimension: int) -> set[int]:
        return {components for components in self.tiers if components < dimension}

    def _put_line_checks(self, summary: str, checks: Sequence[LineCheck]) -> None:
        ((document_id,),) = self._rows(f"SELECT {DOCUMENT_ID}", (MEMORY_SOURCE, summary))
        columns = "path, start_line, end_line, hash, checked, matches"
        places = [(*each.lines, each.file, each.holds) for each in checks]
        documents.replace_rows(self.connection, "lineage", columns, document_id, places)

    def tidy(self, *, pages: int | None = None, unused_days: int | None = None) -> int:
        if self.fact(WORDS_LEFT) == "1":
            self._sweep()  # it may contain deleted text
            with self.transaction(revise=False):
                if keywords.merge(self.connection, MERGE_PAGES if pages is None else pages):
                    self.put_fact(WORDS_LEFT, "0")
        return 0 if unused_days is None else self._prune(unused_days)

    def _prune(self, unused_days: int) -> int:
        if not unused_days and self.shared is not None:
            self.shared.prune(self.now)
        bounds = self._bounds(unused_days)
        unused = "(unused_since <= ? OR unused_since >= ?)"
        if not self._rows(f"SELECT 1 FROM vectors WHERE {unused} LIMIT 1", bounds):
            return 0
        with self.transaction(revise=False):
            self.connection.execute(
                f"DELETE FROM vectors WHERE {unused}"
                f" AND (encoder IS NOT {vector_rows.ENCODER}"
                " OR NOT EXISTS (SELECT 1 FROM parts p WHERE p.hash = vectors.hash))",
                (*bounds, self.facts.fingerprint),
            )
            pruned = self.connection.changes()
            self.connection.execute(
                f"DELETE FROM unread WHERE encoder IS NOT {vector_rows.ENCODER}",
                (self.facts.fingerprint,),
            )
            return pruned

    def start_over(self, fault: str) -> str:
        with suppress(apsw.Error):
            self.connection.close(True)
        with suppress(DamagedError):
            self._open()
            if self.integrity() == "ok":
                self.known()
                return f"{fault}, but a second check found it intact"
        with suppress(apsw.Error):
            self.connection.close(True)
        return self._begin_again(fault)

    def _begin_again(self, fault: str) -> str:
        """Set a damaged file aside, and copy its readable vectors into an empty one; say so."""
        path = driver.set_aside(self.path)
        self._open()
        with self.transaction(revise=False):
            vector_rows.put(
                self.connection, ((*row, self.now) for row in vector_rows.readable_vectors(path))
            )
        return f"{fault}; it is kept as {path} and the index is built again"

    @contextmanager
    def rebuild(self) -> Iterator[ReplacementIndex]:
        """Open the half-built index next to this one, or a new one if it cannot be used."""
        side = _usable(self)
        if side is None:
            driver.remove_files(self.path + driver.NEXT_SUFFIX)
            side = ReplacementIndex(self)
        try:
            side.set_facts({"mounts": self.facts.mounts or "[]", AWAITED: ""})
            yield side
        except RetryLaterError:
            side.set_facts({AWAITED: "1"})
            raise
        finally:
            side.close()
            with suppress(OSError):  # its age is measured with the same clock
                os.utime(side.path, ns=(self.now_ns(), self.now_ns()))

    def drop_rebuild(self, *, seconds: float = 0.0, awaited_seconds: float | None = None) -> None:
        age = _age_ns(self.path, self.now_ns())
        if age is None:
            return
        if awaited_seconds is not None and _is_awaited(self.path):
            seconds = awaited_seconds
        if age >= seconds * 1e9:
            self._sweep()

    def _sweep(self) -> None:
        """Remove the index next to this one except its vectors, or add a notice.

        A failure stops nothing.
        """
        with suppress(StoreError):
            half = _usable(self)
            if half is not None:
                with closing(half), self.transaction():
                    self._copy_vectors(half)
        path = self.path + driver.NEXT_SUFFIX
        try:
            driver.remove_files(path)
        except OSError as error:
            message = f"{path} cannot be removed: {error.strerror}"
            notice = f"{message}; it may contain deleted text"
            if notice not in self.notices:
                self.notices.append(notice)

    def put_fact(self, key: str, value: str) -> None:
        """Write a `meta` value inside a transaction of the caller."""
        self.connection.execute(
            "INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value=excluded.value",
            (key, value),
        )

    def refresh(self, gone: Iterable[bytes], living: Iterable[bytes]) -> None:
        """Search by the vectors of texts in use, and no longer by those of removed ones."""
        fingerprint = self.facts.fingerprint
        if fingerprint is None:
            return
        table = self.fact("vec_table")
        tables: dict[str, int] = {}
        if table and (self.vec_problem or self.fact("vec_behind") == "1"):
            self.put_fact("vec_behind", "1")
        elif table:
            existing = vector_rows.tiers_beside(self.connection, table)
            tables = {name: components for components, name in existing.items()}
            tables[table] = self.facts.dimension or 0
        vector_rows.refresh(
            self.connection, tables, fingerprint, gone=gone, living=living, now=self.now
        )

    def _copy_vectors(self, source: Writer) -> None:
        """Copy the embedding cache of another index inside a transaction, and search by it."""
        self.refresh((), vector_rows.copy_vectors(self.connection, source.connection, self.now))

    def _drop_chunks(self, key: Key) -> list[bytes]:
        """Delete the chunks of a document, and return the hashes of their segments."""
        gone: list[bytes] = []
        for chunk in self._rows(f"SELECT id FROM chunks WHERE document_id = {DOCUMENT_ID}", key):
            deleted = self._rows("DELETE FROM parts WHERE chunk_id = ? RETURNING hash", chunk)
            gone += [hash_ for (hash_,) in deleted]
            self.connection.execute("DELETE FROM fts WHERE rowid = ?", chunk)
            self.connection.execute("DELETE FROM chunks WHERE id = ?", chunk)
        if gone:
            self._has_dropped = True
            self.put_fact(WORDS_LEFT, "1")
        return gone


class ReplacementIndex(Writer):
    """An index that is built next to another one; a `port.Rebuild`."""

    def __init__(self, main: Writer) -> None:
        path = main.path + driver.NEXT_SUFFIX
        super().__init__(path, main.now_ns, tiers=main.tiers, shared=main.shared)
        self._main = main

    def _start(self) -> None:
        """Open or create the file; DamagedError if it is damaged."""
        self._open()

    def take_over(self, hidden: Iterable[Key]) -> None:
        main = self._main
        for key in hidden:
            with driver.translated(main.path):
                document, stamp, skip = documents.read_document(main.connection, key)
            self.put(document, stamp, skip=skip)
        with driver.translated(main.path), self.transaction(revise=False):
            self._copy_vectors(main)  # a continued copy already searches by some
        self._inherit(main.facts)

    def publish(self) -> None:
        """Replace the other index by the copy, in one transaction.

        SQLite's backup copies it page by page into the old file. A reader keeps the state it has
        open, the next one finds the new state, and if the process dies before the commit, nothing
        has changed. Renaming the file would not work: a reader that has opened the old file could
        take the write-ahead log of the new one for its own, and Windows does not rename open files.

        The revision continues from the larger one, so no earlier answer looks like a current one.
        """
        main, facts = self._main, self.facts
        revision = 1 + max(facts.revision, main.facts.revision)
        is_embedded = self.is_embedded(facts.fingerprint)
        with self.transaction(revise=False):
            self.put_fact("revision", str(revision))
            self.put_fact(PUBLISHED_AS, str(revision))
            if is_embedded:
                self._put_embedded(revision)
        if (fault := self.integrity()) != "ok":
            raise driver.damaged(f"built next to {main.path}", f"is damaged: {fault}")
        main.check_present()
        with (
            driver.translated(main.path),
            main.connection.backup("main", self.connection, "main") as copy,
        ):
            copy.step()
        main.check_present()


def _usable(main: Writer) -> ReplacementIndex | None:
    """Open a copy that can be continued: it is sound and not published yet."""
    if not os.path.exists(main.path + driver.NEXT_SUFFIX):
        return None
    with suppress(DamagedError):
        half = ReplacementIndex(main)
        published = half.fact(PUBLISHED_AS)
        done = published is not None and main.facts.revision >= int(published)
        if not done and half.integrity() == "ok":
            return half
        half.close()
    return None


def _age_ns(store: str, now_ns: int) -> int | None:
    """Return the age of the index next to another one; None if it does not exist."""
    path = store + driver.NEXT_SUFFIX
    written = []
    for each in (path, path + "-wal"):
        with suppress(FileNotFoundError):
            written.append(os.stat(each).st_mtime_ns)
    return abs(now_ns - max(written)) if written else None


def _is_awaited(store: str) -> bool:
    """Return whether the build of an index next to another one was paused on purpose."""
    path = store + driver.NEXT_SUFFIX
    if any(os.path.exists(path + suffix) for suffix in driver.BESIDE):
        return False
    with suppress(apsw.Error, StoreError), closing(driver.connect_unchanged(path)) as connection:
        return documents.meta(connection, AWAITED) == "1"
    return False
