"""The tables of the index.

documents -> chunks -> parts; a part refers by the hash of its embedded text to `vectors`, the
embedding cache. A vector with a `unused_since` of NULL is searched; in a large index its code is in
the vec0 table that the `meta` key `vec_table` names. `fts` has one row per chunk and stores no
text. Texts of chunks and prefixes of parts are deflated; `plain` reads them. The anchor of a chunk
is that of its headings with `repeat` at its end.
"""

from __future__ import annotations

import re
from contextlib import closing
from functools import lru_cache

import apsw

from memcli.checking import Any
from memcli.digests import blake2b
from memcli.errors import DamagedError, IncompleteError, StoreError
from memcli.store.sqlite.driver import APPLICATION_ID, damaged, rows, understood
from memcli.store.sqlite.fts_query import TOKENIZE

VERSION = 17  # of the tables; an index with older ones is built again
_QUOTED_TOKENIZE = TOKENIZE.replace("'", "''")
# An encoder is a number here, because its name is long.
_TABLES = f"""
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE documents (
  id INTEGER PRIMARY KEY,
  source TEXT NOT NULL, path TEXT NOT NULL,
  hash BLOB NOT NULL, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL,
  ctime_ns INTEGER NOT NULL, inode INTEGER NOT NULL, indexed_ns INTEGER NOT NULL,
  title TEXT NOT NULL, date TEXT, first_day TEXT, kind TEXT NOT NULL, scope TEXT NOT NULL,
  source_kind TEXT NOT NULL, trust TEXT NOT NULL, authority REAL, importance REAL,
  always INTEGER NOT NULL, soft INTEGER NOT NULL, front_matter TEXT NOT NULL, skip TEXT NOT NULL,
  UNIQUE (source, path)
);
CREATE INDEX documents_rules ON documents (always, soft) WHERE always OR soft;
CREATE TABLE chunks (
  id INTEGER PRIMARY KEY,
  document_id INTEGER NOT NULL REFERENCES documents (id),
  ordinal INTEGER NOT NULL, repeat TEXT NOT NULL, heading_path TEXT NOT NULL,
  start_line INTEGER NOT NULL, end_line INTEGER NOT NULL,
  start_byte INTEGER NOT NULL, end_byte INTEGER NOT NULL, tokens INTEGER NOT NULL,
  date TEXT, first_day TEXT, links TEXT NOT NULL, turns TEXT NOT NULL,
  preferences TEXT NOT NULL, text BLOB NOT NULL
);
CREATE INDEX chunks_document ON chunks (document_id);
CREATE INDEX chunks_date ON chunks (date) WHERE date IS NOT NULL;
CREATE INDEX chunks_preferences ON chunks (id) WHERE preferences <> '[]';
CREATE TABLE parts (
  chunk_id INTEGER NOT NULL REFERENCES chunks (id), no INTEGER NOT NULL,
  start_line INTEGER NOT NULL, end_line INTEGER NOT NULL,
  start INTEGER NOT NULL, "end" INTEGER NOT NULL,
  prefix BLOB NOT NULL, hash BLOB NOT NULL,
  PRIMARY KEY (chunk_id, no)
) WITHOUT ROWID;
CREATE INDEX parts_hash ON parts (hash);
CREATE TABLE properties (
  document_id INTEGER NOT NULL REFERENCES documents (id), key TEXT NOT NULL, value NOT NULL
);
CREATE INDEX properties_document ON properties (document_id);
CREATE INDEX properties_key ON properties (key, value);
CREATE TABLE speakers (
  name TEXT NOT NULL, document_id INTEGER NOT NULL REFERENCES documents (id),
  PRIMARY KEY (name, document_id)
) WITHOUT ROWID;
CREATE INDEX speakers_document ON speakers (document_id);
CREATE TABLE encoders (id INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL UNIQUE);
CREATE TABLE vectors (
  id INTEGER PRIMARY KEY,
  encoder INTEGER NOT NULL REFERENCES encoders (id), hash BLOB NOT NULL, vector BLOB NOT NULL,
  unused_since INTEGER,
  UNIQUE (encoder, hash)
);
CREATE INDEX vectors_unused ON vectors (unused_since, encoder) WHERE unused_since IS NOT NULL;
CREATE VIRTUAL TABLE fts USING fts5 (
  heading, body, content='', contentless_delete=1, tokenize='{_QUOTED_TOKENIZE}'
);
INSERT INTO fts (fts, rank) VALUES ('secure-delete', 1);
CREATE VIRTUAL TABLE terms USING fts5vocab (fts, row);
-- Texts that an encoder cannot read, so that no run tries them again.
CREATE TABLE unread (
  hash BLOB NOT NULL, encoder INTEGER NOT NULL REFERENCES encoders (id),
  PRIMARY KEY (hash, encoder)
) WITHOUT ROWID;
-- The lines that a summary cites, with their present place. They are covered while `matches` is
-- set and `checked` is still the hash of the file where they were looked up. So a changed file
-- makes its lines uncovered at once.
CREATE TABLE lineage (
  document_id INTEGER NOT NULL REFERENCES documents (id),
  path TEXT NOT NULL, start_line INTEGER NOT NULL, end_line INTEGER NOT NULL,
  hash BLOB NOT NULL, checked BLOB, matches INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX lineage_document ON lineage (document_id);
CREATE INDEX lineage_path ON lineage (path);
"""

