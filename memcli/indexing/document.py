"""Make a Document of a file's text: metadata, date, kind, scope, chunks; pure."""

from __future__ import annotations

import json
import os
from functools import cache
from typing import Any

from memcli.markdown.chunker import chunk_document
from memcli.markdown.lineage import is_place, read_lineage
from memcli.markdown.parse import Parsed, parse
from memcli.types import (
    MEMORY_SOURCE,
    SCOPES,
    SUMMARY,
    Document,
    FileText,
    Limits,
    Lineage,
    Source,
)
from memcli.workspace.dating import document_date, heading_date
from memcli.workspace.globs import matcher

USER_FILES = ("MEMORY.md", "USER.md")
_compiled = cache(matcher)  # a run asks the globs of its sources once a file
TITLE_CHARS = 200
UNTRUSTED = "untrusted"


def build_document(file: FileText, source: Source, limits: Limits) -> Document:
    """Parse and chunk one file; front matter of an untrusted file cannot raise its weight.

    A file may call itself untrusted; only the configuration of its source makes it trusted.
    """
    parsed = parse(file.text)
    metadata = parsed.front_matter
    path = file.stat.path
    date = document_date(metadata.get("date"), path)
    if date and source.evergreen and _compiled(source.evergreen)(path):
        date = None
    title = _title(parsed, path)
    chunks = chunk_document(
        parsed, title=title, date=date, limits=limits, heading_date=heading_date
    )
    trusted = source.trust == "trusted" and metadata.get("trust") != UNTRUSTED
    authority = _share(metadata.get("authority")) if trusted else None
    lineage = _lineage(source, path, metadata) if trusted else None
    scope = metadata.get("scope") if trusted else None
    always = trusted and (metadata.get("always") is True or _marked(source.always, path))
    soft = trusted and (metadata.get("soft") is True or _marked(source.soft, path))
    plain = _plain(source, path, date)
    return plain._replace(
        title=title,
        kind=SUMMARY if lineage else plain.kind,
        scope=str(scope) if scope in SCOPES else plain.scope,
        trust=source.trust if trusted else UNTRUSTED,
        authority=source.authority if authority is None else authority,
        importance=_share(metadata.get("importance")) if trusted else None,
        always=always,
        soft=soft and not always,
        front_matter=_canonical(metadata),
        chunks=chunks,
        lineage=lineage,
    )


def skipped_document(source: Source, path: str) -> Document:
    """Stand for a file that has no text to index, so that it is not read again."""
    return _plain(source, path, None)


def _plain(source: Source, path: str, date: str | None) -> Document:
    """Say of a document what its source, its path and its date say, without a text."""
    return Document(
        source=source.name,
        path=path,
        title=os.path.basename(path),
        date=date,
        kind=_kind(source, path, date),
        scope=_scope(source, path, date),
        source_kind=source.source_kind,
        trust=source.trust,
        authority=None,
        importance=None,
        always=False,
        soft=False,
        front_matter="{}",
        chunks=(),
    )


def _lineage(source: Source, path: str, metadata: dict[str, Any]) -> Lineage | None:
    """Read the lineage of a summary of the memory; nobody else can claim to stand for its lines."""
    is_own = source.name == MEMORY_SOURCE and is_place(path)
    return read_lineage(metadata) if is_own else None


def _title(parsed: Parsed, path: str) -> str:
    """Take the title from the front matter, the first heading of level 1, or the file's name."""
    named = parsed.front_matter.get("title")
    if isinstance(named, str) and named.strip():
        return " ".join(named.split())[:TITLE_CHARS]
    for block in parsed.blocks:
        if block.kind == "heading" and block.level == 1 and block.title:
            return block.title[:TITLE_CHARS]
    return os.path.splitext(os.path.basename(path))[0]


def _kind(source: Source, path: str, date: str | None) -> str:
    if source.kind:
        return source.kind
    for glob, kind in source.kinds:
        if _compiled((glob,))(path):
            return kind
    return "log" if date else "note"


def _scope(source: Source, path: str, date: str | None) -> str:
    if source.scope:
        return source.scope
    if path in USER_FILES:
        return "user"
    return "session" if source.name == MEMORY_SOURCE and date else "global"


def _marked(globs: tuple[str, ...], path: str) -> bool:
    return bool(globs) and matcher(globs)(path)


def _share(value: object) -> float | None:
    """Read a number between 0 and 1; anything else counts as not given."""
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1:
        return float(value)
    return None


def _canonical(metadata: dict[str, Any]) -> str:
    return json.dumps(metadata, ensure_ascii=False, sort_keys=True)
