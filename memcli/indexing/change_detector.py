"""Notice changes in a workspace: by events, by comparing identities, else by listing it.

A hint is `source:path`, or None if anything may differ. Nothing here decides when to index. The
content of an event of watchdog is never trusted: only its place is passed on. If the system allows
no watches, the reason is returned and the caller polls.
"""

from __future__ import annotations

import errno
import logging
import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from memcli.indexing import watch_folders as folders
from memcli.indexing.planning import listing_of
from memcli.indexing.watch_folders import Folder, count_folders
from memcli.workspace.ignore import IGNORE_FILE

if TYPE_CHECKING:
    from memcli.indexing.planning import Settings
    from memcli.indexing.watcher import Stamp
    from memcli.types import FileStat

# Half of Linux's queue (fs.inotify.max_queued_events, 16,384): beyond it events may be lost without
# notice, so the whole tree counts as changed.
MANY_EVENTS = 8192
_LIMITS = {
    errno.ENOSPC: "the system's limit of watches is reached (fs.inotify.max_user_watches)",
    errno.EMFILE: "the system's limit of watchers is reached (fs.inotify.max_user_instances)",
}
_GONE = (errno.ENOENT, errno.ENOTDIR, errno.EACCES)


def system_observer() -> Any:  # noqa: ANN401  # watchdog picks a class by platform
    """Make an observer of the system's own events."""
    from watchdog.observers import Observer

    return Observer()


class Events:
    """The watches of the moment; `watch` replaces them."""

    def __init__(
        self,
        hear: Callable[[str, bool], None],
        overflow: Callable[[], None],
        open_observer: Callable[[], Any] = system_observer,
    ) -> None:
        """Take a function for events, for other threads to call: a path, and if it is a folder."""
        self._hear, self._overflow = hear, overflow
        self._open_observer = open_observer
        self._observer: Any = None
        self._folders: tuple[Folder, ...] = ()
        self._blind: tuple[int, int] | None = None
        self._count = 0
        logging.getLogger("watchdog").addHandler(logging.NullHandler())
        logging.getLogger("watchdog").propagate = False
        warnings.filterwarnings("ignore", category=RuntimeWarning, module="watchdog")

    def watch(self, folders: Sequence[Folder], *, again: bool = False) -> str:
        """Watch these folders; return "", or the reason if the system sends no events.

        With `again`, the watches are made again even for the same folders.
        """
        self._count = 0
        folders = tuple(folders)
        if self._observer is not None and folders == self._folders and not again:
            return self._check()
        try:
            observer = self._start(folders)
        except OSError as error:
            self.close()
            return _reason(error)
        self.close()  # the old watches end after the new ones begin: no change falls between
        self._observer, self._folders = observer, folders
        return self._check()

    def alive(self) -> bool:
        """Return whether every watch still listens; a watch ends when its folder is deleted."""
        observer = self._observer
        return observer is None or (
            observer.is_alive() and all(emitter.is_alive() for emitter in observer.emitters)
        )

    def close(self) -> None:
        """Stop watching."""
        if self._observer is not None:
            _stop(self._observer)
        self._observer, self._folders, self._blind = None, (), None

    def _start(self, folders: Sequence[Folder]) -> Any:  # noqa: ANN401
        from watchdog import events

        kinds = [
            events.FileCreatedEvent, events.FileModifiedEvent, events.FileMovedEvent,
            events.FileDeletedEvent, events.FileClosedEvent, events.DirCreatedEvent,
            events.DirMovedEvent, events.DirDeletedEvent,
        ]  # fmt: skip
        if hasattr(events, "FileAttribEvent"):  # in watchdog 6 a change of rights is "modified"
            kinds += [events.FileAttribEvent, events.DirAttribEvent]
        observer = self._open_observer()
        observer.start()
        try:
            for path, recursive in folders:
                try:
                    observer.schedule(self, path, recursive=recursive, event_filter=kinds)
                except OSError as error:
                    if error.errno not in _GONE:  # a probe will notice that it has just vanished
                        raise
        except OSError:
            _stop(observer)
            raise
        return observer

    def dispatch(self, event: Any) -> None:  # noqa: ANN401
        """Take an event of watchdog, in its thread."""
        self._count += 1
        if self._count == MANY_EVENTS:
            self._count = 0
            self._overflow()
        for path in (event.src_path, event.dest_path):
            if path:
                self._hear(os.fsdecode(path), event.is_directory)

    def _check(self) -> str:
        """Compare the watches of the system with the folders that exist.

        watchdog does not report a folder below the first that it could not watch.
        """
        count = _watch_count()
        if count is None:
            return ""
        folders = count_folders(self._folders)
        if count >= folders:
            self._blind = None
            return ""
        try:
            _stop(self._start([folder._replace(recursive=False) for folder in self._folders[:1]]))
        except OSError as error:
            self.close()
            return _reason(error)
        if self._blind != (count, folders):  # a folder that came meanwhile: once more
            self._blind = count, folders
            self._overflow()
        return ""


