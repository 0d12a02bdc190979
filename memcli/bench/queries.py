"""Read the judged questions of a file: JSON lines, or one `question -> path` per line; pure.

A path without a source is in the default one. Others are written `source:path`, as memcli prints
them, or have a `source` next to them, as in the results of a search.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Collection, Iterable, Mapping
from datetime import date
from typing import Any

from memcli.bench.metrics import Range
from memcli.errors import UsageError
from memcli.record import Record
from memcli.types import MEMORY_SOURCE, split_name

WHOLE_FILE = 10**9
OVERALL = "all"  # the row of all categories
UNSORTED = "-"
IMPORTANCES = {"low": 0.2, "normal": 0.5, "high": 1.0}
HIGH = 0.8  # from this importance on, a newly missed question is reported by itself

# The keys of a question. Any other key is a note of its author, unless it looks like one of these.
_KEYS = ("id", "query", "category", "date", "relevant", "hints", "importance", "draft")
_PLACE_KEYS = ("path", "source", "start_line", "end_line")  # of an item of `relevant`

_SHORT = re.compile(r"(.*\S)\s+(?:→|->)\s+(\S.*?)(?::(\d+)(?:-(\d+))?)?\s*")


class Query(Record):
    """One judged question."""

    id: str
    text: str
    category: str
    date: str | None  # the day of the question
    relevant: tuple[Range, ...]
    hints: str = ""  # words to add if the question fails without them
    importance: float = IMPORTANCES["normal"]  # 0 to 1
    draft: bool = False  # written by `bench init`, not yet confirmed by a person


def read_queries(
    lines: Iterable[str], name: str, sources: Collection[str] = (MEMORY_SOURCE,)
) -> list[Query]:
    """Read all questions, including drafts; UsageError names the faulty line.

    `sources` are the names of the existing sources.
    """
    queries: list[Query] = []
    ids: set[str] = set()
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            query = _query(line.strip(), number, sources)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            why = f"{error} is missing" if isinstance(error, KeyError) else str(error)
            raise UsageError(
                f"{name}:{number} is not a judged query: {why}",
                hint='write {"query": "...", "relevant": [{"path": "...", "start_line": 1}]}',
            ) from None
        if query.id in ids:
            raise UsageError(
                f"{name}:{number}: the id {query.id!r} is used twice", hint="give each its own id"
            )
        ids.add(query.id)
        queries.append(query)
    if not queries:
        raise UsageError(f"{name} has no questions", hint="delete it, then run memcli bench init")
    return queries


def confirmed(queries: Iterable[Query], name: str) -> list[Query]:
    """Leave out drafts: a person must have checked a question before it counts."""
    queries = list(queries)
    checked = [query for query in queries if not query.draft]
    if not checked:
        raise UsageError(
            f"all {len(queries)} queries of {name} are drafts, and drafts are not counted",
            hint=f'edit {name} and set "draft": false where question and lines are right',
        )
    return checked


def _query(line: str, number: int, sources: Collection[str]) -> Query:
    if not line.startswith(("{", "[")):
        return _short(line, number, sources)
    record = json.loads(line)
    _check_keys(record)
    relevant = record.get("relevant", [])
    items = [{"path": relevant}] if isinstance(relevant, str) else relevant
    hints = record.get("hints") or ""
    category = str(record.get("category") or UNSORTED)
    if category == OVERALL:
        raise ValueError(f"the category {OVERALL!r} is reserved for all of them")
    return Query(
        id=str(record.get("id", number)),
        text=_text(record["query"]),
        category=category,
        date=_day(record.get("date")),
        relevant=tuple(dict.fromkeys(_range(item, sources) for item in items)),
        hints=_text(hints) if isinstance(hints, str) else " ".join(map(_text, hints)),
        importance=_importance(record.get("importance", "normal")),
        draft=bool(record.get("draft", False)),
    )


def _check_keys(record: Mapping[str, Any]) -> None:
    """Refuse a key that is misspelt or in the wrong place, so that no judgement is lost."""
    from difflib import get_close_matches

    for key in record:
        if key in _PLACE_KEYS:
            raise ValueError(f"the key {key!r} belongs in an item of 'relevant'")
        near = [] if key in _KEYS else get_close_matches(key, _KEYS, n=1, cutoff=0.8)
        if near:
            raise ValueError(f"there is no key {key!r}; did you mean {near[0]!r}?")


def _short(line: str, number: int, sources: Collection[str]) -> Query:
    match = _SHORT.fullmatch(line)
    if not match:
        raise ValueError("neither JSON nor `question -> path`")
    text, path, start, end = match.groups()
    item = {"path": path, "start_line": start, "end_line": end}
    return Query(str(number), text, UNSORTED, None, (_range(item, sources),))


def _range(item: Mapping[str, Any], sources: Collection[str]) -> Range:
    unknown = [key for key in item if key not in _PLACE_KEYS]
    if unknown:
        names = ", ".join(_PLACE_KEYS)
        raise ValueError(f"an item of 'relevant' has no key {unknown[0]!r}, only {names}")
    source, path = item.get("source"), _text(item["path"])
    if source is None:
        source, path = split_name(path, sources)
    elif source not in sources:
        raise ValueError(f"there is no source {source!r}, only {', '.join(sources)}")
    path = posixpath.normpath(path.replace("\\", "/"))
    start = item.get("start_line")
    if start is None:
        return Range(path, 1, WHOLE_FILE, source)
    first, last = int(start), int(item.get("end_line") or start)
    if not 1 <= first <= last:
        raise ValueError(f"lines {first} to {last} of {path} are not a range")
    return Range(path, first, last, source)


def _day(value: object) -> str | None:
    return None if value is None else date.fromisoformat(_text(value)[:10]).isoformat()


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not a text")
    return value


def _importance(value: object) -> float:
    if isinstance(value, str) and value in IMPORTANCES:
        return IMPORTANCES[value]
    if isinstance(value, int | float) and 0 <= value <= 1:
        return float(value)
    raise ValueError(f"importance is low, normal, high or 0 to 1, not {value!r}")
