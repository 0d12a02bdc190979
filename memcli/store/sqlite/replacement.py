"""The files and rows of an index that is built next to another one, and how it replaces that one.

From a damaged index it reads what cost most to make: the vectors, as far as they are valid.

SQLite's backup copies the finished index page by page into the old file. A reader keeps the state
it has open, the next one finds the new state, and if the process dies before the commit, nothing
has changed. Renaming the file would not work: a reader that has opened the old file could take the
write-ahead log of the new one for its own, and Windows does not rename open files.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterable, Iterator
from contextlib import suppress
from math import fsum

import apsw

from memcli.checking import Any
from memcli.errors import StoreError
from memcli.store import quantize
from memcli.store.run_records import AWAITED
from memcli.store.sqlite import documents, schema, vectors
from memcli.store.sqlite.driver import BESIDE, NEXT_SUFFIX, connect_unchanged, rows

PUBLISHED_AS = "published_as"  # meta key: the revision under which the copy is published


def age_ns(store: str, now_ns: int) -> int | None:
    """Return the age of the index next to another one; None if it does not exist."""
    path = store + NEXT_SUFFIX
    written = []
    for each in (path, path + "-wal"):
        with suppress(FileNotFoundError):
            written.append(os.stat(each).st_mtime_ns)
    return abs(now_ns - max(written)) if written else None


def is_awaited(store: str) -> bool:
    """Return whether the build of an index next to another one was paused on purpose."""
    path = store + NEXT_SUFFIX
    if any(os.path.exists(path + suffix) for suffix in BESIDE):
        return False
    with suppress(apsw.Error, StoreError):
        connection = connect_unchanged(path)
        try:
            return documents.meta(connection, AWAITED) == "1"
        finally:
            connection.close()
    return False


def copy_vectors(side: apsw.Connection, main: apsw.Connection, now: int) -> list[bytes]:
    """Copy the embedding cache; return the texts of `side` whose vectors are not searched yet.

    A copy is unused since then, or since `now`, in seconds since 1970. Vectors of an encoder
    without a valid name are left out.
    """
    cursor = main.execute(
        "SELECT CAST(e.fingerprint AS BLOB), v.hash, v.vector,"
        " CASE WHEN typeof(v.unused_since) = 'integer' THEN v.unused_since ELSE ? END"
        " FROM vectors v CROSS JOIN encoders e ON e.id = v.encoder ORDER BY v.id",
        (now,),
    )
    vectors.put(side, _named(cursor))
    waiting = rows(
        side,
        "SELECT DISTINCT p.hash FROM parts p JOIN vectors v ON v.hash = p.hash"
        " WHERE v.unused_since IS NOT NULL",
    )
    return [hash_ for (hash_,) in waiting]


def _named(rows: Iterable[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    """Yield the rows whose first value, the name of an encoder, is valid text."""
    for name, *row in rows:
        with suppress(UnicodeDecodeError):
            yield name.decode(), *row


Row = tuple[str, bytes, bytes]  # fingerprint, hash of the text, packed vector
UNIT = 0.05  # greatest difference of a squared length from 1 after packing


def readable_vectors(path: str) -> Iterator[Row]:
    """Yield the vectors of unit length, up to the first place that cannot be read.

    If memcli did not make the tables of the file, no vectors are returned.
    """
    with suppress(apsw.Error, StoreError, ValueError):
        connection = connect_unchanged(path)
        try:
            if schema.shape(connection) == schema.SHAPE:
                for row in connection.execute(
                    "SELECT e.fingerprint, v.hash, v.vector"
                    " FROM vectors v JOIN encoders e ON e.id = v.encoder"
                ):
                    if _is_sound(row):
                        yield row
        finally:
            connection.close(True)


def _is_sound(row: tuple[object, ...]) -> bool:
    fingerprint, hash_, vector = row
    if not (isinstance(fingerprint, str) and isinstance(hash_, bytes)):
        return False
    if not isinstance(vector, bytes):
        return False
    with suppress(ValueError):
        components = array("f", quantize.unpacked(vector))
        return abs(fsum(c * c for c in components) - 1.0) < UNIT
    return False
