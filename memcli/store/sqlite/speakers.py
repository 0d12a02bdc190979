"""The rows of speakers: who says which lines of a chunk, and the documents of each speaker."""

from __future__ import annotations

import json
from collections.abc import Iterable

from memcli.checking import TYPE_CHECKING
from memcli.store.sqlite.driver import rows

if TYPE_CHECKING:
    from typing import Any

    import apsw

    from memcli.types import Chunk, Turn

# One step of the index for each name, however many documents contain it.
_NAMES = """
WITH RECURSIVE names (name) AS (
  SELECT min(name) FROM speakers
  UNION ALL
  SELECT (SELECT min(s.name) FROM speakers s WHERE s.name > names.name) FROM names
  WHERE names.name IS NOT NULL
)
SELECT name FROM names WHERE name IS NOT NULL
"""
_BUT = " AND name IN (SELECT s.name FROM speakers s, documents d ON d.id = s.document_id"
_BUT += " WHERE d.scope <> ?)"


def as_json(turns: Iterable[Turn]) -> str:
    """Write turns as a chunk stores them."""
    return json.dumps([tuple(turn) for turn in turns], ensure_ascii=False, separators=(",", ":"))


def put(connection: apsw.Connection, document_id: int, chunks: Iterable[Chunk]) -> None:
    """Replace the speakers of a document."""
    connection.execute("DELETE FROM speakers WHERE document_id = ?", (document_id,))
    names = {turn.speaker for chunk in chunks for turn in chunk.turns}
    connection.executemany(
        "INSERT INTO speakers (name, document_id) VALUES (?, ?)",
        [(name, document_id) for name in sorted(names)],
    )


def names(connection: apsw.Connection, *, but: str | None) -> list[str]:
    """List all speakers, each once, except in documents of one scope."""
    result: list[tuple[Any, ...]] = (
        rows(connection, _NAMES) if but is None else rows(connection, _NAMES + _BUT, (but,))
    )
    if any(type(name) is not str for (name,) in result):
        raise ValueError("speakers.name is no text")
    return [name for (name,) in result]
