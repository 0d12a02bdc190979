"""Makers of records with most fields filled in, so that a test names only what it is about."""

from __future__ import annotations

from typing import Any

from memcli.types import About, Candidate, Excerpt

_LINES = About(
    chunk_id=1, source="memory", path="a.md", anchor="top", heading_path=(), title="t",
    start_line=1, end_line=1, date=None, document_date=None, kind="note", scope="global",
    source_kind="operator", trust="trusted",
)  # fmt: skip
_CANDIDATE = Candidate(_LINES, 1, "", None, None, ())
_EXCERPT = Excerpt(_LINES, "", 0, 0, 0)


def make_candidate(base: Candidate = _CANDIDATE, **fields: Any) -> Candidate:
    """Make a candidate; fields of what is told of it may be named beside its own."""
    own = {name: fields.pop(name) for name in Candidate._fields[1:] if name in fields}
    return base._replace(about=base.about._replace(**fields), **own)


def make_excerpt(base: Excerpt = _EXCERPT, **fields: Any) -> Excerpt:
    """Make an excerpt; fields of what is told of it may be named beside its own."""
    own = {name: fields.pop(name) for name in Excerpt._fields[1:] if name in fields}
    return base._replace(about=base.about._replace(**fields), **own)
