"""Vectors by hash of the embedded text: the cache, the vec0 rows and nearest neighbours.

`vectors` keeps every vector ever made for a fingerprint until it is pruned; `slots` lists the
living hashes. L2 distance d over unit vectors orders like the cosine: cos = 1 - d^2 / 2.

Few vectors are all compared, as they lie in the cache. Of many a vec0 table holds coarse codes,
the row of a slot each, whose best are compared again by the vectors. vec0 knows no upsert and
never compacts after deletes, so a freed row is taken over by UPDATE before a new one is added.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import apsw

from memcli.checking import TYPE_CHECKING
from memcli.store.sqlite import coarse
from memcli.store.sqlite.driver import rows
from memcli.store.sqlite.filters import select_chunks

if TYPE_CHECKING:
    from typing import Any

    from memcli.store.records import Reach
    from memcli.store.sqlite.coarse import Asked

Nearest = list[tuple[bytes, float]]  # hash and cosine of texts, best first

MOST_BINDINGS = 10_000  # of a statement; SQLite takes 32,766
VEC_CHUNK_ROWS = 1024  # vec0's allocation unit
CHURN_LIMIT = 1.5  # rebuild when vec0 holds this many times the room its rows need
# Up to so many bytes of vectors are compared, 2,048 of 384 components. 305 take .7 ms and 757 take
# 1.1, where a table of them in vec0 took 2.8 and codes 4.8; at 2,420 both ways take 5 to 6.
# Such a table was more than half of a small index, since vec0 sets 1,024 rows aside at once.
SCANNED_BYTES = 3 << 20


def is_scanned(count: int, dimension: int) -> bool:
    """Tell whether so many vectors of `dimension` float32 components need no codes, or have none.

    A table of codes is given up below half of that.
    """
    return 4 * dimension * count <= SCANNED_BYTES or not coarse.can_code(dimension)


def create_table(connection: apsw.Connection, number: int, dimension: int) -> str:
    """Make an empty vec0 table for codes of vectors of `dimension` components; give its name."""
    name = f"{coarse.PREFIX}{number}"
    connection.execute(
        f"CREATE VIRTUAL TABLE {name}"
        f" USING vec0(id INTEGER PRIMARY KEY, embedding bit[{coarse.bits(dimension)}])"
    )
    return name


def refresh_slots(
    connection: apsw.Connection,
    table: str | None,
    fingerprint: str,
    *,
    gone: Iterable[bytes],
    living: Iterable[bytes],
    now: int,
) -> None:
    """Give slots to living hashes that have a vector, first those of hashes that are gone.

    Without a table only the slots are kept. `now` is in seconds since 1970.
    """
    free: list[int] = []
    for hash_ in set(gone):
        if rows(connection, "SELECT 1 FROM parts WHERE hash = ? LIMIT 1", (hash_,)):
            continue
        connection.execute("DELETE FROM unread WHERE hash = ?", (hash_,))
        free += [r[0] for r in rows(connection, "SELECT id FROM slots WHERE hash = ?", (hash_,))]
        connection.execute(  # those of other encoders are unused already
            "UPDATE vectors SET unused_since = ? WHERE fingerprint = ? AND hash = ?",
            (now, fingerprint, hash_),
        )
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
                stored = coarse.encoded("?1", len(vector) // 4)
                connection.execute(
                    f"UPDATE {table} SET embedding = {stored} WHERE id = ?2", (vector, slot)
                )
        else:
            connection.execute("INSERT INTO slots (hash) VALUES (?)", (hash_,))
            slot = connection.last_insert_rowid()
            if table:
                stored = coarse.encoded("?1", len(vector) // 4)
                connection.execute(
                    f"INSERT INTO {table} (id, embedding) VALUES (?2, {stored})", (vector, slot)
                )
    for slot in free:
        connection.execute("DELETE FROM slots WHERE id = ?", (slot,))
        if table:
            connection.execute(f"DELETE FROM {table} WHERE id = ?", (slot,))


def switch_cache(connection: apsw.Connection, fingerprint: str, now: int) -> None:
    """Count the vectors of every other encoder as unused from now on, and those of this as used."""
    connection.execute(
        "UPDATE vectors SET unused_since = ? WHERE fingerprint <> ? AND unused_since IS NULL",
        (now, fingerprint),
    )
    connection.execute(
        "UPDATE vectors SET unused_since = NULL WHERE fingerprint = ? AND unused_since IS NOT NULL"
        " AND hash IN (SELECT hash FROM parts)",
        (fingerprint,),
    )


def rebuild(
    connection: apsw.Connection, number: int, fingerprint: str, dimension: int
) -> str | None:
    """Fill the slots from the cache, and a new vec0 table where they are many, for every part.

    Gives the name of the table.
    """
    connection.execute("DELETE FROM slots")
    connection.execute(
        "INSERT INTO slots (hash) SELECT DISTINCT p.hash FROM parts p "
        "JOIN vectors v ON v.hash = p.hash AND v.fingerprint = ? ORDER BY p.id",
        (fingerprint,),
    )
    if is_scanned(_count(connection), dimension):
        return None
    table = create_table(connection, number, dimension)
    connection.execute(
        f"INSERT INTO {table} (id, embedding) SELECT s.id, {coarse.encoded('v.vector', dimension)}"
        # Not sorted but read in the order of slots: a sorter forgets that a blob is a code.
        " FROM slots s CROSS JOIN vectors v ON v.hash = s.hash AND v.fingerprint = ?",
        (fingerprint,),
    )
    return table


def is_outgrown(connection: apsw.Connection, table: str | None, dimension: int) -> bool:
    """Tell whether there are too many vectors for no table, too few for one, or it is bloated."""
    slots = _count(connection)
    if table is None:
        return not is_scanned(slots, dimension)
    if not coarse.is_coarse(table) or is_scanned(2 * slots, dimension):
        return True
    chunks = int(rows(connection, f"SELECT count(*) FROM {table}_chunks")[0][0])
    return chunks > 1 and chunks * VEC_CHUNK_ROWS > CHURN_LIMIT * slots + VEC_CHUNK_ROWS


def _count(connection: apsw.Connection) -> int:
    return int(rows(connection, "SELECT count(*) FROM slots")[0][0])


def nearest(
    connection: apsw.Connection, table: str | None, asked: Asked, *, has_vec: bool
) -> Nearest:
    """List the hashes nearest to a query, and behind these the ones that tie with the last.

    What is asked is asked within chunks. Which of equals comes first, the caller decides. Without
    sqlite-vec (`has_vec`) numpy compares.
    """
    if asked.within is not None:
        select, values = asked.within
        slots = (
            "SELECT s.id FROM slots s JOIN parts p ON p.hash = s.hash "
            f"WHERE p.chunk_id IN ({select})"
        )
        asked = asked._replace(within=(slots, values))
    if not has_vec:
        return _by_numpy(connection, asked)
    if table is not None and coarse.is_coarse(table):
        near = coarse.nearest(connection, table, asked)
    else:
        near = _by_sql(connection, asked)
    return [(hash_, 1.0 - distance * distance / 2.0) for hash_, distance in near]


def _among(asked: Asked) -> tuple[str, tuple[Any, ...]]:
    """Write what is compared with a query: vectors v of slots s."""
    select, values = asked.within or ("", ())
    within = f" AND s.id IN ({select})" if select else ""
    among = "FROM vectors v CROSS JOIN slots s ON s.hash = v.hash WHERE +v.fingerprint = ?"
    if select:
        among = "FROM slots s CROSS JOIN vectors v ON v.hash = s.hash WHERE v.fingerprint = ?"
    return f"{among}{within}", (asked.fingerprint, *values)


def _by_sql(connection: apsw.Connection, asked: Asked) -> Sequence[tuple[bytes, float]]:
    """Compare with every vector, for more and more until all that tie with the last are there."""
    among, values = _among(asked)
    most = asked.limit + 1
    while True:
        found = rows(
            connection,
            f"SELECT s.hash, vec_distance_L2(v.vector, ?) AS distance {among}"
            " ORDER BY distance LIMIT ?",
            (asked.vector, *values, most),
        )
        kept = coarse.with_ties(found, asked.limit)
        if len(kept) < most:
            return kept
        most *= 2


def _by_numpy(connection: apsw.Connection, asked: Asked) -> Nearest:
    """Compare with every vector where vec0 cannot load."""
    import numpy as np

    among, values = _among(asked)
    found = rows(connection, f"SELECT s.hash, v.vector {among} ORDER BY s.id", values)
    if not found:
        return []
    matrix = np.frombuffer(b"".join(r[1] for r in found), "<f4").reshape(len(found), -1)
    # Row by row: a product of matrices sums a row by its place.
    cosines = (matrix * np.frombuffer(asked.vector, "<f4")).sum(axis=1)
    order = np.argsort(-cosines, kind="stable")
    ranked = [(found[i][0], -float(cosines[i])) for i in order]
    return [(hash_, -cosine) for hash_, cosine in coarse.with_ties(ranked, asked.limit)]


def owners(
    connection: apsw.Connection, hashes: Sequence[bytes], reach: Reach
) -> dict[bytes, tuple[int, ...]]:
    """List the chunks within reach that hold each of some texts, all in the order of their places.

    Places are ordered by source, path and line; a text stands where the first of its chunks does.
    """
    if not hashes:
        return {}
    select, values = select_chunks(reach) or ("", [])
    within = f" AND p.chunk_id IN ({select})" if select else ""
    marks = ",".join("?" * len(hashes))
    found: dict[bytes, list[int]] = {}
    for hash_, chunk_id in rows(
        connection,
        "SELECT p.hash, c.id FROM parts p LEFT JOIN chunks c ON c.id = p.chunk_id"
        f" LEFT JOIN documents d ON d.id = c.document_id WHERE p.hash IN ({marks}){within}"
        " ORDER BY d.source, d.path, c.ordinal",
        (*hashes, *values),
    ):
        if chunk_id is None:
            raise ValueError("parts.chunk_id is that of no chunk")
        found.setdefault(hash_, []).append(chunk_id)
    return {hash_: tuple(dict.fromkeys(chunks)) for hash_, chunks in found.items()}


def cosines(
    connection: apsw.Connection,
    fingerprint: str,
    query: bytes,
    hashes: Sequence[bytes],
    *,
    has_vec: bool,
) -> dict[bytes, float]:
    """Give the cosine of those of some texts that are embedded, by hash."""
    found: dict[bytes, float] = {}
    for at in range(0, len(hashes), MOST_BINDINGS):
        batch = hashes[at : at + MOST_BINDINGS]
        among = f"FROM vectors WHERE fingerprint = ? AND hash IN ({','.join('?' * len(batch))})"
        bindings = (fingerprint, *batch)
        if has_vec:
            sql = f"SELECT hash, vec_distance_L2(vector, ?) {among}"
            for hash_, distance in rows(connection, sql, (query, *bindings)):
                found[hash_] = 1.0 - distance * distance / 2.0
        else:
            import numpy as np

            asked = np.frombuffer(query, "<f4")
            for hash_, blob in rows(connection, f"SELECT hash, vector {among}", bindings):
                found[hash_] = float(np.frombuffer(blob, "<f4") @ asked)
    return found
