"""The rows of properties: the front matter of documents, and the tests of filters."""

from __future__ import annotations

import json
from collections.abc import Iterator

import apsw

from memcli.checking import TYPE_CHECKING
from memcli.markdown.properties import TAGS, bare, day_of, folded, key_of, properties, same_values
from memcli.types import Filters, Where

if TYPE_CHECKING:
    from typing import Any

_SAYS = "d.id {IN} (SELECT document_id FROM properties WHERE {TEST})"
# A tag and the tags below it: "0" is the character that follows "/".
_TAGGED = "key = ? AND (value = ? OR (value > ? || '/' AND value < ? || '0'))"
# A key and the keys of a mapping below it: "/" is the character that follows ".".
_GIVEN = "key = ? OR (key > ? || '.' AND key < ? || '/')"
_ONE_OF = "key = ? AND (value IN (SELECT value FROM json_each(?)) OR value GLOB ?)"


def put(connection: apsw.Connection, document_id: int, front_matter: str) -> None:
    """Replace the front matter of a document, which is JSON."""
    connection.execute("DELETE FROM properties WHERE document_id = ?", (document_id,))
    if front_matter != "{}":
        pairs = properties(json.loads(front_matter))
        connection.executemany(
            "INSERT INTO properties (document_id, key, value) VALUES (?, ?, ?)",
            [(document_id, key, value) for key, value in pairs],
        )


def tests_of(filters: Filters) -> Iterator[tuple[str, list[Any]]]:
    """Write the tests over documents d, each with its values."""
    for tag in filters.tags:
        value = folded(bare(tag))
        yield _SAYS.format(IN="IN", TEST=_TAGGED), [TAGS, value, value, value]
    for where in filters.where:
        test, values = _condition(where)
        yield _SAYS.format(IN="NOT IN" if where.negated else "IN", TEST=test), values


def _condition(where: Where) -> tuple[str, list[Any]]:
    key = key_of(where.key)
    if where.value is None:
        return _GIVEN, [key, key, key]
    day = day_of(where.value)
    times = f"{day}[t ]*" if day else None  # on that day, such as 2026-02-05t10:00
    return _ONE_OF, [key, json.dumps(same_values(where.value)), times]
