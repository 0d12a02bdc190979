"""Bring the index in step with the files: list, compare, read, chunk, store, embed.

Keyword rows are committed document by document before any vector is made, so words are found
while a first index still runs. Moves and reverts embed nothing: vectors are kept by hash.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from memcli.indexing.lineage import check_lineage
from memcli.indexing.reading import read
from memcli.markdown import CHUNKER_VERSION
from memcli.store.driver import DamagedError
from memcli.store.records import Stamp
from memcli.types import (
    MEMORY_SOURCE,
    Diff,
    Encoder,
    FileStat,
    Known,
    Listing,
    Skip,
    Source,
)
from memcli.workspace.diff import diff
from memcli.workspace.discover import discover

if TYPE_CHECKING:
    from memcli.markdown.parts import Limits
    from memcli.store.writer import Writer

# One transaction for so many vectors: other writers wait at most a second or two.
EMBED_BATCH = 32
# Files looked at for each that may be stored: a fresh checkout looks changed and is not.
LOOKS = 20
# Texts listed at a time: each listing looks at every part.
LISTED = 4096
CACHE_DAYS = 30

Progress = Callable[[str, int, int], None]


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


class Report(NamedTuple):
    """What an index run did, paths sorted."""

    added: tuple[str, ...]
    changed: tuple[str, ...]
    moved: tuple[tuple[str, str], ...]
    removed: tuple[str, ...]
    unchanged: int
    skips: tuple[Skip, ...]
    unlisted: tuple[Skip, ...]
    damaged: tuple[str, ...]  # files with bytes that had to be replaced
    deferred: int  # changed files left for a later run
    notices: tuple[str, ...] = ()


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


def apply(
    writer: Writer,
    settings: Settings,
    planned: Plan,
    known: Mapping[tuple[str, str], Known],
    *,
    most: int | None = None,
    again: bool = False,
    on_progress: Progress = lambda stage, done, total: None,
) -> Report:
    """Read what was added or may have changed and store it; remove what is gone.

    `most` bounds how many files are stored; those left over are counted as deferred. `again`
    stores a file anew even where its bytes are the same.
    """
    from memcli.indexing.document import build_document

    sources = {source.name: source for source in settings.sources}
    added: dict[str, bytes] = {}
    changed: list[str] = []
    damaged: list[str] = []
    skips = list(planned.listing.skips)
    todo = [*planned.diff.added, *planned.diff.suspect]
    deferred = 0
    unchanged = planned.diff.unchanged
    for done, stat in enumerate(todo):
        if most is not None and (len(added) + len(changed) >= most or done >= most * LOOKS):
            deferred = len(todo) - done
            break
        on_progress("reading", done, len(todo))
        name, before = shown(stat.source, stat.path), known.get((stat.source, stat.path))
        indexed_ns = settings.now_ns()
        file = read(settings, sources[stat.source], stat)
        if isinstance(file, Skip):
            skips.append(file)
            if file.reason == "not-text":
                _put_skip(writer, sources[stat.source], stat, file, before, indexed_ns)
            continue
        stamp = Stamp(file.stat, file.hash, indexed_ns)
        if before and before.hash == file.hash and not again:
            writer.touch(before.document_id, stamp)
            unchanged += 1
            continue
        writer.put_document(build_document(file, sources[stat.source], settings.limits), stamp)
        if file.damaged:
            damaged.append(name)
        if before:
            changed.append(name)
        else:
            added[name] = file.hash
    removed: dict[str, bytes] = {}
    for source, path in planned.diff.removed:
        removed[shown(source, path)] = known[source, path].hash
        writer.remove(source, path)
    check_lineage(writer, settings)
    moved = _moves(added, removed)
    olds, news = {old for old, _ in moved}, {new for _, new in moved}
    return Report(
        added=tuple(sorted(added.keys() - news)),
        changed=tuple(sorted(changed)),
        moved=moved,
        removed=tuple(sorted(removed.keys() - olds)),
        unchanged=unchanged,
        skips=tuple(skips),
        unlisted=planned.listing.unlisted,
        damaged=tuple(sorted(damaged)),
        deferred=deferred,
    )


def index(
    writer: Writer,
    settings: Settings,
    *,
    full: bool = False,
    on_progress: Progress = lambda stage, done, total: None,
) -> Report:
    """Bring the keyword rows of the whole workspace in step; `full` stores every file anew.

    A damaged store is set aside and built again.
    """
    fault = ""
    try:
        if full and (found := writer.integrity()) != "ok":
            fault = f"the index {writer.path} is damaged: {found}"
        else:
            return _index(writer, settings, full, on_progress)
    except DamagedError as error:
        fault = error.message
    notice = writer.start_over(fault)
    return _index(writer, settings, full, on_progress)._replace(notices=(notice,))


def _index(writer: Writer, settings: Settings, full: bool, on_progress: Progress) -> Report:
    known = writer.known()
    planned = plan(settings, known)
    wanted = settings_meta(settings)
    if not known:  # a first run that is killed goes on where it was
        writer.set_meta(wanted)
    again = full or any(writer.meta(key) != value for key, value in wanted.items())
    if again:
        planned = planned._replace(diff=_everything(planned, known))
    report = apply(writer, settings, planned, known, again=again, on_progress=on_progress)
    writer.set_meta(wanted)
    writer.settle()
    return report


def embed(
    writer: Writer,
    encoder: Encoder,
    *,
    most: int | None = None,
    on_progress: Progress = lambda stage, done, total: None,
) -> int:
    """Make the vectors that are missing and search by them; give how many were made."""
    fingerprint = encoder.fingerprint
    total = writer.unembedded(fingerprint)
    total = total if most is None else min(most, total)
    switching = writer.meta("fingerprint") not in (None, fingerprint)
    if not switching or total == 0:
        writer.use_fingerprint(fingerprint, encoder.dimension)
    done = 0
    while done < total:
        listed = writer.pending(fingerprint, min(LISTED, total - done))
        if not listed:
            break
        for at in range(0, len(listed), EMBED_BATCH):
            batch = listed[at : at + EMBED_BATCH]
            vectors = encoder.encode([item.text for item in batch])
            pairs = [(item.hash, vector) for item, vector in zip(batch, vectors, strict=True)]
            writer.put_vectors(fingerprint, pairs)
            done += len(batch)
            on_progress("embedding", done, total)
    if switching and writer.unembedded(fingerprint) == 0:
        writer.use_fingerprint(fingerprint, encoder.dimension)
    return done


def _put_skip(
    writer: Writer,
    source: Source,
    stat: FileStat,
    skip: Skip,
    before: Known | None,
    indexed_ns: int,
) -> None:
    """Remember a file that is not text by its stat, so that it is not read each time."""
    from memcli.indexing.document import skipped_document

    stamp = Stamp(stat, b"", indexed_ns)
    if before and before.hash == b"":
        writer.touch(before.document_id, stamp)
    else:
        writer.put_document(skipped_document(source, stat.path), stamp, skip=skip.reason)


def _everything(planned: Plan, known: Mapping[tuple[str, str], Known]) -> Diff:
    files = planned.listing.files
    return planned.diff._replace(
        added=tuple(f for f in files if (f.source, f.path) not in known),
        suspect=tuple(f for f in files if (f.source, f.path) in known),
        unchanged=0,
    )


def _moves(added: Mapping[str, bytes], removed: Mapping[str, bytes]) -> tuple[tuple[str, str], ...]:
    """Pair paths that vanished and appeared with the same bytes."""
    by_hash: dict[bytes, list[str]] = {}
    for path in sorted(removed):
        by_hash.setdefault(removed[path], []).append(path)
    pairs = []
    for path in sorted(added):
        if by_hash.get(added[path]):
            pairs.append((by_hash[added[path]].pop(0), path))
    return tuple(pairs)
