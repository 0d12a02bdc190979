"""What is within reach, said in plain Python."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

from memcli.store.records import Reach
from memcli.types import MEMORY_SOURCE, About, Filters, SourceLines


def is_within(reach: Reach, about: About) -> bool:
    """Tell whether a chunk may be found; the view of the filters says nothing here."""
    filters = reach.filters
    is_own = about.source == MEMORY_SOURCE
    return (
        _is_dated(filters, about.date)
        and _is_among(about.source, filters.sources)
        and _is_among(about.kind, filters.kinds)
        and _is_among(about.scope, filters.scopes)
        and _is_among(about.trust, filters.trusts)
        and _is_at(about.path, filters.paths)
        and all(_is_under(about.heading_path, heading) for heading in filters.headings)
        and (not filters.within or (is_own and any(_touch(s, about) for s in filters.within)))
        and not (is_own and about.path in reach.without)
        and not (is_own and any(_hold(s, about) for s in reach.beyond))
    )


def _is_dated(filters: Filters, date: str | None) -> bool:
    if date is None:
        return filters.undated or not (filters.since or filters.until)
    return (filters.since or date) <= date <= (filters.until or date)


def _is_among(name: str, wanted: Sequence[str]) -> bool:
    return not wanted or name in wanted


def _is_at(path: str, globs: Sequence[str]) -> bool:
    """Match a path; a folder stands for what is below it, and `*` crosses folders."""
    own = [glob.removeprefix("./") for glob in globs]
    folders = [glob + "*" if glob.endswith("/") else glob for glob in own]
    return not globs or any(fnmatchcase(path, glob) for glob in folders)


def _is_under(headings: Sequence[str], wanted: str) -> bool:
    """Look for text in a heading, small letters for capitals."""
    return any(wanted.lower() in heading.lower() for heading in headings)


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
