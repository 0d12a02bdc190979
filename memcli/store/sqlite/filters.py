"""Translate the filters to SQL that both retrievers apply before their top-k."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

from memcli.checking import Any
from memcli.store.records import MOST_DAYS, Scope
from memcli.types import MEMORY_SOURCE, Filters, SourceLines, Where

Select = tuple[str, Sequence["Any"]]  # the SQL that selects ids, with its bindings
# The last day on which a span that contains a given day may end, because no span is longer than a
# quarter. A search reads the index of dates only up to that day.
LAST_OF_ANY = f"coalesce(date(?, '+{MOST_DAYS} days'), '9999-12-31')"
_OWN = f"d.source = '{MEMORY_SOURCE}'"
# Tests over chunks c of documents d. Each starts from the given lines, so its cost depends on them
# and not on the size of the index.
_LINES = (
    "c.id {IN} (SELECT x.id FROM json_each(?) w"
    f" JOIN documents y ON y.source = '{MEMORY_SOURCE}' AND y.path = w.value ->> 0"
    " JOIN chunks x ON x.document_id = y.id WHERE {TEST})"
)
_UNDER = (
    "EXISTS (SELECT 1 FROM json_each(c.heading_path) h WHERE instr(lower(h.value), lower(?)) > 0)"
)
_TOUCHES = _LINES.format(
    IN="IN", TEST="w.value ->> 1 <= x.end_line AND w.value ->> 2 >= x.start_line"
)
_OUTSIDE = _LINES.format(
    IN="NOT IN", TEST="w.value ->> 1 <= x.start_line AND w.value ->> 2 >= x.end_line"
)
# Starts from the documents in which one of the names speaks.
_SAYS = (
    "d.id IN (SELECT document_id FROM speakers WHERE name IN (SELECT value FROM json_each(?)))"
    " AND EXISTS (SELECT 1 FROM json_each(c.turns) t"
    " WHERE t.value ->> 2 IN (SELECT value FROM json_each(?)))"
)


def select_chunks(scope: Scope) -> Select | None:
    """Write a SELECT of the chunk ids within reach, or None if all are."""
    test, values = within(scope)
    if not test:
        return None
    return (
        f"SELECT c.id FROM chunks c JOIN documents d ON d.id = c.document_id WHERE {test}",
        values,
    )


def within(scope: Scope, dated: str = "c") -> tuple[str, list[Any]]:
    """Write a test over chunks c of documents d; empty if all are within reach.

    Date filters apply to `dated`: chunks "c", or "d" for documents only.
    """
    filters = scope.filters
    first_day, date = f"coalesce({dated}.first_day, {dated}.date)", f"{dated}.date"
    tests: list[str] = []
    values: list[Any] = []
    undated = f"{date} IS NULL OR " if filters.undated else ""
    if filters.since:
        tests.append(f"({undated}{date} >= ?)")
        values.append(filters.since)
    if filters.until:
        tests.append(f"({undated}{first_day} <= ? AND {date} <= {LAST_OF_ANY})")
        values += [filters.until, filters.until]
    for column, accepted in (
        ("d.source", filters.sources),
        ("d.kind", filters.kinds),
        ("d.scope", filters.scopes),
        ("d.trust", filters.trusts),
    ):
        if accepted:
            tests.append(f"{column} IN ({','.join('?' * len(accepted))})")
            values += accepted
    if filters.paths:
        either = "d.path GLOB ? OR d.source || ':' || d.path GLOB ?"
        tests.append("(" + " OR ".join([either] * len(filters.paths)) + ")")
        values += [glob for path in filters.paths for glob in (_glob(path),) * 2]
    for heading in filters.headings:
        tests.append(_UNDER)
        values.append(heading)
    for test, compared in _conditions(filters):
        tests.append(test)
        values += compared
    if filters.within:
        tests.append(_TOUCHES)
        values.append(_as_json(filters.within))
    if scope.without:
        tests.append(f"NOT ({_OWN} AND d.path IN (SELECT value FROM json_each(?)))")
        values.append(json.dumps(scope.without))
    if scope.beyond:
        tests.append(_OUTSIDE)
        values.append(_as_json(scope.beyond))
    # No text contains half a surrogate, which Python makes of a byte that is not UTF-8.
    clean = (v.encode("utf-8", "replace").decode() if isinstance(v, str) else v for v in values)
    return " AND ".join(tests), [*clean]


def _conditions(filters: Filters) -> Iterator[tuple[str, list[Any]]]:
    """Yield the tests of front matter values and of speakers, each with its values."""
    if filters.tags or filters.where:
        from memcli.markdown.properties import TAGS, bare, folded

        for tag in filters.tags:
            value = folded(bare(tag))
            yield _HAS.format(IN="IN", TEST=_TAGGED), [TAGS, value, value, value]
        for where in filters.where:
            test, values = _condition(where)
            yield _HAS.format(IN="NOT IN" if where.negated else "IN", TEST=test), values
    if filters.by:
        yield _SAYS, [json.dumps(filters.by)] * 2


def _as_json(lines: Iterable[SourceLines]) -> str:
    return json.dumps([(s.path, s.start_line, s.end_line) for s in lines])


def _glob(pattern: str) -> str:
    """Let a folder match everything below it; `**` is `*`, which also matches `/`.

    `[!x]` means the same as `[^x]`.
    """
    pattern = pattern.removeprefix("./").replace("[!", "[^")
    return pattern + "*" if pattern.endswith("/") else pattern.replace("**", "*")


_HAS = "d.id {IN} (SELECT document_id FROM properties WHERE {TEST})"
# A tag and the tags below it: "0" is the character that follows "/".
_TAGGED = "key = ? AND (value = ? OR (value > ? || '/' AND value < ? || '0'))"
# A key and the keys of a mapping below it: "/" is the character that follows ".".
_GIVEN = "key = ? OR (key > ? || '.' AND key < ? || '/')"
_ONE_OF = "key = ? AND (value IN (SELECT value FROM json_each(?)) OR value GLOB ?)"


def _condition(where: Where) -> tuple[str, list[Any]]:
    from memcli.markdown.properties import day_of, key_of, same_values

    key = key_of(where.key)
    if where.value is None:
        return _GIVEN, [key, key, key]
    day = day_of(where.value)
    times = f"{day}[t ]*" if day else None  # on that day, such as 2026-02-05t10:00
    return _ONE_OF, [key, json.dumps(same_values(where.value)), times]
