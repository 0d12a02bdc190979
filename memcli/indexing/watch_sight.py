"""Notice changes in a workspace: by events, by comparing identities, else by listing it.

A hint is `source:path`, or None if anything may differ. Nothing here decides when to index.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from memcli.indexing import watch_folders as folders
from memcli.indexing.watch_events import Events, system_observer
from memcli.workspace.discover import discover

if TYPE_CHECKING:
    from memcli.indexing.planning import Settings
    from memcli.indexing.watcher import Stamp
    from memcli.types import FileStat


class Sight:
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

    def aim(self, settings: Settings, *, retry: bool) -> str:
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
        problem = self._events.aim(folders.folders_to_watch(self._sources), again=again)
        was, self.polling = self.polling, bool(problem)
        if problem:
            self._listing = self._list()
        if problem and not was:
            return f"{problem}: looking for changes every few seconds instead"
        return "the system gives events again" if was and not problem else ""

    def settle(self) -> None:
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
        return folders.identities(places, (*folders.ignore_files(self._sources), *self._files))

    def _list(self) -> dict[tuple[str, str], FileStat]:
        settings = self._settings
        if settings is None:
            return {}
        listing = discover(
            settings.sources, max_bytes=settings.max_bytes, follow_symlinks=settings.follow_symlinks
        )
        return folders.by_path(listing.files)
