"""Compare a listing with the index; the indexer then reads the changed files."""

from __future__ import annotations

from collections.abc import Mapping

from memcli.types import Diff, FileStat, KnownFile, Listing

# A file written in the same clock tick in which it was read looks unchanged for ever.
# Two seconds is the coarsest time stamp of the usual file systems (FAT).
RACY_NS = 2_000_000_000
# The path of the whole source.
ROOT = "."


def diff(
    listing: Listing, known: Mapping[tuple[str, str], KnownFile], *, now_ns: int | None = None
) -> Diff:
    """Sort every listed and every known document into added, suspect, unchanged, removed.

    Known documents in a folder that could not be listed, and those that could not be read, are not
    removed: they may still exist. A row from after `now_ns` proves nothing, because the clock was
    put back and times may occur twice.
    """
    latest = 1 << 63 if now_ns is None else now_ns
    added: list[FileStat] = []
    suspect: list[FileStat] = []
    unchanged = 0
    listed: set[tuple[str, str]] = set()
    get, seen = known.get, listed.add
    for file in listing.files:
        source, path, size, mtime_ns, ctime_ns, inode = file
        key = (source, path)
        seen(key)
        row = get(key)
        if row is None:
            added.append(file)
            continue
        _, old_size, old_mtime, old_ctime, old_inode, indexed_ns = row
        if (
            size == old_size
            and mtime_ns == old_mtime
            and ctime_ns == old_ctime
            and inode == old_inode
            and abs(indexed_ns - old_mtime) > RACY_NS
            and indexed_ns <= latest
        ):
            unchanged += 1
        else:
            suspect.append(file)
    gone = known.keys() - listed
    removed = tuple(sorted(_truly_gone(gone, listing))) if gone else ()
    return Diff(tuple(added), tuple(suspect), unchanged, removed)


def _truly_gone(gone: set[tuple[str, str]], listing: Listing) -> list[tuple[str, str]]:
    """Leave out documents whose folder could not be listed."""
    hidden = {(skip.source, skip.path) for skip in listing.unlisted}
    hidden |= {(skip.source, skip.path) for skip in listing.skips if skip.reason == "unreadable"}
    if not hidden:
        return list(gone)
    return [(source, path) for source, path in gone if not _is_below(source, path, hidden)]


def _is_below(source: str, path: str, hidden: set[tuple[str, str]]) -> bool:
    """Return whether `hidden` has the path or a folder above it."""
    if (source, ROOT) in hidden:
        return True
    while path:
        if (source, path) in hidden:
            return True
        path = path.rpartition("/")[0]
    return False
