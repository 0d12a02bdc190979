"""What is within reach, said in plain Python."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from memcli.markdown.properties import bare, day_of, key_of, properties, same_values, tags
from memcli.store.records import Scope
from memcli.types import MEMORY_SOURCE, About, Filters, SourceLines, Where


def is_within(scope: Scope, about: About, front_matter: str) -> bool:
    """Tell whether a chunk may be found; the view of the filters says nothing here."""
    said = json.loads(front_matter)
    filters = scope.filters
    is_own = about.source == MEMORY_SOURCE
    return (
        _is_dated(filters, about)
        and _is_among(about.source, filters.sources)
        and _is_among(about.kind, filters.kinds)
        and _is_among(about.scope, filters.scopes)
        and _is_among(about.trust, filters.trusts)
        and _is_at((about.path, f"{about.source}:{about.path}"), filters.paths)
        and all(_is_under(about.heading_path, heading) for heading in filters.headings)
        and all(_is_tagged(said, tag) for tag in filters.tags)
        and all(_says(said, where) != where.negated for where in filters.where)
        and (not filters.within or (is_own and any(_touch(s, about) for s in filters.within)))
        and not (is_own and about.path in scope.without)
        and not (is_own and any(_hold(s, about) for s in scope.beyond))
    )


def _is_dated(filters: Filters, about: About) -> bool:
    if about.date is None:
        return filters.undated or not (filters.since or filters.until)
    return overlap(about, filters.since or "0001-01-01", filters.until or "9999-12-31")


def overlap(about: About, first: str, last: str) -> bool:
    """Tell that some of the days of a chunk are between two, which are included."""
    return (
        about.date is not None and first <= about.date and (about.first_day or about.date) <= last
    )


def _is_among(name: str, wanted: Sequence[str]) -> bool:
    return not wanted or name in wanted


def _is_at(names: Sequence[str], globs: Sequence[str]) -> bool:
    """Match the names of a file; a folder stands for what is below it, `*` crosses folders."""
    own = [glob.removeprefix("./").replace("[^", "[!") for glob in globs]
    folders = [glob + "*" if glob.endswith("/") else glob for glob in own]
    return not globs or any(fnmatchcase(name, glob) for name in names for glob in folders)


def _is_under(headings: Sequence[str], wanted: str) -> bool:
    """Look for text in a heading, small letters for capitals."""
    return any(wanted.lower() in heading.lower() for heading in headings)


def _is_tagged(said: Mapping[str, Any], wanted: str) -> bool:
    own = [tag.casefold() for tag in tags(said)]
    name = bare(wanted).casefold()
    return any(tag == name or tag.startswith(f"{name}/") for tag in own)


def _says(said: Mapping[str, Any], where: Where) -> bool:
    """Look at every value of a key; a day is that of a time too."""
    key = key_of(where.key)
    if where.value is None:
        return any(own == key or own.startswith(f"{key}.") for own, _ in properties(said))
    wanted = same_values(where.value)
    values = [value for own, value in properties(said) if own == key]
    if day := day_of(where.value):
        values = [v[:10] if isinstance(v, str) and v[10:11] in ("t", " ") else v for v in values]
        wanted = [day]
    return any(value in wanted for value in values)


def _touch(lines: SourceLines, about: About) -> bool:
    """Tell that a chunk has one of some lines."""
    return (
        lines.path == about.path
        and lines.start_line <= about.end_line
        and about.start_line <= lines.end_line
    )


def _hold(lines: SourceLines, about: About) -> bool:
    """Tell that some lines are all that a chunk has."""
    return (
        lines.path == about.path
        and lines.start_line <= about.start_line
        and about.end_line <= lines.end_line
    )
