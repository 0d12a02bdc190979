"""Coarse codes of vectors: a few bits per component that vec0 compares by hamming distance.

Each component has one bit per threshold: whether it is above -T and T, in units of 1/sqrt(d), the
spread of a unit vector's components. So the hamming distance is the L1 distance of components cut
to three levels. Signs only find too little: on 50,661 segment vectors of a manual, recall@10 with
160 codes rescored is 0.959 with one bit, 0.994 with two and 1.000 with three. The time of a scan
depends on its bytes. With 200 codes and 400 questions, two bits reach 0.9985.

vec0 selects the k best of a chunk in k passes, so its time grows with k. A bound on the distance
ends the passes early: 800 codes cost as much as 10. The bound is estimated from a sample.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from math import ceil

import apsw

from memcli.checking import TYPE_CHECKING, Any
from memcli.record import Record
from memcli.store import quantize
from memcli.store.quantize import LEAST_CODES
from memcli.store.sqlite.driver import has_vec, marks, rows

if TYPE_CHECKING:
    from memcli.store.sqlite.filters import Select
    from memcli.store.tiers import Tier

PREFIX = "codes_"
MOST_BITS = 8192  # in a vec0 column
THRESHOLD = 0.5
MOST_NEIGHBOURS = 4096  # the most that vec0 returns
# vec0 chunks in the sample for the bound: at least this many, and one in this many. Fewer chunks of
# a large index give a loose bound; with a million vectors this takes 2 ms and saves 15.
SAMPLE_CHUNKS = 8
SAMPLE_SHARE = 32
SAMPLE_STEP = 16  # reads every 16th row of a chunk
SAFETY = 4  # rows within the bound per requested row
SPARE = 8  # extra rows of the sample, against chance


class VectorQuery(Record):
    """A search among the vectors of an encoder."""

    fingerprint: str
    vector: bytes
    limit: int
    within: Select | None = None
    state: str = ""  # of a large index that the process often queries, or ""
    tiers: Sequence[Tier] = ()  # searched first; each has its own codes


def can_code(dimension: int) -> bool:
    """Return whether vec0 accepts codes of vectors with `dimension` components."""
    return dimension % 8 == 0 and dimension <= MOST_BITS


def bits(dimension: int) -> int:
    """Return the length of a code."""
    return dimension * len(_thresholds(dimension))


def encoded(vector: str, dimension: int) -> str:
    """Return the SQL of the code of a vector, which is itself an SQL expression used repeatedly."""
    planes = []
    for threshold in _thresholds(dimension):
        level = array("f", [threshold * dimension**-0.5]) * dimension
        moved = f"vec_sub({vector}, x'{level.tobytes().hex()}')" if threshold else vector
        planes.append(f"vec_quantize_binary({moved})")
    return f"vec_bit(CAST({' || '.join(planes)} AS BLOB))"


def stored(components: int, dimension: int) -> str:
    """Return the SQL of the code of the first components of ?1, a vector of float32."""
    if components == dimension:
        return encoded("?1", dimension)
    return encoded(f"vec_normalize(substr(?1, 1, {4 * components}))", components)


def tier_table(table: str, components: int) -> str:
    """Return the name of the table of codes of the first components."""
    return f"{PREFIX}{components}_{table.removeprefix(PREFIX)}"


def _thresholds(dimension: int) -> tuple[float, ...]:
    return (-THRESHOLD, THRESHOLD) if 2 * dimension <= MOST_BITS else (0.0,)


def nearest(
    connection: apsw.Connection, table: str, query: VectorQuery
) -> tuple[int, Sequence[tuple[bytes, float]]]:
    """List the (hash, L2 distance) of nearly the nearest vectors, and all ties with the last.

    `within` selects rows of `vectors` here. Codes with equal distances are all rescored or none, so
    the answer does not depend on their order in the table. The first value is the number of
    components that found the list, 0 for all of them.
    """
    for tier in query.tiers:
        best, neighbours = _by_head(connection, table, query, tier)
        if tier.is_sure(best):
            return tier.components, ranked(connection, query, neighbours)
    return 0, ranked(connection, query, _by_all(connection, table, query))


def _by_head(
    connection: apsw.Connection, table: str, query: VectorQuery, tier: Tier
) -> tuple[float, list[tuple[Any, ...]]]:
    """Search by the first components only; return the best cosine, 0 for none, and the vectors."""
    from memcli.store.tiers import head_cosine, head_of

    head = head_of(query.vector, tier.components)
    code: bytes = rows(connection, f"SELECT {encoded('?1', tier.components)}", (head,))[0][0]
    count = max(LEAST_CODES, query.limit)
    of_tier = tier_table(table, tier.components)
    neighbours = _read(connection, _numbers(connection, of_tier, query, code=code, limit=count))
    heads = [vector[: quantize.size(tier.components)] for _, vector in neighbours]
    origin, whole = bytes(len(head)), len(query.vector) // 4
    apart = distances_of(connection, head, heads, dimension=whole)
    lengths = distances_of(connection, origin, heads, dimension=whole)
    return max(map(head_cosine, apart, lengths), default=0.0), neighbours


def _by_all(connection: apsw.Connection, table: str, query: VectorQuery) -> list[tuple[Any, ...]]:
    dimension = len(query.vector) // 4
    code: bytes = rows(connection, f"SELECT {encoded('?1', dimension)}", (query.vector,))[0][0]
    count = max(LEAST_CODES, query.limit)
    numbers: list[int] | None = None
    if query.within is None and query.state:
        from memcli.store.sqlite import large_index

        near = large_index.nearest(connection, table, query.state, code, count)
        if near is not None:  # vec0 returns no more than this, whatever ties with the last
            numbers = [number for number, _ in near[:MOST_NEIGHBOURS]]
    if numbers is None:
        numbers = _numbers(connection, table, query, code=code, limit=count)
    return _read(connection, numbers)


def _numbers(
    connection: apsw.Connection, table: str, query: VectorQuery, *, code: bytes, limit: int
) -> list[int]:
    """List the rows of the nearest codes, with all ties with the last, by vec0."""
    bound, most = _bound(connection, table, code, limit), min(2 * limit, MOST_NEIGHBOURS)
    select, values = query.within or ("", ())
    within = f" AND id IN ({select})" if select else ""
    sql = (
        f"SELECT id, distance FROM {table}"
        f" WHERE embedding MATCH vec_bit(?) AND k = ? AND distance <= ?{within} ORDER BY distance"
    )
    while True:
        coded = rows(connection, sql, (code, most, bound, *values))
        nearest = with_ties(coded, limit)
        if len(coded) < limit and bound < 8 * len(code):
            bound = 8 * len(code)
        elif len(nearest) < most or most == MOST_NEIGHBOURS:
            break
        else:
            most = min(2 * most, MOST_NEIGHBOURS)
    return [number for number, _ in nearest]


def with_ties(rows: Sequence[tuple[Any, float]], limit: int) -> Sequence[tuple[Any, float]]:
    """Cut a list sorted by distance after the last requested item and all its ties."""
    if len(rows) <= limit:
        return rows
    end = limit
    while end < len(rows) and rows[end][1] == rows[limit - 1][1]:
        end += 1
    return rows[:end]


def _read(connection: apsw.Connection, numbers: Sequence[int]) -> list[tuple[Any, ...]]:
    sql = f"SELECT hash, vector FROM vectors WHERE id IN ({marks(numbers)})"
    return rows(connection, sql, numbers)


def ranked(
    connection: apsw.Connection, query: VectorQuery, rows: Sequence[tuple[Any, ...]]
) -> Sequence[tuple[bytes, float]]:
    """List the (hash, L2 distance) of the best of some vectors, and of all ties with the last."""
    distances = distances_of(connection, query.vector, [vector for _, vector in rows])
    scored = zip([hash_ for hash_, _ in rows], distances, strict=True)
    return with_ties(sorted(scored, key=lambda scored: scored[1]), query.limit)


def _bound(connection: apsw.Connection, table: str, code: bytes, limit: int) -> int:
    """Estimate the distance within which a few times the requested rows are."""
    chunks: int = rows(connection, f"SELECT max(rowid) FROM {table}_vector_chunks00")[0][0] or 0
    samples = max(SAMPLE_CHUNKS, chunks // SAMPLE_SHARE)
    sampled = sorted({1 + number * chunks // samples for number in range(samples)})
    bits, length, count = int.from_bytes(code, "little"), len(code), 0
    distances: list[int] = []
    for row in sampled:
        for (blob,) in rows(
            connection, f"SELECT vectors FROM {table}_vector_chunks00 WHERE rowid = ?", (row,)
        ):
            count += len(blob) // length
            for at in range(0, len(blob), length * SAMPLE_STEP):
                near = int.from_bytes(blob[at : at + length], "little") ^ bits
                distances.append(near.bit_count())
    if not count:
        return len(code) * 8
    distances.sort()
    total = chunks * count / len(sampled)
    rank = ceil(len(distances) * min(1.0, SAFETY * limit / total)) + SPARE
    return distances[min(rank, len(distances) - 1)]


_MOST_AT_ONCE = 8192  # vectors; 12 MB of float32 with 384 components
# From vectors of ?1 bytes each in the text ?2 to another vector.
_DISTANCES = (
    "WITH RECURSIVE v (at) AS"
    " (SELECT 1 WHERE ?2 UNION ALL SELECT at + ?1 FROM v WHERE at + ?1 <= ?2)"
    " SELECT vec_distance_L2(substr(?3, at, ?1), ?4) FROM v"
)


def distances_of(
    connection: apsw.Connection, query: bytes, vectors: Sequence[bytes], dimension: int = 0
) -> list[float]:
    """Return the L2 distances of packed vectors to one of float32; without sqlite-vec by numpy.

    For the first components of vectors, `dimension` is that of whole vectors. ValueError for a
    vector of another dimension than the query.
    """
    if {*map(len, vectors)} - {quantize.size(len(query) // 4)}:
        raise ValueError("a vector is not of the dimension of the query")
    distances: list[float] = []
    for at in range(0, len(vectors), _MOST_AT_ONCE):
        joined = b"".join(vectors[at : at + _MOST_AT_ONCE])
        batch = quantize.unpacked(joined, dimension or len(query) // 4)
        distances += unpacked_distances(connection, query, batch)
    return distances


def unpacked_distances(connection: apsw.Connection, query: bytes, vectors: bytes) -> list[float]:
    """Return the L2 distances of concatenated vectors to a query, all in float32."""
    query += bytes(4 * quantize.padded(len(query) // 4) - len(query))
    if not has_vec(connection):
        import numpy as np

        one = np.frombuffer(query, "<f4")
        apart = np.frombuffer(vectors, "<f4").reshape(-1, len(one)) - one
        distances: list[float] = np.sqrt((apart * apart).sum(axis=1)).tolist()
        return distances
    result = rows(connection, _DISTANCES, (len(query), len(vectors), vectors, query))
    return [distance for (distance,) in result]
