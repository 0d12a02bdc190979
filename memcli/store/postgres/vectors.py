"""Vectors by hash of the embedded text: the cache, and the nearest neighbours within a workspace.

There is no approximate index: it would find neighbours in all workspaces, and then drop those of
other workspaces, 199 of 200. Up to `MANY` vectors, all of a workspace are compared. With more, an
index first compares codes of two bits per component, and then the best vectors are compared.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Sequence
from sys import byteorder

from memcli.store import quantize
from memcli.store.postgres.filters import CHUNKS, NAMED_CHUNKS, within
from memcli.store.postgres.statements import Row, Statement, Values
from memcli.store.records import Neighbour, Scope

AT_ONCE = 256  # vectors that one statement stores
MANY = 8192  # from here on, codes are compared first: an exact scan of 8,888 takes 5.3 ms
# The row count of a table that was just filled is wrong until the server analyses it.
_NO_INDEX = "offset 0"  # an index ordered by distance would filter after its search


def asking_nearest(
    workspace: int, encoder: int, vector: bytes, limit: int, scope: Scope, *, is_coarse: bool
) -> Statement:
    """Write the query for the nearest texts and their chunks within reach, the nearest first.

    Equal distances are ordered by the place of the first chunk, and none of the equal texts is
    dropped before that.
    """
    values = Values([workspace])
    test = within(scope, values)
    own = f"v.workspace = $1 and v.encoder = {values(encoder)}"
    query = f"{values(written(vector))}::vector"
    fitting = f"v.unused_since is null and {fits(query)}"
    among = f"from memcli.vectors v where {own} and {fitting}"
    if test:
        among += (
            f" and v.hash in (select p.hash from {CHUNKS} join memcli.parts p on p.workspace ="
            f" c.workspace and p.chunk = c.id where c.workspace = $1{test})"
        )
    if is_coarse:
        most = values(max(quantize.LEAST_CODES, limit))
        coded = f"select v.hash, rank() over (order by v.code <~> {_code(query)}) as no {among}"
        among = (
            f"from (select hash from ({coded}) x where no <= {most}) y cross join lateral"
            f" (select * from memcli.vectors v where {own} and v.hash = y.hash offset 0) v"
        )
    return Statement(
        f"with near as materialized (select hash, distance from (select hash, distance,"
        f" rank() over (order by distance) as no from (select v.hash,"
        f" -{cosine(query)} as distance {among} {_NO_INDEX}) x) y"
        f" where no <= {values(limit)})"
        " select n.hash, n.distance, x.id from near n cross join lateral (select p.chunk, p.no from"
        " memcli.parts p where p.workspace = $1 and p.hash = n.hash offset 0) p"
        " cross join lateral (select c.id, d.source, d.path, c.ordinal from"
        f" {NAMED_CHUNKS} where c.workspace = $1 and c.id = p.chunk{test} offset 0) x"
        " order by n.distance, x.source, x.path, x.ordinal, p.no",
        values,
    )


def nearest(rows: Sequence[Row], limit: int) -> list[Neighbour]:
    """Read the rows of `asking_nearest`."""
    owners: dict[bytes, dict[int, None]] = {}
    distances: dict[bytes, float] = {}
    for hash_, distance, chunk_id in rows:
        owners.setdefault(hash_, {})[chunk_id] = None
        distances[hash_] = distance
    return [Neighbour(hash_, -distances[hash_], tuple(chunks)) for hash_, chunks in owners.items()][
        :limit
    ]


def cosine(query: str) -> str:
    """Write the cosine of a vector v as every store computes it: from the L2 distance."""
    return f"(1 - power(v.vector <-> {query}, 2) / 2)"


def fits(query: str) -> str:
    """Test that a stored vector v has as many components as the query.

    A role can store others. The server would refuse to compare them, and with them the statements
    of all workspaces that are searched together.
    """
    return f"length(v.code) = 2 * vector_dims({query})"


def _code(vector: str) -> str:
    """Write the code of a vector as the table computes it for its own vectors."""
    bound = f"array_fill((0.5 / sqrt(vector_dims({vector})))::real, array[vector_dims({vector})])"
    return (
        f"(binary_quantize({vector} - {bound}::vector)"
        f" || binary_quantize({vector} + {bound}::vector))"
    )


def written(vector: bytes) -> str:
    """Write a vector as text, which the server reads back to the same 32-bit components."""
    return "[" + ",".join(map(repr, struct.unpack(f"<{len(vector) // 4}f", vector))) + "]"


def read(sent: bytes) -> bytes:
    """Read the output of vector_send: two 16-bit numbers and big-endian components."""
    components = array("f", sent[4:])
    components.byteswap()
    return components.tobytes() if byteorder == "little" else sent[4:]
