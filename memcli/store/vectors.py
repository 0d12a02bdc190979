"""Vectors by hash of the embedded text: the cache, the vec0 rows and nearest neighbours.

`vectors` keeps every vector ever made for a fingerprint until it is pruned; `slots` gives a
living hash its row in the vec0 table. vec0 knows no upsert and never compacts after deletes,
so a freed row is taken over by UPDATE before a new one is added. L2 distance d over unit
vectors orders like the cosine: cos = 1 - d^2 / 2.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import apsw

from memcli.store.driver import rows

VEC_CHUNK_ROWS = 1024  # vec0's allocation unit
CHURN_LIMIT = 1.5  # rebuild when vec0 holds this many times the room its rows need
IN_LIMIT = 30_000  # SQLite takes 32,766 bindings


def create_table(connection: apsw.Connection, table: str, dimension: int) -> None:
    """Make an empty vec0 table for vectors of `dimension` float32 components."""
    connection.execute(
        f"CREATE VIRTUAL TABLE {table}"
        f" USING vec0(id INTEGER PRIMARY KEY, embedding float[{dimension}])"
    )


def refresh_slots(
    connection: apsw.Connection,
    table: str | None,
    fingerprint: str,
    *,
    gone: Iterable[bytes],
    living: Iterable[bytes],
) -> None:
    """Give slots to living hashes that have a vector, first those of hashes that are gone.

    `table` None means that vec0 is not at hand: slots are kept, and the caller marks the
    table as behind.
    """
    free: list[int] = []
    for hash_ in set(gone):
        if rows(connection, "SELECT 1 FROM parts WHERE hash = ? LIMIT 1", (hash_,)):
            continue
        free += [r[0] for r in rows(connection, "SELECT id FROM slots WHERE hash = ?", (hash_,))]
        connection.execute("UPDATE vectors SET unused_since = unixepoch() WHERE hash = ?", (hash_,))
    for hash_ in dict.fromkeys(living):
        found = rows(
            connection,
            "SELECT v.vector, s.id FROM vectors v LEFT JOIN slots s ON s.hash = v.hash "
            "WHERE v.fingerprint = ? AND v.hash = ?",
            (fingerprint, hash_),
        )
        if not found or found[0][1] is not None:
            continue
        vector = found[0][0]
        connection.execute(
            "UPDATE vectors SET unused_since = NULL"
            " WHERE fingerprint = ? AND hash = ? AND unused_since IS NOT NULL",
            (fingerprint, hash_),
        )
        if free:
            slot = free.pop()
            connection.execute("UPDATE slots SET hash = ? WHERE id = ?", (hash_, slot))
            if table:
                connection.execute(f"UPDATE {table} SET embedding = ? WHERE id = ?", (vector, slot))
        else:
            connection.execute("INSERT INTO slots (hash) VALUES (?)", (hash_,))
            slot = connection.last_insert_rowid()
            if table:
                connection.execute(
                    f"INSERT INTO {table} (id, embedding) VALUES (?, ?)", (slot, vector)
                )
    for slot in free:
        connection.execute("DELETE FROM slots WHERE id = ?", (slot,))
        if table:
            connection.execute(f"DELETE FROM {table} WHERE id = ?", (slot,))


def switch_cache(connection: apsw.Connection, fingerprint: str) -> None:
    """Count the vectors of every other encoder as unused from now on, and those of this as used."""
    connection.execute(
        "UPDATE vectors SET unused_since = unixepoch()"
        " WHERE fingerprint <> ? AND unused_since IS NULL",
        (fingerprint,),
    )
    connection.execute(
        "UPDATE vectors SET unused_since = NULL WHERE fingerprint = ? AND unused_since IS NOT NULL"
        " AND hash IN (SELECT hash FROM parts)",
        (fingerprint,),
    )


def rebuild(connection: apsw.Connection, table: str, fingerprint: str, dimension: int) -> None:
    """Fill a new vec0 table and the slots from the cache, for every hash that a part has."""
    connection.execute("DELETE FROM slots")
    create_table(connection, table, dimension)
    connection.execute(
        "INSERT INTO slots (hash) SELECT DISTINCT p.hash FROM parts p "
        "JOIN vectors v ON v.hash = p.hash AND v.fingerprint = ? ORDER BY p.id",
        (fingerprint,),
    )
    connection.execute(
        f"INSERT INTO {table} (id, embedding) SELECT s.id, v.vector FROM slots s "
        "JOIN vectors v ON v.hash = s.hash AND v.fingerprint = ? ORDER BY s.id",
        (fingerprint,),
    )


def is_churned(connection: apsw.Connection, table: str) -> bool:
    """Tell whether deletes have left the vec0 table much larger than its rows."""
    chunks = int(rows(connection, f"SELECT count(*) FROM {table}_chunks")[0][0])
    slots = int(rows(connection, "SELECT count(*) FROM slots")[0][0])
    return chunks > 1 and chunks * VEC_CHUNK_ROWS > CHURN_LIMIT * slots + VEC_CHUNK_ROWS


def nearest(
    connection: apsw.Connection,
    table: str | None,
    fingerprint: str,
    query: bytes,
    k: int,
    chunk_filter: tuple[str, Sequence[Any]] | None,
) -> list[tuple[bytes, float]]:
    """List the hashes nearest to a query as (hash, cosine), best first; ties by slot.

    `chunk_filter` is a SELECT of the chunk ids to search in, with its bindings.
    """
    allowed, bindings = "", ()
    if chunk_filter is not None:
        select, values = chunk_filter
        allowed = (
            "SELECT s.id FROM slots s JOIN parts p ON p.hash = s.hash "
            f"WHERE p.chunk_id IN ({select})"
        )
        bindings = tuple(values)
    if table is None:
        return _scan(connection, fingerprint, query, k, allowed, bindings)
    within = f" AND id IN ({allowed})" if allowed else ""
    found = rows(
        connection,
        f"WITH n AS MATERIALIZED (SELECT id, distance FROM {table} "
        f"WHERE embedding MATCH ? AND k = ?{within}) "
        "SELECT s.hash, n.distance FROM n JOIN slots s ON s.id = n.id ORDER BY n.distance, n.id",
        (query, k, *bindings),
    )
    return [(hash_, 1.0 - distance * distance / 2.0) for hash_, distance in found]


def _scan(
    connection: apsw.Connection,
    fingerprint: str,
    query: bytes,
    k: int,
    allowed: str,
    bindings: tuple[Any, ...],
) -> list[tuple[bytes, float]]:
    """Compare with every vector by numpy: the exact answer where vec0 cannot load."""
    import numpy as np

    within = f" WHERE s.id IN ({allowed})" if allowed else ""
    found = rows(
        connection,
        "SELECT s.hash, v.vector FROM slots s JOIN vectors v ON v.hash = s.hash "
        f"AND v.fingerprint = ?{within} ORDER BY s.id",
        (fingerprint, *bindings),
    )
    if not found:
        return []
    matrix = np.frombuffer(b"".join(r[1] for r in found), "<f4").reshape(len(found), -1)
    cosines = matrix @ np.frombuffer(query, "<f4")
    order = np.argsort(-cosines, kind="stable")[:k]
    return [(found[i][0], float(cosines[i])) for i in order]


def cosines(
    connection: apsw.Connection,
    fingerprint: str,
    query: bytes,
    chunk_ids: Sequence[int],
    *,
    has_vec: bool,
) -> dict[int, float]:
    """Give the cosine of every embedded part of some chunks, by part id."""
    marks = ",".join("?" * len(chunk_ids))
    joined = (
        "FROM parts p JOIN vectors v ON v.hash = p.hash AND v.fingerprint = ? "
        f"WHERE p.chunk_id IN ({marks})"
    )
    if has_vec:
        found = rows(
            connection,
            f"SELECT p.id, vec_distance_L2(v.vector, ?) {joined}",
            (query, fingerprint, *chunk_ids),
        )
        return {part: 1.0 - distance * distance / 2.0 for part, distance in found}
    import numpy as np

    vector = np.frombuffer(query, "<f4")
    found = rows(connection, f"SELECT p.id, v.vector {joined}", (fingerprint, *chunk_ids))
    return {part: float(np.frombuffer(blob, "<f4") @ vector) for part, blob in found}
