r"""List the documents of all sources in one walk each; leaves reading and comparing to others.

Rules decided here:
- A file that two sources cover belongs to the inner one, never to the memory around it: its trust.
- A name that is not UTF-8 is skipped as `unreadable`, its bytes written as `\xNN`.
- Links are followed after everything else, and only to what is not listed already.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterable, Sequence
from operator import itemgetter

from memcli.checking import TYPE_CHECKING
from memcli.system import HAS_DIR_FD
from memcli.types import MEMORY_SOURCE, FileStat, Listing, Skip, Source
from memcli.workspace import names, openat
from memcli.workspace.diff import ROOT
from memcli.workspace.ignore import HIDDEN, IGNORE_FILE, NOISE, Rules, load_rules
from memcli.workspace.locate import MOST_ENTRIES

if TYPE_CHECKING:
    from memcli.workspace.place import FilePlace, FolderEntry

# One descriptor is open per level, and 256 is the smallest usual limit of a process.
MAX_DEPTH = 230


def discover(
    sources: Iterable[Source],
    *,
    max_bytes: int,
    follow_symlinks: bool = False,
    at: FilePlace = openat,
) -> Listing:
    """Walk the sources and list their documents, sorted by (source, path).

    Folders that cannot be listed, such as a missing root, go into `unlisted`. `at` is the disk,
    or another `FilePlace`.
    """
    real = os.path.realpath
    sources = sorted(sources, key=lambda s: (-len(real(s.root)), s.name == MEMORY_SOURCE))
    taken: set[str] | None = set() if follow_symlinks or len(sources) > 1 else None
    walks = [_Walk(source, max_bytes, follow_symlinks, taken, at) for source in sources]
    for walk in walks:
        walk.run()
    walks.sort(key=lambda walk: walk.source.name)
    return Listing(
        tuple(file for walk in walks for file in sorted(walk.files, key=itemgetter(1))),
        tuple(
            skip
            for walk in walks
            for skip in sorted(walk.skips)
            if len(walks) == 1 or not _leads_to_another(skip, walk.source, sources)
        ),
        tuple(skip for walk in walks for skip in sorted(walk.unlisted)),
        tuple((walk.source.name, path) for walk in walks for path in walk.mounts),
    )


def _leads_to_another(skip: Skip, source: Source, sources: Sequence[Source]) -> bool:
    """Return whether another source is below a hidden folder, which is then not left out."""
    path = os.path.join(os.path.realpath(source.root), skip.path, "")
    return skip.detail == HIDDEN and any(
        os.path.join(os.path.realpath(other.root), "").startswith(path) for other in sources
    )


class _TooManyError(Exception):
    """A folder that nobody has named has too many entries to be a memory."""


class _Walk:
    """The walk over one source."""

    def __init__(
        self, source: Source, max_bytes: int, follow: bool, taken: set[str] | None, at: FilePlace
    ) -> None:
        self.at = at
        self.source = source
        self.max_bytes = max_bytes
        self.follow = follow
        self.taken = taken  # real paths of listed files; None if no file can appear twice
        self.files: list[FileStat] = []
        self.skips: list[Skip] = []
        self.unlisted: list[Skip] = []
        self.links: list[tuple[str, str]] = []  # (path, real path of the link)
        self.walked: set[str] = set()  # real paths of folders, with a slash
        self.mounts: list[str] = []
        self.seen = 0  # entries of folders
        self.device: int  # of the folder that is listed now
        self.rules: Rules

    def run(self) -> None:
        """List everything below the root."""
        try:
            root = self.at.open_root(self.source.root)
        except OSError as error:
            self.unlist(ROOT, openat.reason(error))
            return
        try:
            try:
                self.rules = load_rules(self.source, root, at=self.at)
            except OSError as error:
                # Without its ignore file, the source would show files that should stay hidden.
                self.unlist(ROOT, f"{IGNORE_FILE}: {openat.reason(error)}")
                return
            self.device = self.at.device(root)
            if self.at.is_mounted(root, self.source.root):
                self.mounts.append(ROOT)
            real = ""
            if self.taken is not None:
                real = openat.real_path(self.source.root).rstrip("/") + "/"
            try:
                self.folder(root, "", real, 0)
            except _TooManyError:
                self.files, self.skips, self.links, self.unlisted = [], [], [], []
                self.unlist(ROOT, f"more than {MOST_ENTRIES} entries; name it with -w")
                return
            nothing = not (self.files or self.skips or self.unlisted or self.links)
            if nothing and self.source.name != MEMORY_SOURCE and self.at.is_empty(root):
                self.unlist(ROOT, "the folder is empty; not mounted?")
            while self.links:
                links = sorted(self.links)
                self.links = []
                for path, link in links:
                    self.follow_link(root, path, link, real)
        finally:
            self.at.close(root)

    def folder(self, handle: int | str, prefix: str, real: str, depth: int) -> None:
        """List one folder and those below it; `prefix` and `real` end with a slash."""
        if self.follow:
            self.walked.add(real)
        try:
            folders = self.scan(handle, prefix, real)
        except OSError as error:
            self.unlist(prefix[:-1] or ROOT, openat.reason(error))
            return
        for name in folders:
            if self.rules.leads_into(f"{prefix}{name}/"):
                self.enter(handle, prefix, name, real, depth)

    def scan(self, handle: int | str, prefix: str, real: str) -> list[str]:
        """List the files of one folder and return the names of its folders."""
        endings = self.rules.endings(prefix)
        # Most files take the short way: nothing to compare with, one stat, one record.
        plain = self.taken is None and not self.rules.patterns and HAS_DIR_FD
        limit, most, source = self.max_bytes, openat.MOST, self.source.name
        append, new = self.files.append, tuple.__new__
        folders: list[str] = []
        seen = self.seen
        with self.at.scan(handle) as entries:
            for entry in entries:
                seen += 1
                name = entry.name
                if (
                    name.endswith(endings)
                    and name[0] != "."
                    and entry.is_file(follow_symlinks=False)
                ):
                    if plain and name.isascii():
                        try:
                            status = entry.stat(follow_symlinks=False)
                        except OSError:
                            self.file(entry, prefix, real)
                            continue
                        size = status.st_size
                        mtime, ctime = status.st_mtime_ns, status.st_ctime_ns
                        if size <= limit and -most <= mtime <= most >= status.st_ino:
                            path = prefix + name
                            append(new(FileStat, (source, path, size, mtime, ctime, status.st_ino)))
                            continue
                    self.file(entry, prefix, real)
                elif entry.is_dir(follow_symlinks=False):
                    folders.append(name)
                else:
                    self.other(entry, prefix, real)
        self.seen = seen
        if self.source.is_automatic and seen > MOST_ENTRIES:
            raise _TooManyError
        return folders

    def enter(self, parent: int | str, prefix: str, name: str, real: str, depth: int) -> None:
        """Go into a folder unless it is to be passed over."""
        path = prefix + name
        if not self.accepts(path, name, True):
            return
        real = f"{real}{name}/"
        if real in self.walked:
            self.skip(path, "symlink", "its target is searched already")
            return
        if depth >= MAX_DEPTH:
            self.unlist(path, f"more than {MAX_DEPTH} folders deep")
            return
        try:
            handle = self.at.open_folder(parent, name)
        except FileNotFoundError:
            return
        except OSError as error:
            self.unlist(path, openat.reason(error))
            return
        above, self.device = self.device, self.at.device(handle)
        if self.device != above:
            self.mounts.append(path)
        try:
            self.folder(handle, f"{path}/", real, depth + 1)
        finally:
            self.device = above
            self.at.close(handle)

    def file(self, entry: FolderEntry, prefix: str, real: str) -> None:
        """List a regular file, unless it is ignored, too large or taken."""
        name = entry.name
        path = prefix + name
        if self.accepts(path, name, False) and (status := self.status(entry, path)):
            self.add(path, status, real + name)

    def accepts(self, path: str, name: str, is_folder: bool) -> bool:
        """Return whether the rules and the name of an entry allow to read it; report why not."""
        if not names.is_utf8(name):
            self.skip(path, "unreadable", "name is not UTF-8")
            return False
        why = self.rules.why_ignored(path, name, is_folder)
        if why and why != NOISE:
            self.skip(path, "ignored", why)
        return not why

    def status(self, entry: FolderEntry, path: str) -> os.stat_result | None:
        """Stat an entry; None if it is gone, or if that fails, which is reported."""
        try:
            return entry.stat(follow_symlinks=False)
        except FileNotFoundError:
            return None
        except OSError as error:
            self.skip(path, "unreadable", openat.reason(error))
            return None

    def add(self, path: str, status: os.stat_result, real: str) -> None:
        """Put a file on the list."""
        size = status.st_size
        if self.taken is not None:
            if real in self.taken:
                return
            self.taken.add(real)
        if size > self.max_bytes:
            self.skip(path, "too-large", f"{size} bytes, the limit is {self.max_bytes}")
            return
        mtime, ctime = openat.times(status)
        self.files.append(
            FileStat(self.source.name, path, size, mtime, ctime, openat.inode(status))
        )

    def other(self, entry: FolderEntry, prefix: str, real: str) -> None:
        """Handle an entry that is neither a plain document nor a folder."""
        path, is_link = prefix + (name := entry.name), entry.is_symlink()
        if not self.rules.includes(prefix, name) and not (
            is_link and self.rules.leads_into(f"{path}/") and _is_folder(entry)
        ):
            return
        if not self.accepts(path, name, is_link and _is_folder(entry)):
            return
        if is_link:
            if self.follow:
                self.links.append((path, real + name))
            else:
                self.skip(path, "symlink", "links are not followed")
        elif entry.is_file(follow_symlinks=False):
            self.file(entry, prefix, real)
        elif status := self.status(entry, path):  # a FIFO, socket or device is never opened
            self.skip(path, "not-regular", openat.kind_of(status.st_mode))

    def follow_link(self, root: int | str, path: str, link: str, top: str) -> None:
        """List the target of a link, if it is inside the source and not listed yet."""
        try:
            real = openat.real_path(link)
            status = os.lstat(real)
        except OSError:
            status = None
        if status is None or stat.S_ISLNK(status.st_mode):  # a loop, or put there just now
            self.skip(path, "symlink", "broken link")
            return
        below = real.removeprefix(top)
        is_folder = stat.S_ISDIR(status.st_mode)
        if f"{real}/" in self.walked or (self.taken is not None and real in self.taken):
            self.skip(path, "symlink", "its target is searched already")
        elif not real.startswith(top):
            self.skip(path, "symlink", "its target is outside the source")
        elif self.rules.hides(below, is_folder):
            self.skip(path, "symlink", "its target is ignored")
        elif is_folder:
            self.follow_folder(root, path, below, f"{real}/")
        elif stat.S_ISREG(status.st_mode):
            self.add(path, status, real)
        else:
            self.skip(path, "not-regular", openat.kind_of(status.st_mode))

    def follow_folder(self, root: int | str, path: str, below: str, real: str) -> None:
        """Walk the folder that a link leads to, opened without another link on the way."""
        parts = below.split("/")
        try:
            handle = openat.open_below(root, parts)
        except OSError as error:
            self.unlist(path, openat.reason(error))
            return
        try:
            self.folder(handle, f"{path}/", real, len(parts))
        finally:
            openat.close(handle)

    def skip(self, path: str, reason: str, detail: str) -> None:
        """Report a skipped entry."""
        self.skips.append(Skip(self.source.name, names.printable(path), reason, detail))

    def unlist(self, path: str, detail: str) -> None:
        """Report a folder whose documents could not be listed."""
        self.unlisted.append(Skip(self.source.name, names.printable(path), "unreadable", detail))


def _is_folder(entry: FolderEntry) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def mounts_as_json(listing: Listing, missing: Iterable[Skip]) -> str:
    """Write down the mount points that were seen and those that are missed, as JSON."""
    return json.dumps(sorted({*listing.mounts, *((skip.source, skip.path) for skip in missing)}))


def missing_mounts(
    sources: Iterable[Source], listing: Listing, remembered: str | None
) -> list[Skip]:
    """List the remembered mount points that are empty folders of their parent's device now.

    If one has files or no longer exists, somebody changed it, and memcli accepts the change.
    """
    if not remembered or remembered == "[]":
        return []
    roots = {source.name: source.root for source in sources}
    missing = []
    for source, path in _read_mounts(remembered):
        if source not in roots or (source, path) in listing.mounts:
            continue
        try:
            is_empty = openat.is_empty(os.path.join(roots[source], path))
        except OSError:  # gone, or unlisted as it is
            continue
        if is_empty:
            missing.append(Skip(source, path, "unreadable", "nothing is mounted there now"))
    return missing


def _read_mounts(remembered: str) -> list[tuple[str, str]]:
    """Read the text of `mounts_as_json`; anything else means no mount points."""
    try:
        mounts = json.loads(remembered)
    except (ValueError, TypeError, RecursionError):
        return []
    return [
        (pair[0], pair[1])
        for pair in (mounts if isinstance(mounts, list) else [])
        if isinstance(pair, list)
        and len(pair) == 2
        and all(isinstance(each, str) and "\0" not in each for each in pair)
        and not os.path.isabs(pair[1])
        and os.pardir not in pair[1].split("/")
    ]
