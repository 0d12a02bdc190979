"""The tables of the index, and the ordered migrations that make them.

documents -> chunks -> parts; a part refers by the hash of its embedded text to `vectors`, the
embedding cache. `slots` assigns each hash in use a row in the vec0 table named by the `meta` key
`vec_table`. `fts` has one row per chunk and stores no text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

import apsw

from memcli.checking import TYPE_CHECKING
from memcli.digests import blake2b
from memcli.errors import DamagedError, IncompleteError, StoreError
from memcli.store.sqlite.driver import APPLICATION_ID, rows
from memcli.store.sqlite.fts_query import TOKENIZE

if TYPE_CHECKING:
    from typing import Any

PACKED = 14  # the first version in which a vector takes a byte per component
_QUOTED_TOKENIZE = TOKENIZE.replace("'", "''")

_V1 = f"""
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE documents (
  id INTEGER PRIMARY KEY,
  source TEXT NOT NULL, path TEXT NOT NULL,
  hash BLOB NOT NULL, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL,
  ctime_ns INTEGER NOT NULL, inode INTEGER NOT NULL, indexed_ns INTEGER NOT NULL,
  title TEXT NOT NULL, date TEXT, kind TEXT NOT NULL, scope TEXT NOT NULL,
  source_kind TEXT NOT NULL, trust TEXT NOT NULL, authority REAL, importance REAL,
  always INTEGER NOT NULL, front_matter TEXT NOT NULL, skip TEXT NOT NULL,
  UNIQUE (source, path)
);
CREATE TABLE chunks (
  id INTEGER PRIMARY KEY,
  document_id INTEGER NOT NULL REFERENCES documents (id),
  ordinal INTEGER NOT NULL, anchor TEXT NOT NULL, heading_path TEXT NOT NULL,
  start_line INTEGER NOT NULL, end_line INTEGER NOT NULL,
  start_byte INTEGER NOT NULL, end_byte INTEGER NOT NULL, tokens INTEGER NOT NULL,
  text_hash BLOB NOT NULL, date TEXT, links TEXT NOT NULL, text TEXT NOT NULL
);
CREATE INDEX chunks_document ON chunks (document_id);
CREATE TABLE parts (
  id INTEGER PRIMARY KEY,
  chunk_id INTEGER NOT NULL REFERENCES chunks (id),
  start_line INTEGER NOT NULL, end_line INTEGER NOT NULL,
  start INTEGER NOT NULL, "end" INTEGER NOT NULL,
  prefix TEXT NOT NULL, hash BLOB NOT NULL
);
CREATE INDEX parts_chunk ON parts (chunk_id);
CREATE INDEX parts_hash ON parts (hash);
CREATE TABLE vectors (
  id INTEGER PRIMARY KEY,
  fingerprint TEXT NOT NULL, hash BLOB NOT NULL, vector BLOB NOT NULL,
  unused_since INTEGER,
  UNIQUE (fingerprint, hash)
);
CREATE TABLE slots (id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE);
CREATE VIRTUAL TABLE fts USING fts5 (
  heading, body, content='', contentless_delete=1, tokenize='{_QUOTED_TOKENIZE}'
);
INSERT INTO fts (fts, rank) VALUES ('secure-delete', 1);
CREATE VIRTUAL TABLE terms USING fts5vocab (fts, row);
"""

# Lets a run that prunes skip the vectors in use.
_V2 = "CREATE INDEX vectors_unused ON vectors (unused_since) WHERE unused_since IS NOT NULL"

# The lines that a summary cites, with their present place. They are covered while `matches` is set
# and `checked` is still the hash of the file where they were looked up. So a changed file makes its
# lines uncovered at once.
_V3 = """
CREATE TABLE lineage (
  document_id INTEGER NOT NULL REFERENCES documents (id),
  path TEXT NOT NULL, start_line INTEGER NOT NULL, end_line INTEGER NOT NULL,
  hash BLOB NOT NULL, checked BLOB, matches INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX lineage_document ON lineage (document_id);
CREATE INDEX lineage_path ON lineage (path);
"""

# Documents that a context contains if there is room.
_V4 = """
ALTER TABLE documents ADD COLUMN soft INTEGER NOT NULL DEFAULT 0;
CREATE INDEX documents_rules ON documents (always, soft) WHERE always OR soft;
"""

# For questions that name a day.
_V5 = "CREATE INDEX chunks_date ON chunks (date) WHERE date IS NOT NULL"

# Check summaries again: earlier versions had neither seals nor quotations.
_V6 = "UPDATE lineage SET checked = NULL, matches = 0"

# Front matter for filters: one row for each key and value.
_V7 = """
CREATE TABLE properties (
  document_id INTEGER NOT NULL REFERENCES documents (id), key TEXT NOT NULL, value NOT NULL
);
CREATE INDEX properties_document ON properties (document_id);
CREATE INDEX properties_key ON properties (key, value);
"""

# Speakers: who says which lines of a chunk, and the documents of each speaker. Documents are cut
# again, which fills both.
_V8 = """
ALTER TABLE chunks ADD COLUMN turns TEXT NOT NULL DEFAULT '[]';
CREATE TABLE speakers (
  name TEXT NOT NULL, document_id INTEGER NOT NULL REFERENCES documents (id),
  PRIMARY KEY (name, document_id)
) WITHOUT ROWID;
CREATE INDEX speakers_document ON speakers (document_id);
"""

# Lines in which people say how they want things. Documents are cut again, which fills it.
_V9 = """
ALTER TABLE chunks ADD COLUMN preferences TEXT NOT NULL DEFAULT '[]';
CREATE INDEX chunks_preferences ON chunks (id) WHERE preferences <> '[]';
"""

# Texts that an encoder cannot read, so that no run tries them again.
_V11 = """
CREATE TABLE unread (
  hash BLOB NOT NULL, fingerprint TEXT NOT NULL, PRIMARY KEY (hash, fingerprint)
) WITHOUT ROWID
"""

# The first day of a span; the date is its last day. Documents are cut again, which fills it.
_V12 = """
ALTER TABLE documents ADD COLUMN first_day TEXT;
ALTER TABLE chunks ADD COLUMN first_day TEXT;
"""


# A number for the encoder of a vector instead of its name. Vectors are dropped.
_V13 = """
DROP TABLE vectors;
CREATE TABLE encoders (id INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL UNIQUE);
CREATE TABLE vectors (
  id INTEGER PRIMARY KEY,
  encoder INTEGER NOT NULL REFERENCES encoders (id), hash BLOB NOT NULL, vector BLOB NOT NULL,
  unused_since INTEGER,
  UNIQUE (encoder, hash)
);
CREATE INDEX vectors_unused ON vectors (unused_since) WHERE unused_since IS NOT NULL;
"""

# Vectors take one byte per component; memcli makes those of earlier versions again.
_V14 = """
DELETE FROM vectors;
DELETE FROM slots;
DELETE FROM meta WHERE key IN ('fingerprint', 'dimension', 'embedded_at');
"""


def _v7(connection: apsw.Connection) -> None:
    """Fill the new table from the stored front matter, so that no file is read again."""
    from memcli.store.sqlite import properties

    connection.execute(_V7)
    for document_id, front_matter in rows(connection, "SELECT id, front_matter FROM documents"):
        properties.put(connection, document_id, front_matter)


def _v10(connection: apsw.Connection) -> None:
    """Write Russian, Arabic and Japanese words as `language.stems` does; no file is read."""
    from memcli.store.sqlite import documents

    documents.reword(connection)


# Hash of the tables that the migrations make. A file with other tables is not taken for an index.
# Tables of vec0 and those that FTS5 and SQLite make for themselves are left out.
SHAPE = "388343875d3ac234e85192bcf187880a"
_VEC_TABLE = r"(?:vec|codes)_[0-9]{1,9}"
_VEC0_TABLE = rf"(?:{_VEC_TABLE}|codes_[0-9]{{1,5}}_[0-9]{{1,9}})"  # a tier's name has both numbers
_OWN_TABLES = rf"{_VEC0_TABLE}_(?:info|chunks|rowids|vector_chunks00)|fts_\w+|sqlite_\w+"
_VEC_SQL = rf"CREATE VIRTUAL TABLE {_VEC0_TABLE} USING vec0\([^()]+\)"
# Values of `meta` that are more than text to SQL and to readers.
_META = {
    "vec_table": _VEC_TABLE,
    "dimension": "[0-9]{1,5}",
    "revision": "[0-9]{1,18}",
    "published_as": "[0-9]{1,18}",
    "embedded_at": "[0-9]{1,18}(?: [0-9]{1,12}){0,4}",
}


# Migration n leads from user_version n to n + 1.
MIGRATIONS: tuple[str | Callable[[apsw.Connection], None], ...] = (
    _V1, _V2, _V3, _V4, _V5, _V6, _v7, _V8, _V9, _v10, _V11, _V12, _V13, _V14,
)  # fmt: skip


def version(connection: apsw.Connection) -> int:
    """Return the schema version of the file; 0 for an empty one."""
    return int(connection.pragma("user_version"))


def check(connection: apsw.Connection, path: str) -> None:
    """Refuse a file that this memcli cannot read."""
    found = version(connection)
    if found > len(MIGRATIONS):
        raise StoreError(
            f"the index {path} was made by a newer memcli (schema {found})",
            hint="upgrade memcli, or set MEMCLI_STORE to another file",
        )
    if found < len(MIGRATIONS):
        raise IncompleteError(f"the index {path} is not complete", hint="memcli index")
    if shape(connection) != SHAPE:
        raise DamagedError(
            f"the index {path} has tables that memcli did not make", hint="memcli index --full"
        )
    for key, value in rows(connection, "SELECT key, value FROM meta"):
        is_text = type(key) is str and type(value) is str
        if not is_text or not re.fullmatch(_META.get(key, "[\\s\\S]*"), value):
            raise DamagedError(
                f"the index {path} holds a {key} that memcli did not write: {str(value)[:40]!r}",
                hint="memcli index --full",
            )


def shape(connection: apsw.Connection) -> str:
    """Hash the definitions of all tables, indexes, triggers and views."""
    listed = rows(connection, "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY 1, 2")
    return _shape_of(tuple(listed))


@lru_cache(maxsize=16)  # most of several indexes made by one memcli define the same
def _shape_of(listed: tuple[tuple[Any, ...], ...]) -> str:
    found = []
    for kind, name, table, sql in listed:
        of_vec0 = re.fullmatch(_VEC0_TABLE, name) and re.fullmatch(_VEC_SQL, sql or "")
        of_others = re.fullmatch(_OWN_TABLES, table)
        if not (kind in ("table", "index") and (of_vec0 or of_others)):
            found.append((kind, name, table, sql))
    return blake2b(repr(found).encode(), digest_size=16).hexdigest()


def migrate(connection: apsw.Connection, path: str) -> None:
    """Migrate the file to the newest schema, one transaction per step."""
    while (found := version(connection)) < len(MIGRATIONS):
        if found < 0:
            raise DamagedError(
                f"the index {path} has a version that memcli did not write: {found}",
                hint="memcli index --full",
            )
        connection.execute("BEGIN IMMEDIATE")
        try:
            if version(connection) == found:
                step = MIGRATIONS[found]
                if isinstance(step, str):
                    connection.execute(step)
                else:
                    step(connection)
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version = {found + 1}")
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:  # a full disk has ended it already
                connection.execute("ROLLBACK")
            raise
    check(connection, path)
