"""Choose the folders to watch and the events that matter.

Ignored folders are not watched: a package folder or `.git` can have more folders than the system
has watches, and its changes would wake the watcher for nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress

from memcli.checking import TYPE_CHECKING
from memcli.errors import ConfigError
from memcli.record import Record
from memcli.workspace.ignore import Rules, load_rules

if TYPE_CHECKING:
    from memcli.indexing.watcher import Stamp
    from memcli.types import FileStat, Source

# Each watch is a thread, and with some versions of watchdog an inotify instance, of which Linux
# allows 128 per user.
MOST_WATCHES = 32

Identity = tuple[int, ...] | None  # of a folder: device and inode; of a file: its stamp


class Folder(Record):
    """A folder to watch, with or without everything below it."""

    path: str  # real path
    recursive: bool


class WatchedSource(Record):
    """The watched part of one source, and the meaning of its events."""

    name: str
    root: str  # real path
    rules: Rules
    any_markdown: bool  # links may lead to files under other names

    def folder(self, prefix: str) -> str:
        """Return the path of a folder that a glob leads to."""
        return os.path.join(self.root, *prefix.split("/")).rstrip(os.sep) or os.sep

    def hears(self, path: str, *, is_folder: bool) -> bool:
        """Return whether an event at a path below the root can change the index."""
        if is_folder:
            leads = self.any_markdown or self.rules.leads_into(f"{path}/")
            return leads and not self.rules.hides(path, True)
        if self.any_markdown:
            return self.rules.is_document(path) and not self.rules.hides(path, False)
        return self.rules.accepts(path)


def watched_sources(
    sources: Iterable[Source], *, follow_symlinks: bool
) -> tuple[WatchedSource, ...]:
    """Read the rules of each source; if they cannot be read, the run reports why."""
    watched = []
    for source in sources:
        rules = Rules(source)
        with suppress(OSError, ConfigError):
            rules = load_rules(source)
        watched.append(
            WatchedSource(source.name, os.path.realpath(source.root), rules, follow_symlinks)
        )
    return tuple(watched)


def folders_to_watch(watched_sources: Iterable[WatchedSource]) -> tuple[Folder, ...]:
    """List the folders that may have documents, without ignored ones.

    If that takes too many watches, ignored folders are watched with the rest.
    """
    folders: list[Folder] = []
    for scope in watched_sources:
        prefixes = [("", True)] if scope.any_markdown else scope.rules.folders
        narrow: list[Folder] = []
        for prefix, below in prefixes:
            path = scope.folder(prefix)
            if os.path.isdir(path):
                narrow += _below(scope, path, prefix)[1] if below else [Folder(path, False)]
        if len(narrow) > MOST_WATCHES:
            narrow = [Folder(scope.folder(prefix), below) for prefix, below in prefixes]
        folders += narrow
    return _without_repeats(folders)


def _below(scope: WatchedSource, path: str, prefix: str) -> tuple[bool, list[Folder]]:
    """Cover a tree; also return whether nothing in it is ignored, so that one watch is enough."""
    whole, below = True, []
    for name in _subfolders(path):
        if scope.rules.why_ignored(prefix + name, name, True):
            whole = False
            continue
        clean, folders = _below(scope, os.path.join(path, name), f"{prefix}{name}/")
        whole = whole and clean
        below += folders
    return whole, [Folder(path, True)] if whole else [Folder(path, False), *below]


def _subfolders(path: str) -> list[str]:
    try:
        with os.scandir(path) as entries:
            return [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []


def _without_repeats(folders: Iterable[Folder]) -> tuple[Folder, ...]:
    distinct: list[Folder] = []
    for folder in sorted(set(folders), key=lambda f: (f.path, not f.recursive)):
        path = folder.path
        if not any(
            path == each.path or (each.recursive and path.startswith(_slashed(each.path)))
            for each in distinct
        ):
            distinct.append(folder)
    return tuple(distinct)


def _slashed(path: str) -> str:
    return path.rstrip(os.sep) + os.sep


def count_folders(folders: Iterable[Folder]) -> int:
    """Count the folders that a complete set of watches covers."""
    return sum(
        sum(1 for _ in _readable(folder.path)) if folder.recursive else 1 for folder in folders
    )


def _readable(path: str) -> Iterator[str]:
    """Walk the folders that may be watched: those that may be read."""
    waiting = [path]
    while waiting:
        folder = waiting.pop()
        if os.access(folder, os.R_OK):
            yield folder
            waiting += [os.path.join(folder, name) for name in _subfolders(folder)]


def heard(
    watched_sources: Sequence[WatchedSource], path: str, *, is_folder: bool
) -> tuple[str | None, bool]:
    """Translate an event's absolute path: (document as `source:path`, whether it matters)."""
    for scope in watched_sources:
        if path == scope.root:
            return None, is_folder
        top = _slashed(scope.root)
        if path.startswith(top):
            inside = path[len(top) :].replace(os.sep, "/")
            if scope.hears(inside, is_folder=is_folder):
                return (None if is_folder else f"{scope.name}:{inside}"), True
    return None, False


def stamps(watched_sources: Iterable[WatchedSource], paths: Iterable[str]) -> dict[str, Stamp]:
    """Stat documents given as `source:path`."""
    roots = {scope.name: scope.root for scope in watched_sources}
    result: dict[str, Stamp] = {}
    for key in paths:
        name, _, path = key.partition(":")
        result[key] = stamp(os.path.join(roots.get(name, ""), path))
    return result


def stamp(path: str) -> Stamp:
    """Stat a file; None if it does not exist."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return status.st_size, status.st_mtime_ns, status.st_ino


def identities(places: Iterable[str], files: Iterable[str]) -> dict[str, Identity]:
    """Identify what sends no events: folders that are replaced or mounted, files elsewhere."""
    result: dict[str, Identity] = {path: stamp(path) for path in files}
    for path in places:
        try:
            status = os.stat(path)
        except OSError:
            result[path] = None
        else:
            result[path] = status.st_dev, status.st_ino
    return result


def probed_folders(watched_sources: Iterable[WatchedSource]) -> tuple[str, ...]:
    """List the folders that a probe must check: roots, and folders that globs lead to."""
    paths = {
        scope.folder(prefix)
        for scope in watched_sources
        for prefix in ("", *(prefix for prefix, _ in scope.rules.folders))
    }
    return tuple(sorted(paths))


def changed_files(
    before: Mapping[tuple[str, str], FileStat], after: Mapping[tuple[str, str], FileStat]
) -> list[str]:
    """Compare two listings by stat and name each difference as `source:path`."""
    differing = {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)}
    return sorted(f"{source}:{path}" for source, path in differing)
