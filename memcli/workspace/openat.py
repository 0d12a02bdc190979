"""Open, create and remove files relative to a folder, without following links.

A folder is a descriptor where the platform can open relative to one, else its path.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, suppress

from memcli.system import FILE_FLAGS, FOLDER_FLAGS, HAS_DIR_FD, is_link

_READ_BYTES = 1 << 20
_KINDS = (
    (stat.S_ISFIFO, "FIFO"), (stat.S_ISSOCK, "socket"), (stat.S_ISCHR, "device"),
    (stat.S_ISBLK, "device"), (stat.S_ISDIR, "folder"),
)  # fmt: skip
TO_APPEND = os.O_RDWR | os.O_APPEND
# The index stores 64-bit numbers; file systems know times before 1678 and after 2261.
MOST = (1 << 63) - 1


def open_root(path: str) -> int | str:
    """Open the root of a source; it is a real path, so a link there was put in its place."""
    if HAS_DIR_FD:
        return os.open(path, FOLDER_FLAGS)
    if not stat.S_ISDIR(os.stat(path).st_mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
    return path


def scan(folder: int | str) -> AbstractContextManager[Iterator[os.DirEntry[str]]]:
    """List the entries of a folder as they come."""
    return os.scandir(folder)


def _at(folder: int | str, name: str) -> tuple[str, int | None]:
    """Return the path of an entry of a folder, and the `dir_fd` that it is below, for `os`."""
    return (name, folder) if isinstance(folder, int) else (os.path.join(folder, name), None)


def open_folder(parent: int | str, name: str) -> int | str:
    """Open a folder in a folder; a link is an OSError."""
    if isinstance(parent, int):
        return os.open(name, FOLDER_FLAGS, dir_fd=parent)
    path = os.path.join(parent, name)
    status = os.lstat(path)
    if not stat.S_ISDIR(status.st_mode) or is_link(status):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
    return path


def open_below(root: int | str, folders: Sequence[str]) -> int | str:
    """Open a folder some levels below another one, no link on the way; the caller closes it."""
    current: int | str = os.dup(root) if isinstance(root, int) else root
    for name in folders:
        try:
            child = open_folder(current, name)
        finally:
            close(current)
        current = child
    return current


def open_file(parent: int | str, name: str, flags: int = os.O_RDONLY) -> int:
    """Open a file in a folder, for reading or as the flags say; a link is an OSError."""
    path, dir_fd = _at(parent, name)
    if dir_fd is None and os.path.islink(path):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
    return os.open(path, flags | FILE_FLAGS, dir_fd=dir_fd)


def make_folder(parent: int | str, name: str) -> int | str:
    """Open a folder in a folder, and make it if it is missing; a link is an OSError."""
    path, dir_fd = _at(parent, name)
    with suppress(FileExistsError):
        os.mkdir(path, dir_fd=dir_fd)
    return open_folder(parent, name)


def create_file(parent: int | str, name: str, mode: int = 0o666) -> int:
    """Make a new file in a folder and open it for writing; one that exists is an OSError."""
    path, dir_fd = _at(parent, name)
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | FILE_FLAGS, mode, dir_fd=dir_fd)


def let_go(descriptor: int) -> None:
    """Close a file whose bytes are synced, and ignore errors of the system."""
    with suppress(OSError):
        os.close(descriptor)


def replace(folder: int | str, old: str, new: str) -> None:
    """Rename a file in a folder, in the place of one that has the new name."""
    (source, dir_fd), (target, _) = _at(folder, old), _at(folder, new)
    os.replace(source, target, src_dir_fd=dir_fd, dst_dir_fd=dir_fd)


def rename_new(folder: int | str, old: str, new: str) -> None:
    """Rename a file in a folder; FileExistsError if the new name is taken.

    Where the old name cannot be removed then, the file has both.
    """
    if isinstance(folder, int):
        try:
            # Unlike a rename, a link is never made over a file.
            os.link(old, new, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
        except FileExistsError:
            raise
        except OSError:  # a file system without links
            if new in os.listdir(folder):
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), new) from None
            os.rename(old, new, src_dir_fd=folder, dst_dir_fd=folder)
        else:
            with suppress(OSError):
                os.remove(old, dir_fd=folder)
        return
    if os.path.lexists(os.path.join(folder, new)):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), new)
    os.rename(os.path.join(folder, old), os.path.join(folder, new))


def remove(folder: int | str, name: str) -> None:
    """Remove a file of a folder, a link itself."""
    path, dir_fd = _at(folder, name)
    os.remove(path, dir_fd=dir_fd)


def remove_folder(folder: int | str, name: str) -> None:
    """Remove an empty folder of a folder; OSError if it is not empty or is a link."""
    path, dir_fd = _at(folder, name)
    os.rmdir(path, dir_fd=dir_fd)


def lstat(parent: int | str, name: str) -> os.stat_result:
    """Stat an entry of a folder, the link itself if it is one."""
    path, dir_fd = _at(parent, name)
    return os.lstat(path, dir_fd=dir_fd)


def close(folder: int | str) -> None:
    """Close a folder of `open_root` or `open_folder`."""
    if isinstance(folder, int):
        os.close(folder)


def device(folder: int | str) -> int:
    """Return the device that a folder is on."""
    return os.stat(folder).st_dev


def is_mounted(root: int | str, path: str) -> bool:
    """Return whether a root is on another device than the folder above it."""
    try:
        return device(root) != os.stat(os.path.join(path, os.pardir)).st_dev
    except OSError:
        return False


def inode(status: os.stat_result) -> int:
    """Return the inode, or 0 if the folder listing does not have it (Windows)."""
    return status.st_ino & MOST if HAS_DIR_FD else 0


def times(status: os.stat_result) -> tuple[int, int]:
    """Return the times of the last change of the content and of the file, in ns from 1970."""
    content, file = status.st_mtime_ns, status.st_ctime_ns
    return max(-MOST, min(content, MOST)), max(-MOST, min(file, MOST))


def read_bytes(descriptor: int, limit: int) -> bytes:
    """Read to the end of a file, but at most one byte beyond the limit."""
    pieces = []
    left = limit + 1
    while left > 0:
        piece = os.read(descriptor, min(left, _READ_BYTES))
        if not piece:
            break
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)


def read_small(folder: int | str, name: str, limit: int) -> bytes | None:
    """Read a small file of a folder, None when there is none; a link is an OSError."""
    try:
        descriptor = open_file(folder, name)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(errno.ELOOP, "a link, which is not followed", name) from None
        raise
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", name)
        data = read_bytes(descriptor, limit)
    finally:
        os.close(descriptor)
    if len(data) > limit:
        raise OSError(errno.EFBIG, f"larger than {limit} bytes", name)
    return data


def kind_of(mode: int) -> str:
    """Name a file type for people."""
    for test, name in _KINDS:
        if test(mode):
            return name
    return "special file"


def real_path(path: str) -> str:
    """Resolve all links, with slashes on every platform."""
    return os.path.realpath(path).replace(os.sep, "/")


def is_empty(root: int | str) -> bool:
    """Return whether a folder has no entry at all."""
    with os.scandir(root) as entries:
        return next(entries, None) is None


def reason(error: OSError) -> str:
    """Return the system's message for an error."""
    return error.strerror or type(error).__name__
