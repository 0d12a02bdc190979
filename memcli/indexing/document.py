"""Make a Document of a file's text: metadata, date, kind, scope, chunks; pure.

The text may come from anybody, and a parser, a tokenizer and our own code run over it. So an error
that they raise concerns only this document: it is skipped as `unparsable` and the others continue.
Some errors are not the file's fault and would make every document unparsable: too little memory, a
missing package or file of the installation, an unusable setting. These are raised, and so are
errors of the store and interrupts.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache

from memcli import types
from memcli.checking import Any, Made
from memcli.errors import MemcliError
from memcli.markdown.chunker import chunk_document
from memcli.markdown.comments import visible
from memcli.markdown.lineage import is_place, read_lineage
from memcli.markdown.names import with_tags
from memcli.markdown.parse import ParsedMarkdown, parse
from memcli.markdown.preferences import begun_within, preferences_of
from memcli.markdown.segments import description_of
from memcli.markdown.transcript import first_day
from memcli.markdown.turns import NAME_CHARS, ROLES, TOOL, turns_of, within
from memcli.types import Document, FileText, Limits, Skip, Source, Stretch, Turn
from memcli.workspace.dating import AMBIGUOUS, document_days, heading_days, path_days
from memcli.workspace.globs import matcher

USER_FILES = ("MEMORY.md", "USER.md")
_compiled = cache(matcher)  # each file is compared with the globs of its source
TITLE_CHARS = 200
UNTRUSTED = "untrusted"
NOTE = "note"  # the kind of a document that is not a log
NOT_THE_FILES = (MemcliError, MemoryError, ImportError, OSError)
DETAIL_CHARS = 200


def parse_or_skip(source: str, path: str, make: Callable[[], Made]) -> Made | Skip:
    """Return the document that `make` makes, or a Skip `unparsable` if the document is at fault."""
    try:
        return make()
    except NOT_THE_FILES:
        raise
    except Exception as error:  # one bad document must not stop the index; it is listed as skipped
        text = " ".join(f"{type(error).__name__}: {error}".split())
        return Skip(source, path, "unparsable", text[:DETAIL_CHARS])


def build_document(
    file: FileText, source: Source, limits: Limits, *, redacts: bool = False
) -> Document:
    """Parse and chunk one file; front matter of an untrusted file cannot raise its weight.

    Front matter can make a file untrusted, directly or by naming another author than the owner.
    Only the configuration of the source can make it trusted. `redacts` also redacts secrets that
    YAML writes in pieces or with escapes, so that the text does not show them.
    """
    parsed = parse(file.text)
    if redacts and parsed.front_matter:
        parsed = parsed._replace(front_matter=_redacted(parsed.front_matter))
    metadata = with_tags(parsed.front_matter, _text_lines(parsed))
    path = file.stat.path
    days, stamped = document_days(metadata, path, source.date_keys)
    if source.is_transcripts:
        days = first_day(file.text) or days
    if days and _matches(source.evergreen, path):
        days, stamped = None, False
    title = _title(parsed, path)
    chunks = chunk_document(
        parsed,
        title=title,
        limits=limits,
        heading_days=heading_days,
        description=description_of(metadata),
        days=days,
        stamped=stamped,
    )
    source_kind = _source_kind(metadata, source)
    is_doubted = metadata.get("trust") == UNTRUSTED or source_kind not in (
        source.source_kind,
        *types.OWN_KINDS,
    )
    trusted = source.trust == "trusted" and not is_doubted
    private = {"scope": types.PRIVATE} if metadata.get("scope") == types.PRIVATE else {}
    claims = metadata if trusted else private
    turns = turns_of(parsed) or _whole_turn(claims, source_kind, len(parsed.lines))
    preferences = preferences_of(parsed, turns)
    if turns or preferences:
        chunks = tuple(
            chunk._replace(
                turns=within(turns, chunk.start_line, chunk.end_line),
                preferences=begun_within(preferences, chunk.start_line, chunk.end_line),
            )
            for chunk in chunks
        )
    authority, scope = _share(claims.get("authority")), claims.get("scope")
    is_summary = source.name == types.MEMORY_SOURCE and is_place(path)  # only it covers lines
    lineage = read_lineage(claims) if is_summary else None
    always = trusted and (claims.get("always") is True or _matches(source.always, path))
    soft = trusted and (claims.get("soft") is True or _matches(source.soft, path))
    is_log = days is not None and not stamped and _is_log(parsed, path, claims, turns, source)
    plain = document_without_text(source, path, days, is_log=is_log)
    return plain._replace(
        title=title,
        kind=types.SUMMARY if lineage else plain.kind,
        scope=str(scope) if scope in types.SCOPES else plain.scope,
        source_kind=source_kind,
        trust=source.trust if trusted else UNTRUSTED,
        authority=source.authority if authority is None else authority,
        importance=_share(claims.get("importance")),
        always=always,
        soft=soft and not always,
        front_matter=json.dumps(metadata, ensure_ascii=False, sort_keys=True),
        chunks=chunks,
        lineage=lineage,
    )


def _is_log(
    parsed: ParsedMarkdown,
    path: str,
    metadata: Mapping[str, Any],
    turns: Sequence[Turn],
    source: Source,
) -> bool:
    """Return whether a document with a date is a log: by its kind, path, turns or headings.

    A date in the front matter alone does not make a log of a page about a person.
    """
    kind = metadata.get("kind")
    if kind in ("log", NOTE):
        return bool(kind == "log")
    headings = (block.title or "" for block in parsed.blocks if block.kind == "heading")
    is_conversation = source.is_transcripts or bool(turns)
    is_of_day = path_days(path) or re.search(AMBIGUOUS, path.rpartition("/")[2])
    return is_conversation or bool(is_of_day) or any(map(heading_days, headings))


def _text_lines(parsed: ParsedMarkdown) -> Iterator[str]:
    """Yield the lines that may name tags: no headings, no code, no comments."""
    for block in parsed.blocks:
        if block.kind not in ("heading", "fence"):
            text = "\n".join(parsed.lines[block.start : block.end])
            if "#" in text:
                yield visible(text)


def _source_kind(metadata: Mapping[str, Any], source: Source) -> str:
    """Return who wrote a document: front matter may say so, but cannot make it the owner's."""
    kind = metadata.get("source_kind")
    is_own = source.trust == "trusted" and source.source_kind in types.OWN_KINDS
    if kind not in types.SOURCE_KINDS or (kind in types.OWN_KINDS and not is_own):
        return source.source_kind
    return str(kind)


