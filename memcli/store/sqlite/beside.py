"""A store built beside another one, and the one transaction that puts it in its place.

The finished copy goes page by page into the old file, by SQLite's backup: a reader keeps the
state it has open, the next one finds the new state, and a process that dies before the commit
has changed nothing. Renaming would not do: a reader that has opened the old file could take
the new file's write-ahead log for its own, and Windows renames nothing that is open.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from memcli.store.sqlite import documents
from memcli.store.sqlite.driver import NEXT_SUFFIX, DamagedError, remove_files, rows, translated
from memcli.store.sqlite.writer import EMBEDDED_AT, Writer, open_migrated

PUBLISHED_AS = "published_as"  # meta key: the revision under which the copy takes its place
# meta keys: what the vectors that are taken over rest on
INHERITED = ("model",)


def path_beside(store: str) -> str:
    """Name the store that is built beside another one."""
    return store + NEXT_SUFFIX


def age_ns(store: str, now_ns: int) -> int | None:
    """Tell when a store beside was last written; None where there is none."""
    path = path_beside(store)
    written = [os.stat(p).st_mtime_ns for p in (path, path + "-wal") if os.path.exists(p)]
    return abs(now_ns - max(written)) if written else None


def sweep(store: str) -> None:
    """Remove the store beside another one."""
    remove_files(path_beside(store))


def open_beside(main: Writer) -> Writer:
    """Open the half-built store beside another one, or a new one where it cannot be used."""
    side = _usable(main)
    if side is None:
        sweep(main.path)
        path = path_beside(main.path)
        side = Writer(path, open_migrated(path, main.mounts), main.mounts)
    side.set_meta({"mounts": main.meta("mounts") or "[]"})
    return side


def _usable(main: Writer) -> Writer | None:
    """Open a copy that can be gone on with: sound, and not published already."""
    path = path_beside(main.path)
    if not os.path.exists(path):
        return None
    try:
        side = Writer(path, open_migrated(path, main.mounts), main.mounts)
        published = side.meta(PUBLISHED_AS)
        done = published is not None and int(main.meta("revision") or 0) >= int(published)
        if not done and side.integrity() == "ok":
            return side
        side.close()
    except DamagedError:
        pass
    return None


def take_over_vectors(main: Writer, side: Writer) -> None:
    """Copy the embedding cache, and search by the same encoder's vectors as before."""
    with translated(main.path), side.transaction(revise=False):
        side.connection.executemany(
            "INSERT OR IGNORE INTO vectors (fingerprint, hash, vector, unused_since)"
            " VALUES (?, ?, ?, ?)",
            main.connection.execute(
                "SELECT fingerprint, hash, vector, unused_since FROM vectors ORDER BY id"
            ),
        )
        side.connection.execute(
            "UPDATE vectors SET unused_since = unixepoch()"
            " WHERE unused_since IS NULL AND hash NOT IN (SELECT hash FROM parts)"
        )
        # A copy that is gone on with searches by some vectors already; now by these too.
        side.refresh((), [row[0] for row in rows(
            side.connection,
            "SELECT DISTINCT p.hash FROM parts p JOIN vectors v ON v.hash = p.hash"
            " LEFT JOIN slots s ON s.hash = p.hash WHERE s.id IS NULL",
        )])  # fmt: skip
    inherited = {key: value for key in INHERITED if (value := main.meta(key)) is not None}
    side.set_meta(inherited)
    fingerprint, dimension = main.meta("fingerprint"), main.meta("dimension")
    if fingerprint is not None and dimension is not None and side.meta("fingerprint") is None:
        side.use_fingerprint(fingerprint, int(dimension))


def take_over_documents(main: Writer, side: Writer, keys: Iterable[tuple[str, str]]) -> None:
    """Copy the rows of documents whose files nobody could see."""
    for source, path in keys:
        with translated(main.path):
            document, stamp, skip = documents.read_document(main.connection, source, path)
        side.put_document(document, stamp, skip=skip)


def publish(main: Writer, side: Writer) -> None:
    """Put the store beside in the place of the other one, in one transaction.

    The revision goes on from the larger one, so no answer of before looks like one of now.
    """
    revision = str(1 + max(int(w.meta("revision") or 0) for w in (main, side)))
    is_embedded = side.is_embedded(side.meta("fingerprint"))
    with side.transaction(revise=False):
        side.put_meta("revision", revision)
        side.put_meta(PUBLISHED_AS, revision)
        if is_embedded:
            side.put_meta(EMBEDDED_AT, documents.all_embedded(side.connection, revision))
    if (fault := side.integrity()) != "ok":
        raise DamagedError(
            f"the index built beside {main.path} is damaged: {fault}", hint="memcli index --full"
        )
    main.check_present()
    with translated(main.path), main.connection.backup("main", side.connection, "main") as copy:
        copy.step()
    main.check_present()
