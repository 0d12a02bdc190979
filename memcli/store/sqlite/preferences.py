"""The lines of chunks in which somebody says how they want things."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from memcli.store.sqlite.driver import TEXT, WHOLE, Column, typed_rows
from memcli.store.sqlite.excerpts import CHUNKS
from memcli.store.sqlite.filters import within

if TYPE_CHECKING:
    import apsw

    from memcli.store.records import Reach
    from memcli.types import Lines


def lines_of(text: str) -> tuple[Lines, ...]:
    """Read what a chunk keeps; a ValueError where it is anything else."""
    found = tuple((first, last) for first, last in json.loads(text))
    if any((type(first), type(last)) != (int, int) for first, last in found):
        raise ValueError("chunks.preferences holds something else")
    return found


def newest(connection: apsw.Connection, limit: int, reach: Reach) -> dict[int, tuple[Lines, ...]]:
    """Give the lines of the chunks that have any: of undated documents, then of the newest."""
    test, values = within(reach)
    found = typed_rows(
        connection,
        (Column("c.id", WHOLE), Column("c.preferences", TEXT)),
        f"{CHUNKS} WHERE c.preferences <> '[]'{test and f' AND {test}'}"
        " ORDER BY c.date IS NOT NULL, c.date DESC, d.source, d.path, c.ordinal LIMIT ?",
        (*values, limit),
    )
    return {chunk_id: lines_of(text) for chunk_id, text in found}
