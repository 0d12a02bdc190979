"""Compare an index with the files and the settings, without changing anything.

This is the only comparison: a search, `status`, `index --dry-run` and the bench read the
`IndexComparison` made here to predict what the next `memcli index` will report.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from memcli import types
from memcli.checking import TYPE_CHECKING
from memcli.indexing.planning import BY_BYTES, Settings, altered, pair_moves, plan, read
from memcli.record import Record
from memcli.store.records import Facts, Key
from memcli.types import FileStat, KnownFile, Listing, Skip

if TYPE_CHECKING:
    from memcli.errors import Reason
    from memcli.indexing.planning import RenamedFile
    from memcli.store.port import Snapshot, Store

NOT_TEXT = b""  # the hash by which the index marks a file that is not text


class PlannedChanges(Record):
    """What a run of `memcli index` would change, by printed names, sorted."""

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()  # their bytes are others
    reindexed: tuple[str, ...] = ()  # the same bytes, stored in another way as settings changed
    moved: tuple[RenamedFile, ...] = ()
    removed: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()  # by name in `Facts`: with other values than in the index


class IndexComparison(Record):
    """The result of comparing settings, files and index."""

    listing: Listing  # with the files that could not be read among its skips
    known: Mapping[Key, KnownFile]
    changes: PlannedChanges
    is_indexed: bool
    is_read: bool  # a run has read all files once; else the index is of some of them
    replaced: str | None = None  # see `Facts`
    out_of_scope: tuple[Reason, ...] = ()  # why documents go although their files exist

    @property
    def pending(self) -> int:
        """Count the files that an answer does not know as they are."""
        changes = self.changes
        return sum(map(len, (changes.added, changes.changed, changes.moved, changes.removed)))

    @property
    def state(self) -> str:
        """Return up_to_date, out_of_date, not_indexed or empty."""
        is_empty = not self.listing.files and not self.listing.unlisted
        if not self.is_indexed:
            return types.EMPTY if is_empty else types.NOT_INDEXED
        if self.pending or self.changes.reindexed:
            return types.OUT_OF_DATE
        return types.EMPTY if is_empty else types.UP_TO_DATE


def compare_index(
    snapshot: Snapshot | None, settings: Settings, *, most: int | None = None
) -> IndexComparison:
    """Compare files, settings and index; without a snapshot there is no index.

    A file is read if it is new or if its stat proves nothing. If its bytes are the same, it has not
    changed. If it cannot be read or is not text, it is skipped, as a run would do. At most `most`
    files are read; the others count as changed or added. With 0, no file is opened.
    """
    facts, known = (snapshot.facts, snapshot.known()) if snapshot else (Facts(), {})
    planned = plan(settings, known, facts.mounts)
    changed_settings = altered(settings, facts) if snapshot else {}
    concerned = frozenset[str]().union(*changed_settings.values())
    listing, diff = planned.listing, planned.diff
    contents = _look_into(settings, (*diff.suspect, *diff.added)[:most])

    changed = {key for key in map(_key, diff.suspect) if _is_stored(contents.get(key), known[key])}
    skips = {key: content for key, content in contents.items() if isinstance(content, Skip)}
    reindexed = [
        key
        for key in (map(_key, listing.files) if concerned else ())
        if key[0] in concerned
        and key in known
        and known[key].hash != NOT_TEXT
        and key not in changed
        and key not in skips
    ]
    added = [key for key in map(_key, diff.added) if key not in skips]
    read_of = {key: content for key, content in contents.items() if isinstance(content, bytes)}
    moves = pair_moves(
        {key: read_of.get(key) for key in added}, {key: known[key].hash for key in diff.removed}
    )
    return IndexComparison(
        listing=listing._replace(skips=(*listing.skips, *skips.values())),
        known=known,
        changes=PlannedChanges(
            **moves._asdict(),
            changed=_names(changed),
            reindexed=_names(reindexed),
            settings=tuple(changed_settings),
        ),
        is_indexed=snapshot is not None,
        is_read=facts.mounts is not None,
        replaced=facts.replaced,
        out_of_scope=planned.out_of_scope,
    )


def compare_store(store: Store, settings: Settings) -> IndexComparison:
    """Compare files, settings and a store, and read every file that this takes."""
    if not store.exists():
        return compare_index(None, settings)
    with store.snapshot() as snapshot:
        return compare_index(snapshot, settings)


def _look_into(settings: Settings, files: Iterable[FileStat]) -> dict[Key, bytes | Skip]:
    """Read files; return the hash of each, or why it has none."""
    contents = {}
    for file in files:
        file_content = read(settings, *_key(file))
        contents[_key(file)] = file_content if isinstance(file_content, Skip) else file_content.hash
    return contents


def _is_stored(file: bytes | Skip | None, before: KnownFile) -> bool:
    """Return whether a run stores a known file again; None if it was not read."""
    if isinstance(file, Skip):
        return file.reason in BY_BYTES and before.hash != NOT_TEXT
    return file != before.hash


def _key(file: FileStat) -> Key:
    return file.source, file.path


def _names(keys: Iterable[Key]) -> tuple[str, ...]:
    return tuple(sorted(types.shown(*key) for key in keys))
