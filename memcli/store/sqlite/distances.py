"""Distances of packed vectors to one that is asked for."""

from __future__ import annotations

from collections.abc import Sequence

import apsw

from memcli.store import fixed
from memcli.store.sqlite.driver import rows

_MOST_AT_ONCE = 8192  # vectors; 12 MB of float32 with 384 components
# Of vectors that lie one behind the other, ?1 bytes each of ?2, to another one.
_DISTANCES = (
    "WITH RECURSIVE v (at) AS"
    " (SELECT 1 WHERE ?2 UNION ALL SELECT at + ?1 FROM v WHERE at + ?1 <= ?2)"
    " SELECT vec_distance_L2(substr(?3, at, ?1), ?4) FROM v"
)


def distances_of(
    connection: apsw.Connection, query: bytes, vectors: Sequence[bytes], *, has_vec: bool
) -> list[float]:
    """Give the L2 distance of packed vectors to one of float32; without sqlite-vec by numpy.

    ValueError for a vector of another dimension.
    """
    if {*map(len, vectors)} - {fixed.BYTES * len(query) // 4}:
        raise ValueError("a vector is not of the dimension of the query")
    found: list[float] = []
    for at in range(0, len(vectors), _MOST_AT_ONCE):
        batch = fixed.mirrored(b"".join(vectors[at : at + _MOST_AT_ONCE]))
        found += mirrored_distances(connection, query, batch, has_vec=has_vec)
    return found


def mirrored_distances(
    connection: apsw.Connection, query: bytes, vectors: bytes, *, has_vec: bool
) -> list[float]:
    """Give the L2 distances of vectors that `mirrored` has given to one of float32."""
    asked = fixed.reflected(query)
    if has_vec:
        found = rows(connection, _DISTANCES, (len(asked), len(vectors), vectors, asked))
        return [distance for (distance,) in found]
    import numpy as np

    apart = np.frombuffer(vectors, "<f4").reshape(-1, len(asked) // 4) - np.frombuffer(asked, "<f4")
    distances: list[float] = np.sqrt((apart * apart).sum(axis=1)).tolist()
    return distances
