"""Find the differences between the files and the index, and read what may have changed."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from memcli.checking import TYPE_CHECKING, Any
from memcli.markdown import CHUNKER_VERSION
from memcli.record import Record
from memcli.types import Diff, Document, FileText, KnownFile, Limits, Listing, Skip, Source, shown
from memcli.workspace.diff import diff, out_of_scope
from memcli.workspace.discover import discover, missing_mounts, mounts_as_json

if TYPE_CHECKING:
    from memcli.errors import Reason
    from memcli.store.records import Facts, Key
    from memcli.workspace.place import DocumentFiles

# Why a readable file has no text to index, judged by its bytes.
BY_BYTES = ("not-text", "too-large")
REDACTION_VERSION = 1  # raise it when a rule for secrets changes: documents are read again


class Settings(Record):
    """Everything that the indexer needs besides the files."""

    sources: tuple[Source, ...]
    limits: Limits
    max_bytes: int
    follow_symlinks: bool
    now_ns: Callable[[], int]  # wall clock, compared with mtimes
    redacts: bool = False  # secrets of a text never enter memory, index or answer
    files: DocumentFiles | None = None  # None: those on disk
    weighs_languages: bool = True  # because the language of most texts decides on the encoder

    def source(self, name: str) -> Source:
        """Return the source with a name; KeyError if there is none."""
        for source in self.sources:
            if source.name == name:
                return source
        raise KeyError(name)


class Plan(Record):
    """The differences between files and index."""

    listing: Listing
    diff: Diff
    mounts: str  # to be remembered in `meta`
    out_of_scope: tuple[Reason, ...] = ()  # why documents go although their files exist


def _settings_of(s: Source) -> list[Any]:
    """List the settings of a source that documents depend on, as JSON returns them."""
    kinds = [list(pair) for pair in s.kinds]
    lists = [list(texts) for texts in (s.always, s.soft, s.evergreen, s.date_keys)]
    return [s.kind, kinds, s.scope, s.source_kind, s.trust, s.authority, *lists]


def settings_meta(settings: Settings) -> dict[str, str]:
    """Return the `meta` values that stored documents depend on besides their files."""
    limits = settings.limits
    cut = f"{CHUNKER_VERSION}:{limits.chunk_tokens}:{limits.overlap_tokens}:{limits.part_max}"
    if settings.redacts:
        cut += f":redacted{REDACTION_VERSION}"
    by_source = {source.name: _settings_of(source) for source in settings.sources}
    return {"chunking": cut, "sources": json.dumps(by_source, sort_keys=True)}


def altered(settings: Settings, facts: Facts) -> dict[str, frozenset[str]]:
    """Name the settings with another value in the store, each with the sources it concerns.

    A new or removed source changes no document of another.
    """
    names, meta = frozenset(source.name for source in settings.sources), settings_meta(settings)
    reasons = {"chunking": names} if facts.chunking != meta["chunking"] else {}
    if facts.sources == meta["sources"]:
        return reasons
    try:
        before = json.loads(facts.sources or "{}")
    except (ValueError, RecursionError):
        before = None
    if not isinstance(before, dict):  # as an earlier memcli wrote it
        return {**reasons, "sources": names}
    now = {source.name: _settings_of(source) for source in settings.sources}
    concerned = frozenset(name for name, own in now.items() if before.get(name, own) != own)
    return {**reasons, "sources": concerned} if concerned else reasons


def plan(settings: Settings, known: Mapping[Key, KnownFile], mounts: str | None = None) -> Plan:
    """Walk the sources and compare stats; no file is opened.

    `mounts` are the mount points in `meta`. Documents that could not be seen are not removed: those
    in a folder that cannot be listed, or on a mount that is missing.
    """
    sources, listing = settings.sources, listing_of(settings)
    if settings.files is not None:  # a file outside this list is not ignored, it does not exist
        seen = listing._replace(skips=(), unlisted=())
        return Plan(listing, diff(seen, known, now_ns=settings.now_ns()), "[]")
    unmounted = missing_mounts(sources, listing, mounts)
    listing = listing._replace(unlisted=(*listing.unlisted, *unmounted))
    difference = diff(listing, known, now_ns=settings.now_ns())
    why: tuple[Reason, ...] = ()
    if difference.removed:
        present = [(file.source, file.path) for file in listing.files]
        why = out_of_scope(difference.removed, present, listing.skips, sources)
    return Plan(listing, difference, mounts_as_json(listing, unmounted), why)


def listing_of(settings: Settings) -> Listing:
    """List the documents of all sources."""
    if settings.files is not None:
        return settings.files.listing(settings.sources, max_bytes=settings.max_bytes)
    return discover(
        settings.sources, max_bytes=settings.max_bytes, follow_symlinks=settings.follow_symlinks
    )


def read(settings: Settings, source: str, path: str) -> FileText | Skip:
    """Read a file of a source, or return why it cannot be read.

    Every text that is indexed, shown or summarised comes from here. So transcripts become Markdown
    here, and secrets are redacted; neither changes the number of lines. The hash is of the file as
    it is. A path that leads outside (`..`, absolute) is a NotFoundError.
    """
    origin, most = settings.source(source), settings.max_bytes
    root = origin.root
    if settings.files is not None:
        file = settings.files.read(root, path, source=source, max_bytes=most)
    else:
        from memcli.workspace.reading import read_file

        follow = settings.follow_symlinks
        file = read_file(root, path, source=source, max_bytes=most, follow_symlinks=follow)
    if isinstance(file, Skip):
        return file
    if origin.is_transcripts:
        from memcli.markdown.transcript import as_markdown

        file = file._replace(text=as_markdown(file.text, origin.project))
    if not settings.redacts:
        return file
    from memcli.secrets.finding import redacted

    return file._replace(text=redacted(file.text))


class RenamedFile(Record):
    """A file with another name."""

    from_: str
    to: str


class Moves(Record):
    """The names of files that came, went, or did both with the same bytes, sorted."""

    added: tuple[str, ...]
    moved: tuple[RenamedFile, ...]
    removed: tuple[str, ...]


def pair_moves(added: Mapping[Key, bytes | None], removed: Mapping[Key, bytes]) -> Moves:
    """Pair files that vanished and appeared with the same bytes; None: they were not read."""
    names = {key: shown(*key) for key in (*added, *removed)}
    by_hash: dict[bytes | None, list[str]] = {}
    for key in sorted(removed, key=names.__getitem__):
        by_hash.setdefault(removed[key], []).append(names[key])
    new, moved = [], []
    for key in sorted(added, key=names.__getitem__):
        name, content = names[key], added[key]
        if by_hash.get(content):
            moved.append(RenamedFile(by_hash[content].pop(0), name))
        else:
            new.append(name)
    gone = sorted(name for left in by_hash.values() for name in left)
    return Moves(tuple(new), tuple(moved), tuple(gone))


def make_document(settings: Settings, file: FileText) -> Document | Skip:
    """Parse and chunk a file by the rules of its source, or return why it is skipped.

    No content of a file raises.
    """
    from memcli.indexing.document import build_document, parse_or_skip

    source, path, limits = settings.source(file.stat.source), file.stat.path, settings.limits
    document = parse_or_skip(
        source.name,
        path,
        lambda: build_document(file, source, limits, redacts=settings.redacts),
    )
    if isinstance(document, Skip):
        return document
    segments = sum(len(chunk.segments) for chunk in document.chunks)
    if segments > limits.most_segments:  # each segment is embedded, and a few bytes can make many
        detail = f"{segments} segments, the limit is {limits.most_segments}"
        return Skip(source.name, path, "too-large", detail)
    return document
