"""Take an index back to what older versions of memcli kept, rows and all."""

from __future__ import annotations

import apsw

from memcli.store.quantize import unpacked
from memcli.store.sqlite.driver import rows


def widen(connection: apsw.Connection) -> None:
    """Keep vectors as older versions did: float32, each row with the name of what made it."""
    found = rows(
        connection,
        "SELECT v.id, e.fingerprint, v.hash, v.vector, v.unused_since"
        " FROM vectors v JOIN encoders e ON e.id = v.encoder",
    )
    connection.execute(
        "DROP TABLE vectors; DROP TABLE encoders; CREATE TABLE vectors (id INTEGER PRIMARY KEY,"
        " fingerprint TEXT NOT NULL, hash BLOB NOT NULL, vector BLOB NOT NULL,"
        " unused_since INTEGER, UNIQUE (fingerprint, hash));"
        "CREATE INDEX vectors_unused ON vectors (unused_since) WHERE unused_since IS NOT NULL"
    )
    connection.executemany(
        "INSERT INTO vectors VALUES (?, ?, ?, ?, ?)",
        [(*key, unpacked(vector), since) for *key, vector, since in found],
    )


def to_first_schema(connection: apsw.Connection) -> None:
    """Take back every migration but the first."""
    widen(connection)
    connection.execute(
        "ALTER TABLE documents DROP COLUMN first_day; ALTER TABLE chunks DROP COLUMN first_day;"
        "DROP TABLE unread;"
        "DROP INDEX chunks_preferences; ALTER TABLE chunks DROP COLUMN preferences;"
        "DROP TABLE speakers; ALTER TABLE chunks DROP COLUMN turns;"
        "DROP TABLE properties; DROP INDEX chunks_date; DROP INDEX documents_rules;"
        "ALTER TABLE documents DROP COLUMN soft;"
        "DROP TABLE lineage; DROP INDEX vectors_unused; PRAGMA user_version = 1"
    )
