"""Compare a listing with the index, and say why memcli leaves out files that still exist."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping

from memcli.errors import Reason
from memcli.types import MEMORY_SOURCE, Diff, FileStat, KnownFile, Listing, Skip, Source, shown
from memcli.workspace.ignore import HIDDEN, IGNORE_FILE

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
    return [
        (source, path)
        for source, path in gone
        if not hidden or hidden.isdisjoint((source, each) for each in (*_upward(path), ROOT))
    ]


def _upward(path: str) -> Iterator[str]:
    while path:
        yield path
        path = path.rpartition("/")[0]


NAMED = 3  # files of a reason
_NOT_SET = ("its source is no longer set", "their source is no longer set")
_NOT_NAMED = "agent memory is searched only outside workspaces or with --with"

Key = tuple[str, str]  # (source, path)
_Why = tuple[str, str]  # of one file, and of several


def out_of_scope(
    removed: Iterable[Key], present: Iterable[Key], skips: Iterable[Skip], sources: Iterable[Source]
) -> tuple[Reason, ...]:
    """Count and name the removed documents whose files still exist.

    A document that another source has now is not counted.
    """
    from memcli.workspace.agent_memories import FINDABLE

    roots = {source.name: source.root for source in sources}
    why: dict[_Why, list[str]] = {}
    listed: set[str] | None = None
    passed = {(skip.source, skip.path): skip for skip in skips}
    for source, path in removed:
        root = roots.get(source)
        if root is None:
            is_agent_memory = source.partition(".")[0] in FINDABLE
            reason = (_NOT_NAMED, _NOT_NAMED) if is_agent_memory else _NOT_SET
            why.setdefault(reason, []).append(shown(source, path))
            continue
        file = os.path.join(root, path)
        if not os.path.lexists(file):
            continue
        if listed is None:
            listed = {os.path.join(roots[name], each) for name, each in present}
        if file not in listed:
            reason = _why(source, path, passed)
            why.setdefault(reason, []).append(shown(source, path))
    return tuple(_reason_of(reason, names) for reason, names in why.items())


def _why(source: str, path: str, skips: dict[Key, Skip]) -> _Why:
    """Return the rule that leaves a file out, its own or that of a folder above it."""
    for place in _upward(path):
        if skip := skips.get((source, place)):
            return _of(skip)
    globs = f"the include globs of the source {source} do not name"
    if source == MEMORY_SOURCE:
        globs = "files.scope and files.include do not name"
    return f"{globs} it", f"{globs} them"


def _of(skip: Skip) -> _Why:
    if skip.detail == HIDDEN:
        return "it is hidden", "they are hidden"
    if skip.detail in (IGNORE_FILE, "exclude"):
        return f"{skip.detail} leaves it out", f"{skip.detail} leaves them out"
    what = f"skipped as {skip.reason}" + (f" ({skip.detail})" if skip.detail else "")
    return f"it is {what}", f"they are {what}"


def _reason_of(why: _Why, names: list[str]) -> Reason:
    is_one = len(names) == 1
    files = "1 file is" if is_one else f"{len(names)} files are"
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    reason = why[0] if is_one else why[1]
    text = f"{files} no longer in scope because {reason}: {', '.join(names[:NAMED])}{more}"
    return Reason("scope", text, "memcli help agent-memory" if reason == _NOT_NAMED else "")
