"""A store built beside another one, and the one transaction that puts it in its place.

The finished copy goes page by page into the old file, by SQLite's backup: a reader keeps the
state it has open, the next one finds the new state, and a process that dies before the commit
has changed nothing. Renaming would not do: a reader that has opened the old file could take
the new file's write-ahead log for its own, and Windows renames nothing that is open.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from memcli.errors import DamagedError
from memcli.store.records import Key
from memcli.store.sqlite import documents
from memcli.store.sqlite.documents import EMBEDDED_AT
from memcli.store.sqlite.driver import NEXT_SUFFIX, Connected, remove_files, rows, translated
from memcli.store.sqlite.writer import Writer, open_migrated

PUBLISHED_AS = "published_as"  # meta key: the revision under which the copy takes its place
# Facts that the vectors which are taken over rest on.
INHERITED = ("model",)


def path_beside(store: str) -> str:
    """Name the index that is built beside another one."""
    return store + NEXT_SUFFIX


def age_ns(store: str, now_ns: int) -> int | None:
    """Tell how long ago an index beside was written; None where there is none."""
    path = path_beside(store)
    written = [os.stat(p).st_mtime_ns for p in (path, path + "-wal") if os.path.exists(p)]
    return abs(now_ns - max(written)) if written else None


def sweep(store: str) -> None:
    """Remove the index beside another one."""
    remove_files(path_beside(store))


@contextmanager
def rebuilding(main: Writer) -> Iterator[Beside]:
    """Open the half-built index beside another one, or a new one where it cannot be used."""
    side = _usable(main)
    if side is None:
        sweep(main.path)
        side = _open(main)
    try:
        side.set_meta({"mounts": main.facts.mounts or "[]"})
        yield side
    finally:
        side.close()


class Beside(Writer):
    """An index that is built beside another one; a `port.Rebuild`."""

    def __init__(self, main: Writer, path: str, opened: Connected) -> None:
        """Wrap the open copy of an index."""
        super().__init__(path, opened, main.now_ns, mounts=main.mounts)
        self._main = main

    def take_over(self, hidden: Iterable[Key]) -> None:
        """Copy the embedding cache, and documents whose files nobody could see."""
        main = self._main
        for key in hidden:
            with translated(main.path):
                document, stamp, skip = documents.read_document(main.connection, key)
            self.put(document, stamp, skip=skip)
        with translated(main.path), self.transaction(revise=False):
            self._copy_vectors()
        told = main.facts
        inherited = {name: getattr(told, name) for name in INHERITED}
        self.set_meta({name: value for name, value in inherited.items() if value is not None})
        if told.fingerprint and told.dimension is not None and self.facts.fingerprint is None:
            self.search_by(told.fingerprint, told.dimension)

    def _copy_vectors(self) -> None:
        self.connection.executemany(
            "INSERT OR IGNORE INTO vectors (fingerprint, hash, vector, unused_since)"
            " VALUES (?, ?, ?, ?)",
            self._main.connection.execute(
                "SELECT fingerprint, hash, vector, unused_since FROM vectors ORDER BY id"
            ),
        )
        self.connection.execute(
            "UPDATE vectors SET unused_since = ?"
            " WHERE unused_since IS NULL AND hash NOT IN (SELECT hash FROM parts)",
            (self.now,),
        )
        # A copy that is gone on with searches by some vectors already; now by these too.
        waiting = rows(
            self.connection,
            "SELECT DISTINCT p.hash FROM parts p JOIN vectors v ON v.hash = p.hash"
            " LEFT JOIN slots s ON s.hash = p.hash WHERE s.id IS NULL",
        )
        self.refresh((), [hash_ for (hash_,) in waiting])

    def publish(self) -> None:
        """Put the copy in the place of the other index, in one transaction.

        The revision goes on from the larger one, so no answer of before looks like one of now.
        """
        main, told = self._main, self.facts
        revision = str(1 + max(told.revision, main.facts.revision))
        is_embedded = self.is_embedded(told.fingerprint)
        with self.transaction(revise=False):
            self.put_meta("revision", revision)
            self.put_meta(PUBLISHED_AS, revision)
            if is_embedded:
                self.put_meta(EMBEDDED_AT, documents.all_embedded(self.connection, revision))
        if (fault := self.integrity()) != "ok":
            raise DamagedError(
                f"the index built beside {main.path} is damaged: {fault}",
                hint="memcli index --full",
            )
        main.check_present()
        with (
            translated(main.path),
            main.connection.backup("main", self.connection, "main") as copy,
        ):
            copy.step()
        main.check_present()


def _open(main: Writer) -> Beside:
    path = path_beside(main.path)
    return Beside(main, path, open_migrated(path, main.mounts))


def _usable(main: Writer) -> Beside | None:
    """Open a copy that can be gone on with: sound, and not published already."""
    if not os.path.exists(path_beside(main.path)):
        return None
    try:
        side = _open(main)
        published = side.meta(PUBLISHED_AS)
        done = published is not None and main.facts.revision >= int(published)
        if not done and side.integrity() == "ok":
            return side
        side.close()
    except DamagedError:
        pass
    return None
