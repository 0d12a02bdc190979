"""Check a whole index file: its pages with SQLite, its rows for values memcli never writes."""

from __future__ import annotations

import apsw

from memcli.errors import DamagedError
from memcli.store.sqlite.driver import rows, understood

_DAY = "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]"
_DIMENSION = "(SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'dimension')"
_ENCODER = (
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
    f" OR (encoder = {_ENCODER} AND length(vector) <> ({_DIMENSION} + 7) / 8 * 7)",
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
