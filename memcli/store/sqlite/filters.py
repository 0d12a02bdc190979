"""Translate search filters to SQL that both legs apply before their top-k."""

from __future__ import annotations

import json
from typing import Any

from memcli.store.sqlite import lineage
from memcli.types import Filters


def select_chunks(filters: Filters) -> tuple[str, list[Any]] | None:
    """Translate filters to a SELECT of chunk ids, or None where nothing is filtered."""
    tests: list[str] = []
    values: list[Any] = []
    for bound, operator in ((filters.since, ">="), (filters.until, "<=")):
        if bound:
            tests.append(f"({'c.date IS NULL OR ' if filters.undated else ''}c.date {operator} ?)")
            values.append(bound)
    for column, wanted in (
        ("d.source", filters.sources),
        ("d.kind", filters.kinds),
        ("d.scope", filters.scopes),
        ("d.trust", filters.trusts),
    ):
        if wanted:
            tests.append(f"{column} IN ({','.join('?' * len(wanted))})")
            values += wanted
    if filters.paths:
        tests.append("(" + " OR ".join(["d.path GLOB ?"] * len(filters.paths)) + ")")
        values += [_glob(path) for path in filters.paths]
    for heading in filters.headings:
        tests.append("instr(lower(c.heading_path), lower(?)) > 0")
        values.append(json.dumps(heading, ensure_ascii=False)[1:-1])
    if filters.within:
        tests.append(lineage.TOUCHES)
        values.append(lineage.as_json(filters.within))
    if filters.view != "all":
        tests.append(lineage.VIEWS[filters.view])
    if not tests:
        return None
    joined = " AND ".join(tests)
    return (
        f"SELECT c.id FROM chunks c JOIN documents d ON d.id = c.document_id WHERE {joined}",
        values,
    )


def _glob(pattern: str) -> str:
    """Let a folder stand for what is below it; `**` is `*`, which crosses folders here."""
    pattern = pattern.removeprefix("./")
    return pattern + "*" if pattern.endswith("/") else pattern.replace("**", "*")
