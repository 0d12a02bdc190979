"""Find out what differs between the files and the index, without opening a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from memcli.markdown import CHUNKER_VERSION
from memcli.types import MEMORY_SOURCE, Diff, Known, Listing, Source
from memcli.workspace.diff import diff
from memcli.workspace.discover import discover

if TYPE_CHECKING:
    from memcli.markdown.parts import Limits


class Settings(NamedTuple):
    """What the indexer needs to know besides the files."""

    sources: tuple[Source, ...]
    limits: Limits
    max_bytes: int
    follow_symlinks: bool
    now_ns: Callable[[], int]  # wall clock, compared with mtimes


class Plan(NamedTuple):
    """What differs between files and index."""

    listing: Listing
    diff: Diff


def chunking_key(limits: Limits) -> str:
    """Name everything that decides where chunks and parts are cut."""
    return f"{CHUNKER_VERSION}:{limits.chunk_tokens}:{limits.overlap_tokens}:{limits.part_max}"


def sources_key(sources: tuple[Source, ...]) -> str:
    """Name what the sources say of their documents besides where they are."""
    told = [
        (s.name, s.kind, s.kinds, s.scope, s.source_kind, s.trust, s.authority, s.always,
         s.evergreen)
        for s in sources
    ]  # fmt: skip
    return repr(told)


def settings_meta(settings: Settings) -> dict[str, str]:
    """Give the `meta` values that stored documents depend on besides their files."""
    return {
        "chunking": chunking_key(settings.limits),
        "sources": sources_key(settings.sources),
    }


def shown(source: str, path: str) -> str:
    """Name a document in messages: the path, behind the source unless that is the memory."""
    return path if source == MEMORY_SOURCE else f"{source}:{path}"


def plan(settings: Settings, known: Mapping[tuple[str, str], Known]) -> Plan:
    """Walk the sources and compare stats; no file is opened."""
    listing = discover(
        settings.sources,
        max_bytes=settings.max_bytes,
        follow_symlinks=settings.follow_symlinks,
    )
    return Plan(listing, diff(listing, known))