# Hash of these tables. A file with other tables is not taken for an index.
# Tables of vec0 and those that FTS5 and SQLite make for themselves are left out.
SHAPE = "3717474ac7da538e8c93a5ee15b858ad"
_VEC_TABLE = "codes_[0-9]{1,9}"
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


def version(connection: apsw.Connection) -> int:
    """Return the schema version of the file; 0 for an empty one."""
    return int(connection.pragma("user_version"))


def check(connection: apsw.Connection, path: str) -> None:
    """Refuse a file that this memcli cannot read."""
    number = version(connection)
    if number > VERSION:
        raise StoreError(
            f"the index {path} was made by a newer memcli (schema {number})",
            hint="upgrade memcli, or set MEMCLI_STORE to another file",
        )
    if number < VERSION:
        why = "was made by an older memcli" if number else "is not complete"
        raise IncompleteError(f"the index {path} {why}", hint="memcli index")
    if shape(connection) != SHAPE:
        raise damaged(path, "has tables that memcli did not make")
    for key, value in rows(connection, "SELECT key, value FROM meta"):
        is_text = type(key) is str and type(value) is str
        if not is_text or not re.fullmatch(_META.get(key, "[\\s\\S]*"), value):
            raise damaged(path, f"contains a {key} that memcli did not write: {str(value)[:40]!r}")


def shape(connection: apsw.Connection) -> str:
    """Hash the definitions of all tables, indexes, triggers and views."""
    listed = rows(connection, "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY 1, 2")
    return _shape_of(tuple(listed))


@lru_cache(maxsize=16)  # most of several indexes made by one memcli define the same
def _shape_of(listed: tuple[tuple[Any, ...], ...]) -> str:
    shape = []
    for kind, name, table, sql in listed:
        of_vec0 = re.fullmatch(_VEC0_TABLE, name) and re.fullmatch(_VEC_SQL, sql or "")
        of_others = re.fullmatch(_OWN_TABLES, table)
        if not (kind in ("table", "index") and (of_vec0 or of_others)):
            shape.append((kind, name, table, sql))
    return blake2b(repr(shape).encode(), digest_size=16).hexdigest()


def make(connection: apsw.Connection, path: str) -> bool:
    """Make the tables unless the file has them; return whether older ones were deleted.

    SQLite's backup replaces everything in one transaction, even tables whose module is missing.
    """
    number = version(connection)
    if number < 0:
        raise damaged(path, f"has a version that memcli did not write: {number}")
    if number < VERSION:
        with closing(apsw.Connection(":memory:")) as empty:
            empty.execute(f"{_TABLES}PRAGMA application_id = {APPLICATION_ID};")
            empty.execute(f"PRAGMA user_version = {VERSION}")
            with connection.backup("main", empty, "main") as copy:
                copy.step()
    check(connection, path)
    return 0 < number < VERSION


_DAY = "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]"
_DIMENSION = "(SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'dimension')"
# The encoder whose vectors are searched.
ENCODER = (
    "(SELECT e.id FROM encoders e JOIN meta m ON m.value = e.fingerprint"
    " WHERE m.key = 'fingerprint')"
)
# SQLite accepts any type in any column, so a row may contain values that no reader expects.
_ODD = {
    "documents": "typeof(path) <> 'text' OR typeof(size) <> 'integer'"
    f" OR typeof(mtime_ns) <> 'integer' OR date NOT GLOB '{_DAY}'"
    f" OR first_day NOT GLOB '{_DAY}' OR first_day >= date"
    " OR NOT json_valid(front_matter) OR json_type(front_matter) <> 'object'",
    "chunks": "typeof(inflate(text, -15)) <> 'blob' OR typeof(start_line) <> 'integer'"
    f" OR typeof(end_line) <> 'integer' OR date NOT GLOB '{_DAY}'"
    f" OR first_day NOT GLOB '{_DAY}' OR first_day >= date"
    " OR NOT json_valid(heading_path) OR json_type(heading_path) <> 'array'"
    " OR NOT json_valid(links) OR json_type(links) <> 'array'"
    " OR NOT json_valid(turns) OR json_type(turns) <> 'array'"
    " OR NOT json_valid(preferences) OR json_type(preferences) <> 'array'",
    "parts": "typeof(start) <> 'integer' OR typeof(\"end\") <> 'integer'"
    " OR typeof(start_line) <> 'integer' OR typeof(end_line) <> 'integer'"
    " OR typeof(inflate(prefix, -15)) <> 'blob' OR typeof(hash) <> 'blob'",
    "properties": "typeof(key) <> 'text' OR typeof(value) NOT IN ('text', 'integer', 'real')",
    "speakers": "typeof(name) <> 'text'",
    "unread": "typeof(encoder) <> 'integer' OR typeof(hash) <> 'blob'",
    "encoders": "typeof(fingerprint) <> 'text'",
    "vectors": "typeof(encoder) <> 'integer'"
    " OR typeof(vector) <> 'blob' OR typeof(hash) <> 'blob'"
    f" OR (encoder = {ENCODER} AND length(vector) <> ({_DIMENSION} + 7) / 8 * 7)",
}


def first_fault(connection: apsw.Connection, path: str) -> str:
    """Return "ok", or the first fault in the pages and rows."""
    try:
        with understood(path):
            answer = str(rows(connection, "PRAGMA integrity_check(1)")[0][0])
            if answer != "ok":
                return answer
            for table, odd in _ODD.items():
                if rows(connection, f"SELECT 1 FROM {table} WHERE {odd} LIMIT 1"):
                    return f"a row of {table} is not as memcli writes them"
    except DamagedError as error:
        return error.message
    return "ok"
