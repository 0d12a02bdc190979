"""Translate the reach of a query to SQL that every retriever applies before its top-k."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from datetime import date, timedelta

from memcli.checking import TYPE_CHECKING
from memcli.markdown.properties import TAGS, bare, day_of, folded, key_of, same_values
from memcli.store.postgres.rows import comparable
from memcli.store.records import MOST_DAYS, Scope
from memcli.types import MEMORY_SOURCE, Filters, SourceLines, Where

if TYPE_CHECKING:
    from memcli.store.postgres.statements import Values

CHUNKS = (
    "memcli.chunks c join memcli.documents d on d.workspace = c.workspace and d.id = c.document"
)
# The same for a list of chunks: look up the document of each, whatever the row counts that the
# server assumes. For a table that was just filled it assumes one row.
NAMED_CHUNKS = (
    "memcli.chunks c cross join lateral (select * from memcli.documents d"
    " where d.workspace = c.workspace and d.id = c.document offset 0) d"
)
PLACED = "d.source, d.path, c.ordinal"
# The source of `Candidate.named_by`.
NAMED_BY = "case c.ordinal when 0 then d.front_matter else '' end"
FIRST_DAY = "coalesce(c.first_day, c.date)"
LAST_DATE = "9999-12-31"
_OWN = f"d.source = '{MEMORY_SOURCE}'"


def last_of_any(day: str) -> str:
    """Return the last day on which a span that contains a given day may end."""
    try:
        return (date.fromisoformat(day) + timedelta(MOST_DAYS)).isoformat()
    except (ValueError, OverflowError):
        return LAST_DATE


def within(scope: Scope, values: Values, dated: str = "c") -> str:
    """Write tests over chunks c of documents d of the workspace $1, each after an `and`.

    Date filters apply to `dated`: chunks "c", or "d" for documents only.
    """
    filters = scope.filters
    first_day, day = f"coalesce({dated}.first_day, {dated}.date)", f"{dated}.date"
    tests: list[str] = []
    undated = f"{day} is null or " if filters.undated else ""
    if filters.since:
        tests.append(f"({undated}{day} >= {values(filters.since)})")
    if filters.until:
        last = values(last_of_any(filters.until))
        tests.append(f"({undated}{first_day} <= {values(filters.until)} and {day} <= {last})")
    for column, accepted in (
        ("d.source", filters.sources),
        ("d.kind", filters.kinds),
        ("d.scope", filters.scopes),
        ("d.trust", filters.trusts),
    ):
        if accepted:
            tests.append(f"{column} = any({values(accepted)}::text[])")
    if filters.paths:
        globs = values([pattern(path) for path in filters.paths])
        either = (
            f"d.path ~ any({globs}::text[]) or d.source || ':' || d.path ~ any({globs}::text[])"
        )
        tests.append(f"({either})")
    tests += [_under(heading, values) for heading in filters.headings]
    tests += _conditions(filters, values)
    if filters.within:
        meeting = "x.start_line <= w.last and x.end_line >= w.first"
        tests.append(f"c.id in ({_lines(filters.within, meeting, values)})")
    if scope.without:
        tests.append(f"not ({_OWN} and d.path = any({values(scope.without)}::text[]))")
    if scope.beyond:
        inside = "x.start_line >= w.first and x.end_line <= w.last"
        tests.append(f"c.id not in ({_lines(scope.beyond, inside, values)})")
    return "".join(f" and {test}" for test in tests)


def pattern(glob: str) -> str:
    """Write a glob as a regular expression that matches what it matches in every store.

    `*` crosses folders, and a folder matches everything below it.
    """
    glob = glob.removeprefix("./")
    glob = glob + "*" if glob.endswith("/") else glob.replace("**", "*")
    made, at = [], 0
    while at < len(glob):
        char, at = glob[at], at + 1
        if char == "[":
            one, at = _one_of(glob, at)
            made.append(one)
        else:
            made.append({"*": ".*", "?": "."}.get(char) or _member(char))
    return f"^(?:{''.join(made)})$"


_NEVER = "(?!)"


def _one_of(glob: str, at: int) -> tuple[str, int]:
    """Read a set from the character after its bracket; return its expression and its end."""
    negates = glob[at : at + 1] in ("^", "!")
    at += negates
    members, before = [], ""
    first = at
    while at < len(glob) and (glob[at] != "]" or at == first):
        char, at = glob[at], at + 1
        if char == "-" and before and glob[at : at + 1] not in ("", "]"):
            if before <= glob[at]:
                members.append(f"{_member(before)}-{_member(glob[at])}")
            before, at = "", at + 1
        else:
            members.append(_member(char))
            before = char
    if at == len(glob):
        return _NEVER, at
    if not members:
        return "." if negates else _NEVER, at + 1
    return f"[{'^' if negates else ''}{''.join(members)}]", at + 1


def _member(char: str) -> str:
    return char if char.isalnum() or ord(char) > 127 else f"\\u{ord(char):04x}"


def _under(heading: str, values: Values) -> str:
    return (
        "exists (select 1 from json_array_elements_text(c.heading_path::json) h"
        f" where strpos(lower(h), lower({values(heading)})) > 0)"
    )


def _lines(lines: Iterable[SourceLines], test: str, values: Values) -> str:
    """Write a SELECT of the chunks that contain some lines; it starts from the lines."""
    parameter = values(json.dumps([(s.path, s.start_line, s.end_line) for s in lines]))
    return (
        "select x.id from (select e ->> 0 path, (e ->> 1)::bigint first, (e ->> 2)::bigint last"
        f" from json_array_elements({parameter}::json) e) w join memcli.documents y"
        f" on y.workspace = $1 and y.source = '{MEMORY_SOURCE}'"
        " and y.path = w.path join memcli.chunks x on x.workspace = y.workspace"
        f" and x.document = y.id where {test}"
    )


def _conditions(filters: Filters, values: Values) -> Iterator[str]:
    """Yield the tests of front matter and of speakers."""
    says = "exists (select 1 from memcli.properties p where p.workspace = d.workspace"
    for tag in filters.tags:
        parameter = values(f"s{folded(bare(tag))}")
        yield (
            f"{says} and p.document = d.id and p.key = {values(TAGS)}"
            f" and (p.value = {parameter} or p.value ^@ ({parameter} || '/')))"
        )
    for where in filters.where:
        test = f"{says} and p.document = d.id and {_of_key(where, values)})"
        yield f"not {test}" if where.negated else test
    if filters.by:
        names = values(filters.by)
        yield (
            "exists (select 1 from memcli.speakers s where s.workspace = d.workspace"
            f" and s.document = d.id and s.name = any({names}::text[]))"
            " and exists (select 1 from json_array_elements(c.turns::json) t"
            f" where t ->> 2 = any({names}::text[]))"
        )


def _of_key(where: Where, values: Values) -> str:
    key = values(key_of(where.key))
    if where.value is None:
        return f"(p.key = {key} or p.key ^@ ({key} || '.'))"
    parameter = values([comparable(value) for value in same_values(where.value)])
    test = f"p.value = any({parameter}::text[])"
    if day := day_of(where.value):  # times on that day, such as 2026-02-05t10:00
        times = values([f"s{day}t", f"s{day} "])
        test = f"({test} or p.value ^@ any({times}::text[]))"
    return f"p.key = {key} and {test}"