def _stop(observer: Any) -> None:  # noqa: ANN401
    with suppress(OSError, RuntimeError):
        observer.stop()
        observer.join()


def _reason(error: OSError) -> str:
    return _LIMITS.get(error.errno or 0, error.strerror or type(error).__name__)


def _watch_count() -> int | None:
    """Count the inotify watches of this process; None if the system does not show them."""
    count = None
    try:
        for name in os.listdir("/proc/self/fd"):
            with suppress(OSError):
                if os.readlink(f"/proc/self/fd/{name}") == "anon_inode:inotify":
                    with open(f"/proc/self/fdinfo/{name}", encoding="ascii") as info:
                        lines = sum(line.startswith("inotify ") for line in info)
                    count = (count or 0) + lines
    except OSError:
        return None
    return count


class ChangeDetector:
    """The present watches."""

    def __init__(
        self,
        put: Callable[[str | None], None],
        *,
        places: Iterable[str],
        files: Iterable[str],
        open_observer: Callable[[], Any] = system_observer,
    ) -> None:
        """Pass hints to `put`, also from other threads.

        Besides the sources, `places` are compared by device and inode, and `files` by their stat.
        """
        self._put = put
        self._places, self._files = tuple(places), tuple(files)
        self._sources: tuple[folders.WatchedSource, ...] = ()
        self._settings: Settings | None = None
        self._events = Events(self._hear, lambda: put(None), open_observer)
        self._seen: Mapping[str, folders.Identity] = {}
        self._listing: Mapping[tuple[str, str], FileStat] = {}
        self._again = False
        self.polling = False

    def _hear(self, path: str, is_folder: bool) -> None:
        document, matters = folders.heard(self._sources, path, is_folder=is_folder)
        if matters:
            # watchdog 6 is deaf in a folder that was moved in and then renamed.
            self._again = self._again or is_folder
            self._put(document)

    def close(self) -> None:
        """Stop listening."""
        self._events.close()

    def watch(self, settings: Settings, *, retry: bool) -> str:
        """Watch the folders that exist now, and return what is worth reporting.

        Call it before each listing, so that no change falls between. If the system gives no events,
        they are requested again only with `retry`.
        """
        self._settings = settings
        self._sources = folders.watched_sources(
            settings.sources, follow_symlinks=settings.follow_symlinks
        )
        self._seen = self._identities()
        if self.polling and not retry:
            return ""
        again, self._again = self._again, False
        problem = self._events.watch(folders.folders_to_watch(self._sources), again=again)
        was, self.polling = self.polling, bool(problem)
        if problem:
            self._listing = self._list()
        if problem and not was:
            return f"{problem}: looking for changes every few seconds instead"
        return "the system gives events again" if was and not problem else ""

    def accept_places(self) -> None:
        """Take the places as they are now for known: a first run makes the store."""
        self._seen = {**self._seen, **folders.identities(self._places, ())}

    def look(self, paths: Iterable[str]) -> dict[str, Stamp]:
        """Stat the documents that hints have named."""
        return folders.stamps(self._sources, paths)

    def probe(self) -> frozenset[str]:
        """Name the folders and files that were replaced since the last probe.

        A watch whose thread has ended counts as a replaced source.
        """
        seen = self._identities()
        changed = {path for path in seen if seen[path] != self._seen.get(path)}
        if not self._events.alive():
            changed |= {scope.root for scope in self._sources}
        self._seen = seen
        self._again = self._again or bool(changed)
        return frozenset(changed)

    def poll(self) -> list[str]:
        """List the tree and name what differs from the last time; nothing if there are events."""
        if not self.polling:
            return []
        before, self._listing = self._listing, self._list()
        return folders.changed_files(before, self._listing)

    def _identities(self) -> dict[str, folders.Identity]:
        places = (*folders.probed_folders(self._sources), *self._places)
        ignores = (os.path.join(scope.root, IGNORE_FILE) for scope in self._sources)
        return folders.identities(places, (*ignores, *self._files))

    def _list(self) -> dict[tuple[str, str], FileStat]:
        files = listing_of(self._settings).files if self._settings else ()
        return {(file.source, file.path): file for file in files}
