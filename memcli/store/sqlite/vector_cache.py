"""The vectors that the indexes of one user share: by encoder and hash of the text, in one file.

Each index has its own copy of its vectors and never needs this file. A run copies here what it
embeds, and takes from here what another index has embedded: a clone, a moved folder, a folder
above or below. If this file fails, the run embeds everything itself and prints a notice.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence

import apsw

from memcli.checking import Made
from memcli.errors import BusyError, DamagedError, StoreError
from memcli.store.records import DAY_SECONDS
from memcli.store.sqlite import driver

VERSION = 3  # raise it when the tables, the packing of vectors or the hash of a text change
MOST_BYTES = 256 << 20  # some 600,000 vectors of 384 components
KEPT_SHARE = 0.75  # of the vectors, if there are too many; those used last are kept
_TABLES = f"""
CREATE TABLE encoders (id INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL UNIQUE);
CREATE TABLE vectors (
  id INTEGER PRIMARY KEY, encoder INTEGER NOT NULL REFERENCES encoders (id),
  hash BLOB NOT NULL, vector BLOB NOT NULL, used_day INTEGER NOT NULL, UNIQUE (hash, encoder)
);
PRAGMA application_id = {driver.APPLICATION_ID};
PRAGMA user_version = {VERSION};
"""
_ENCODER = "(SELECT id FROM encoders WHERE fingerprint = ?)"


class VectorCache:
    """The shared vectors; the file is opened at first use."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.problem = ""  # why nothing is shared any more
        self._connection: apsw.Connection | None = None

    def get(self, fingerprint: str, hashes: Sequence[bytes], now: int) -> Mapping[bytes, bytes]:
        """Return the packed vectors of those texts that have one, and record their use."""

        def read(connection: apsw.Connection) -> Mapping[bytes, bytes]:
            listed = json.dumps([hash_.hex() for hash_ in hashes])
            result = driver.rows(
                connection,
                "SELECT hash, vector, used_day, id FROM vectors WHERE hash IN"
                f" (SELECT unhex(value) FROM json_each(?)) AND encoder = {_ENCODER}",
                (listed, fingerprint),
            )
            day = now // DAY_SECONDS
            if older := [number for *_, used, number in result if used != day]:
                connection.execute(
                    "UPDATE vectors SET used_day = ? WHERE id IN (SELECT value FROM json_each(?))",
                    (day, json.dumps(older)),
                )
            return {hash_: vector for hash_, vector, *_ in result if type(vector) is bytes}

        return self._attempt(read, {})

    def put(self, fingerprint: str, made: Sequence[tuple[bytes, bytes]], now: int) -> None:
        """Add packed vectors by the hash of their text; if there are too many, drop old ones."""

        def write(connection: apsw.Connection) -> None:
            with connection:
                connection.execute(
                    "INSERT OR IGNORE INTO encoders (fingerprint) VALUES (?)", (fingerprint,)
                )
                connection.executemany(
                    "INSERT OR IGNORE INTO vectors (encoder, hash, vector, used_day)"
                    f" VALUES ({_ENCODER}, ?, ?, ?)",
                    [(fingerprint, *pair, now // DAY_SECONDS) for pair in made],
                )
            used = connection.pragma("page_count") - connection.pragma("freelist_count")
            if used * connection.pragma("page_size") > MOST_BYTES:
                connection.execute(
                    "DELETE FROM vectors WHERE id IN (SELECT id FROM vectors ORDER BY used_day, id"
                    " LIMIT (SELECT CAST(count(*) * ? AS INTEGER) FROM vectors))",
                    (1.0 - KEPT_SHARE,),
                )

        if made:
            self._attempt(write, None)

    def prune(self, now: int) -> None:
        """Delete the vectors that no index has made or used today."""
        self._attempt(
            lambda connection: connection.execute(
                "DELETE FROM vectors WHERE used_day <> ?", (now // DAY_SECONDS,)
            ),
            None,
        )

    def close(self) -> None:
        """Close the file."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close(True)

    def _attempt(self, work: Callable[[apsw.Connection], Made], without: Made) -> Made:
        """Work on the file; after a fault return `without`, and do not try again."""
        if self.problem:
            return without
        try:
            if self._connection is None:
                self._connection = _opened(self.path)
            with driver.translated(self.path):
                return work(self._connection)
        except DamagedError:
            self.close()
            driver.remove_files(self.path)
            self.problem = f"{self.path} was damaged and is deleted; the next run begins it again"
        except (BusyError, StoreError, OSError, apsw.Error) as error:
            self.close()
            self.problem = str(error)
        return without


def _opened(path: str) -> apsw.Connection:
    """Open or make the file; empty one of an older version, and leave a newer one unchanged."""
    connection = driver.connect(path, write=True).connection
    with driver.translated(path), driver.closed_on_failure(connection):
        if connection.pragma("user_version") == VERSION:
            return connection
        connection.execute("BEGIN IMMEDIATE")  # another run may be making the tables
        number = connection.pragma("user_version")
        if number > VERSION:
            text = f"{path} was made by a newer memcli; upgrade memcli to share vectors"
            raise StoreError(text, hint="upgrade memcli")
        if number != VERSION:
            connection.execute("DROP TABLE IF EXISTS vectors; DROP TABLE IF EXISTS encoders")
            connection.execute(_TABLES)
        connection.execute("COMMIT")
    return connection