def _whole_turn(metadata: Mapping[str, Any], source_kind: str, lines: int) -> tuple[Turn, ...]:
    """Treat a document as one turn if its speaker is known."""
    role, speaker = metadata.get("role"), metadata.get("speaker")
    if isinstance(role, str) and role.casefold() in ROLES:
        return (Turn(1, lines, role),)
    if isinstance(speaker, str) and speaker.isprintable() and 0 < len(speaker) <= NAME_CHARS:
        return (Turn(1, lines, speaker),)
    return (Turn(1, lines, TOOL),) if source_kind == TOOL else ()


def document_without_text(
    source: Source, path: str, days: Stretch | None = None, *, is_log: bool = False
) -> Document:
    """Make a document of what its source, path and days say."""
    date, first_day = types.date_of(days)
    return Document(
        source=source.name,
        path=path,
        title=os.path.basename(path),
        date=date,
        kind=_kind(source, path, is_log=is_log),
        scope=_scope(source, path, is_log=is_log),
        source_kind=source.source_kind,
        trust=source.trust,
        authority=None,
        importance=None,
        always=False,
        soft=False,
        front_matter="{}",
        chunks=(),
        first_day=first_day,
    )


def _title(parsed: ParsedMarkdown, path: str) -> str:
    """Take the title from the front matter, the first heading of level 1, or the file's name."""
    named = parsed.front_matter.get("title")
    if isinstance(named, str) and named.strip():
        return " ".join(named.split())[:TITLE_CHARS]
    for block in parsed.blocks:
        if block.kind == "heading" and block.level == 1 and block.title:
            return block.title[:TITLE_CHARS]
    return os.path.splitext(os.path.basename(path))[0]


def _kind(source: Source, path: str, *, is_log: bool) -> str:
    if source.kind:
        return source.kind
    for glob, kind in source.kinds:
        if _matches((glob,), path):
            return kind
    return "log" if is_log else NOTE


def _scope(source: Source, path: str, *, is_log: bool) -> str:
    if source.scope:
        return source.scope
    if path in USER_FILES:
        return "user"
    return "session" if source.name == types.MEMORY_SOURCE and is_log else "global"


def _matches(globs: tuple[str, ...], path: str) -> bool:
    return bool(globs) and _compiled(globs)(path)


def _share(value: object) -> float | None:
    """Read a number between 0 and 1; anything else counts as missing."""
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1:
        return float(value)
    return None


def _redacted(value: Any) -> Any:  # noqa: ANN401  (whatever JSON knows)
    from memcli.secrets.finding import redacted

    if isinstance(value, str):
        return redacted(value)
    if isinstance(value, dict):
        return {redacted(key): _redacted(each) for key, each in value.items()}
    return [_redacted(each) for each in value] if isinstance(value, list) else value
