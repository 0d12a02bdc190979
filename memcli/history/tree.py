"""The files of one commit, in the form that discovery and reading expect.

A folder is the number of its repository and the hash of its tree: a submodule is a folder of
another repository. An unreadable file is missing on its own. Links are not followed.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from memcli.history.git import BrokenObjectError, Git
from memcli.record import Record
from memcli.types import FileStat, FileText, Listing, Skip, Source
from memcli.workspace.discover import discover
from memcli.workspace.openat import MOST, reason
from memcli.workspace.reading import text_of

LFS = b"version https://git-lfs.github.com/spec/"
LFS_BYTES = 1024  # of a pointer at most
MOST_TREE_BYTES = 64 << 20  # of one folder: half a million names
NO_FILE = "there is no such file"
_NO_FOLDER = "0::"  # a folder that does not exist
_FOLDER, _SUBMODULE = 0o040000, 0o160000
_MODE = re.compile(rb"[0-7]{1,6}")


class TreeEntry(Record):
    """An entry of a tree, with the interface of `os.DirEntry`."""

    name: str
    mode: int
    oid: str
    look: Callable[[str], os.stat_result]  # returns the stat of a file, by its hash

    def is_file(self, *, follow_symlinks: bool = True) -> bool:
        return stat.S_ISREG(self.mode)

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        return self.mode in (_FOLDER, _SUBMODULE)

    def is_symlink(self) -> bool:
        return stat.S_ISLNK(self.mode)

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        """Return the size of a file; its inode is the beginning of its hash."""
        return self.look(self.oid)


class CommitFiles:
    """The files of a workspace in a tree of git: a `FilePlace`, and `DocumentFiles`."""

    def __init__(
        self, git: Git, tree: str, root: str, open_module: Callable[[str], Git | None]
    ) -> None:
        """Take the tree of the workspace, its absolute folder, and the function for submodules.

        A submodule is named by its path below the root, in the letters of the file system.
        """
        self.tree, self._root, self._open_module = tree, root, open_module
        self._repositories = [git]
        self._top = f"0:{tree}:"
        self._seen: dict[str, dict[str, TreeEntry]] = {}  # by folder

    def listing(self, sources: tuple[Source, ...], *, max_bytes: int) -> Listing:
        return discover(sources, max_bytes=max_bytes, at=self)

    def read(self, root: str, path: str, *, source: str, max_bytes: int) -> FileText | Skip:
        try:
            folder = self.open_root(root)
            *above, name = path.split("/")
            for each in above:
                folder = self.open_folder(folder, each)
            entry = self._entry(folder, name)
            if entry is None or not entry.is_file():
                return Skip(source, path, "unreadable", NO_FILE)
            status = entry.stat()
            if status.st_size > max_bytes:
                detail = f"{status.st_size} bytes, the limit is {max_bytes}"
                return Skip(source, path, "too-large", detail)
            data = self._git(folder).read(entry.oid).data
        except FileNotFoundError:
            return Skip(source, path, "unreadable", NO_FILE)
        except OSError as error:
            return Skip(source, path, "unreadable", reason(error))
        except BrokenObjectError as error:
            return Skip(source, path, "unreadable", str(error))
        seen = FileStat(source, path, status.st_size, 0, 0, status.st_ino)
        return text_of(seen, data)

    def file(self, name: str, limit: int) -> bytes | None:
        """Read a small file at the root of the workspace; None if it does not exist."""
        return self.read_small(self._top, name, limit)

    def differing(self, before: CommitFiles | None) -> Iterator[str]:
        """Name the files that are others than before, by path; folders of one hash are not opened.

        OSError if a folder of either cannot be read.
        """
        old = before._top if before else _NO_FOLDER
        yield from self._differing(before or self, old, self._top, "")

    def _differing(
        self, before: CommitFiles, old: int | str, new: int | str, prefix: str
    ) -> Iterator[str]:
        theirs, ours = before._entries(old), self._entries(new)
        for name in sorted(theirs.keys() | ours.keys()):
            was, now = theirs.get(name), ours.get(name)
            if was and now and (was.mode, was.oid) == (now.mode, now.oid):
                continue
            if any(each.is_file() for each in (was, now) if each):
                yield prefix + name
            there = before.open_folder(old, name) if was and was.is_dir() else _NO_FOLDER
            here = self.open_folder(new, name) if now and now.is_dir() else _NO_FOLDER
            yield from self._differing(before, there, here, f"{prefix}{name}/")

    def open_root(self, path: str) -> int | str:
        """Open the folder of a source; if it did not exist yet, it is empty."""
        below = os.path.relpath(path, self._root).replace(os.sep, "/")
        folder: int | str = self._top
        for name in () if below == "." else below.split("/"):
            try:
                folder = self.open_folder(folder, name)
            except FileNotFoundError:
                return _NO_FOLDER
        return folder

    def open_folder(self, parent: int | str, name: str) -> int | str:
        """Open a folder in a folder; FileNotFoundError if there is none."""
        entry = self._entry(parent, name)
        if entry is None or not entry.is_dir():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
        number, _, above = str(parent).split(":", 2)
        path = f"{above}{name}/"
        if entry.mode == _SUBMODULE:
            return self._module(entry.oid, path)
        return f"{number}:{entry.oid}:{path}"

    @contextmanager
    def scan(self, folder: int | str) -> Iterator[Iterator[TreeEntry]]:
        yield iter(self._entries(folder).values())

    def read_small(self, folder: int | str, name: str, limit: int) -> bytes | None:
        entry = self._entry(folder, name)
        if entry is None:
            return None
        if not entry.is_file():
            raise OSError(errno.EINVAL, "not a regular file", name)
        if entry.stat().st_size > limit:
            raise OSError(errno.EFBIG, f"larger than {limit} bytes", name)
        return self._git(folder).read(entry.oid).data

    def device(self, folder: int | str) -> int:
        return 0

    def is_mounted(self, root: int | str, path: str) -> bool:
        return False

    def is_empty(self, root: int | str) -> bool:
        return False

    def close(self, folder: int | str) -> None:
        """Do nothing; folders of a tree need not be closed."""

    def _git(self, folder: int | str) -> Git:
        return self._repositories[int(str(folder).partition(":")[0])]

    def _entry(self, folder: int | str, name: str) -> TreeEntry | None:
        return self._entries(folder).get(name)

    def _entries(self, folder: int | str) -> dict[str, TreeEntry]:
        """List the entries of a tree by name, read once."""
        number, oid, _ = str(folder).split(":", 2)
        key = f"{number}:{oid}"
        if key not in self._seen:
            entries = self._tree(self._git(folder), oid) if oid else ()
            self._seen[key] = {each.name: each for each in entries}
        return self._seen[key]

    def _tree(self, git: Git, oid: str) -> list[TreeEntry]:
        try:
            seen = git.info(oid)
            if seen is not None and seen.size > MOST_TREE_BYTES:
                raise OSError(errno.EFBIG, f"the tree {oid} has {seen.size} bytes")
            tree = git.read(oid)
        except BrokenObjectError as error:
            raise OSError(errno.EIO, str(error)) from None
        if tree.kind != "tree":
            raise OSError(errno.ENOTDIR, f"the object {oid} is a {tree.kind}, no tree")
        parsed = _parse(tree.data, len(oid) // 2)
        return [TreeEntry(name, mode, hash_, partial(_look, git)) for name, mode, hash_ in parsed]

    def _module(self, commit: str, path: str) -> str:
        """Open the tree of a submodule; OSError if its repository is missing."""
        git = self._open_module(path.rstrip("/"))
        try:
            info = git.info(f"{commit}^{{tree}}") if git else None
        except BrokenObjectError:
            info = None
        if git is None or info is None:
            raise OSError(errno.EIO, f"the commit {commit[:7]} of this submodule is not here")
        self._repositories.append(git)
        return f"{len(self._repositories) - 1}:{info.oid}:{path}"


def _look(git: Git, oid: str) -> os.stat_result:
    """Stat a file; OSError if it cannot be read, or its content is stored elsewhere."""
    try:
        info = git.info(oid)
        if info is None:
            raise OSError(errno.EIO, f"the object {oid} is missing or damaged")
        if info.size <= LFS_BYTES and git.read(oid).data.startswith(LFS):
            raise OSError(errno.EIO, "a pointer of Git LFS, whose file is not in the repository")
    except BrokenObjectError as error:
        raise OSError(errno.EIO, str(error)) from None
    times = {"st_mtime_ns": 0, "st_ctime_ns": 0}
    inode = int(oid[:16], 16) & MOST
    return os.stat_result((stat.S_IFREG, inode, 0, 1, 0, 0, info.size, 0, 0, 0), times)


def _parse(data: bytes, half: int) -> Iterator[tuple[str, int, str]]:
    """Yield name, mode and hash of the entries of a tree; OSError if it is cut off.

    Hashes take `half` bytes. A name that no file can have is skipped.
    """
    at = 0
    while at < len(data):
        end = data.find(b"\0", at)
        mode, space, name = data[at:end].partition(b" ")
        if end < 0 or not space or end + half >= len(data):
            raise OSError(errno.EIO, "a tree is damaged")
        at = end + 1 + half
        if not _MODE.fullmatch(mode):
            raise OSError(errno.EIO, "a tree is damaged")
        kind = int(mode, 8)
        if name not in (b"", b".", b"..") and b"/" not in name:
            yield os.fsdecode(name), kind, data[end + 1 : at].hex()
