"""Vectors by hash of the embedded text: the cache, the vec0 rows and nearest neighbours.

`vectors` keeps every vector of a fingerprint, packed by `quantize`, until it is pruned. `encoders`
numbers the fingerprints. A vector is searched while its `unused_since` is NULL; only vectors of
the encoder in use whose text is in a document are. The L2 distance d of unit vectors has the order
of the cosine: cos = 1 - d^2 / 2.

If there are few vectors, all are compared, directly from the cache. If there are many, a vec0 table
contains coarse codes, one row per searched vector, and the best ones are compared again by their
vectors. vec0 has no upsert, and accepts no code in an UPDATE, because SQLite passes the new value
without its subtype. It never compacts after deletions; `is_outgrown` returns whether a table has
too many freed rows.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from math import fsum

import apsw

from memcli.checking import Any
from memcli.errors import StoreError
from memcli.store import quantize
from memcli.store.records import Scope
from memcli.store.sqlite import coarse, schema
from memcli.store.sqlite.coarse import VectorQuery, unpacked_distances
from memcli.store.sqlite.driver import connect_unchanged, marks, plain, rows
from memcli.store.sqlite.filters import select_chunks
from memcli.types import PRIVATE

ENCODER = "(SELECT id FROM encoders WHERE fingerprint = ?)"
Row = tuple[str, bytes, bytes, int | None]  # fingerprint, hash, packed vector, unused since

# The number of first components that found the texts (0: all), then hash and cosine, best first.
Nearest = tuple[int, list[tuple[bytes, float]]]

CODED_AT_ONCE = 4096  # vectors
VEC_CHUNK_ROWS = 1024  # vec0's allocation unit
CHURN_LIMIT = 1.5  # rebuild when vec0 uses this many times the room that its rows need
# Up to this many bytes of float32 are compared, 2,048 vectors of 384 components. 757 take 1.1 ms,
# and codes of them 4.8; at 2,420 both take 5 to 6.
SCANNED_BYTES = 3 << 20


def is_scanned(count: int, dimension: int) -> bool:
    """Return whether so many float32 vectors of `dimension` components need no table of codes.

    An existing table of codes is dropped below half of that.
    """
    return 4 * dimension * count <= SCANNED_BYTES or not coarse.can_code(dimension)


def tiers_beside(connection: apsw.Connection, table: str) -> dict[int, str]:
    """Return the tables of tiers next to a table of codes, by their components.

    A missing tier is out of date: `keep_tiers` fills it from the whole vectors. An existing one
    has every change of the other table.
    """
    named = coarse.tier_table(table, 0).replace(f"{coarse.PREFIX}0_", f"{coarse.PREFIX}[0-9]*_")
    result = rows(
        connection,
        "SELECT name FROM sqlite_master WHERE name GLOB ? AND sql GLOB '*USING vec0*'",
        (named,),
    )
    return {int(name.split("_")[1]): name for (name,) in result}


def keep_tiers(
    connection: apsw.Connection, table: str, fingerprint: str, dimension: int, sizes: Iterable[int]
) -> None:
    """Keep the requested tiers next to a table of codes, and no others."""
    existing = tiers_beside(connection, table)
    for components in existing.keys() - sizes:
        connection.execute(f"DROP TABLE {existing[components]}")
    for components in sorted(set(sizes) - existing.keys()):
        name = coarse.tier_table(table, components)
        _make_table(connection, name, fingerprint, components, dimension)


def encoder_of(connection: apsw.Connection, fingerprint: str) -> int:
    """Return the number of an encoder, which is a new one if the index has none."""
    named = (fingerprint,)
    connection.execute("INSERT OR IGNORE INTO encoders (fingerprint) VALUES (?)", named)
    return int(rows(connection, f"SELECT {ENCODER}", named)[0][0])


def put(connection: apsw.Connection, made: Iterable[Row]) -> None:
    """Add vectors to the cache; existing ones stay as they are."""
    known: dict[str, int] = {}
    for fingerprint, *row in made:
        if fingerprint not in known:
            known[fingerprint] = encoder_of(connection, fingerprint)
        connection.execute(
            "INSERT OR IGNORE INTO vectors (encoder, hash, vector, unused_since)"
            " VALUES (?, ?, ?, ?)",
            (known[fingerprint], *row),
        )


def refresh(
    connection: apsw.Connection,
    tables: Mapping[str, int],
    fingerprint: str,
    *,
    gone: Iterable[bytes],
    living: Iterable[bytes],
    now: int,
) -> None:
    """Search no longer by the vectors of hashes that are gone, and by those of living ones.

    `tables` contain codes, each of so many first components. `now` is in seconds since 1970.
    """
    for hash_ in set(gone):
        if rows(connection, "SELECT 1 FROM parts WHERE hash = ? LIMIT 1", (hash_,)):
            continue
        connection.execute("DELETE FROM unread WHERE hash = ?", (hash_,))
        for number in rows(  # those of other encoders are unused already
            connection,
            f"UPDATE vectors SET unused_since = ? WHERE encoder = {ENCODER} AND hash = ?"
            " AND unused_since IS NULL RETURNING id",
            (now, fingerprint, hash_),
        ):
            for table in tables:
                connection.execute(f"DELETE FROM {table} WHERE id = ?", number)
    for hash_ in dict.fromkeys(living):
        for number, packed in rows(
            connection,
            "UPDATE vectors SET unused_since = NULL"
            f" WHERE encoder = {ENCODER} AND hash = ? AND unused_since IS NOT NULL"
            " RETURNING id, vector",
            (fingerprint, hash_),
        ):
            vector = quantize.unpacked(packed)
            for table, components in tables.items():
                code = coarse.stored(components, len(vector) // 4)
                connection.execute(
                    f"INSERT INTO {table} (id, embedding) VALUES (?2, {code})", (vector, number)
                )


def rebuild(
    connection: apsw.Connection, number: int, fingerprint: str, dimension: int
) -> str | None:
    """Fill a new vec0 table if many vectors are searched, and return its name."""
    if is_scanned(_count(connection), dimension):
        return None
    table = f"{coarse.PREFIX}{number}"
    _make_table(connection, table, fingerprint, dimension, dimension)
    return table


def _make_table(
    connection: apsw.Connection, table: str, fingerprint: str, components: int, dimension: int
) -> None:
    """Make a vec0 table of the first components of every vector that is searched."""
    connection.execute(
        f"CREATE VIRTUAL TABLE {table}"
        f" USING vec0(id INTEGER PRIMARY KEY, embedding bit[{coarse.bits(components)}])"
    )
    code, last = coarse.stored(components, dimension), 0
    while result := rows(
        connection,
        f"SELECT id, vector FROM vectors WHERE +encoder = {ENCODER} AND unused_since IS NULL"
        " AND id > ? ORDER BY id LIMIT ?",
        (fingerprint, last, CODED_AT_ONCE),
    ):
        last = result[-1][0]
        connection.executemany(
            f"INSERT INTO {table} (id, embedding) VALUES (?2, {code})",
            [(quantize.unpacked(vector), number) for number, vector in result],
        )


def is_outgrown(connection: apsw.Connection, table: str | None, dimension: int) -> bool:
    """Return whether the table has to be made or dropped, or has too many freed rows."""
    count = _count(connection)
    if table is None:
        return not is_scanned(count, dimension)
    if is_scanned(2 * count, dimension):
        return True
    chunks = int(rows(connection, f"SELECT count(*) FROM {table}_chunks")[0][0])
    return chunks * VEC_CHUNK_ROWS > CHURN_LIMIT * count + VEC_CHUNK_ROWS


def _count(connection: apsw.Connection) -> int:
    """Count the vectors that are searched: all but the unused ones, both by an index."""
    unused = "SELECT count(*) FROM vectors WHERE unused_since IS NOT NULL"
    return int(rows(connection, f"SELECT count(*) - ({unused}) FROM vectors")[0][0])


def nearest(connection: apsw.Connection, table: str | None, query: VectorQuery) -> Nearest:
    """List the hashes nearest to a query, and after them the ones that tie with the last.

    `within` selects chunks here. The caller orders ties.
    """
    if query.within is not None:
        select, values = query.within
        numbers = (
            f"SELECT w.id FROM parts p JOIN vectors w ON w.encoder = {ENCODER} AND w.hash = p.hash"
            f" WHERE p.chunk_id IN ({select})"
        )
        query = query._replace(within=(numbers, (query.fingerprint, *values)))
    if table is not None:
        tier, near = coarse.nearest(connection, table, query)
    else:
        tier, near = 0, _compared(connection, query)
    return tier, [(hash_, 1.0 - distance * distance / 2.0) for hash_, distance in near]


def _compared(connection: apsw.Connection, query: VectorQuery) -> Sequence[tuple[bytes, float]]:
    select, values = query.within or ("", ())
    within = f" AND id IN ({select})" if select else ""
    result = rows(
        connection,
        f"SELECT hash, vector FROM vectors WHERE +encoder = {ENCODER} AND unused_since IS NULL"
        f"{within}",
        (query.fingerprint, *values),
    )
    return coarse.ranked(connection, query, result)


def shareable(connection: apsw.Connection, hashes: Sequence[bytes]) -> set[bytes]:
    """Leave out the texts of private documents and those that contain a secret."""
    from memcli.secrets.finding import find_secrets

    result = rows(
        connection,
        f'SELECT p.hash, d.scope, substr({plain("c.text")}, p.start + 1, p."end" - p.start)'
        " FROM parts p"
        " JOIN chunks c ON c.id = p.chunk_id JOIN documents d ON d.id = c.document_id"
        f" WHERE p.hash IN ({marks(hashes)})",
        hashes,
    )
    own = {hash_ for hash_, scope, text in result if scope == PRIVATE or find_secrets(text)}
    return {hash_ for hash_, *_ in result} - own


def owners(
    connection: apsw.Connection, hashes: Sequence[bytes], scope: Scope
) -> dict[bytes, tuple[int, ...]]:
    """List the chunks within reach that contain each of some texts, in the order of their places.

    Places are ordered by source, path and line; a text has the place of its first chunk.
    """
    if not hashes:
        return {}
    select, values = select_chunks(scope) or ("", [])
    within = f" AND p.chunk_id IN ({select})" if select else ""
    by_hash: dict[bytes, list[int]] = {}
    for hash_, chunk_id in rows(
        connection,
        "SELECT p.hash, c.id FROM parts p LEFT JOIN chunks c ON c.id = p.chunk_id"
        f" LEFT JOIN documents d ON d.id = c.document_id WHERE p.hash IN ({marks(hashes)}){within}"
        " ORDER BY d.source, d.path, c.ordinal",
        (*hashes, *values),
    ):
        if chunk_id is None:
            raise ValueError("parts.chunk_id is that of no chunk")
        by_hash.setdefault(hash_, []).append(chunk_id)
    return {hash_: tuple(dict.fromkeys(chunks)) for hash_, chunks in by_hash.items()}


def unpacked_of(connection: apsw.Connection, numbers: Sequence[int]) -> dict[int, bytes]:
    """Read vectors by the numbers of their rows."""
    sql = "SELECT id, vector FROM vectors WHERE id IN (SELECT value FROM json_each(?))"
    packed = dict(rows(connection, sql, (json.dumps(numbers),)))
    sizes = {*map(len, packed.values())}
    if len(sizes) > 1:
        raise ValueError("vectors of an encoder are of several dimensions")
    dimension = quantize.dimension_of(max(sizes, default=0))
    joined, step = quantize.unpacked(b"".join(packed.values()), dimension), 4 * dimension
    return {each: joined[at * step : (at + 1) * step] for at, each in enumerate(packed)}


def cosines(
    connection: apsw.Connection, query: bytes, vectors: Mapping[int, bytes]
) -> dict[int | None, float]:
    """Return the cosines of vectors, by the numbers of their rows."""
    if {*map(len, vectors.values())} - {4 * quantize.padded(len(query) // 4)}:
        raise ValueError("a vector is not of the dimension of the query")
    joined = b"".join(vectors.values())
    distances = unpacked_distances(connection, query, joined)
    pairs = zip(vectors, distances, strict=True)
    return {number: 1.0 - distance * distance / 2.0 for number, distance in pairs}


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
    put(side, _named(cursor))
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


_UNIT = 0.05  # greatest difference of a squared length from 1 after packing


def readable_vectors(path: str) -> Iterator[tuple[str, bytes, bytes]]:
    """Yield fingerprint, hash and packed vector of a damaged index, up to an unreadable place.

    Only vectors of unit length are sound; there are none if memcli did not make the tables.
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
    *names, vector = row
    if [*map(type, names)] != [str, bytes] or not isinstance(vector, bytes):
        return False
    with suppress(ValueError):
        components = array("f", quantize.unpacked(vector))
        return abs(fsum(c * c for c in components) - 1.0) < _UNIT
    return False
