"""All that differs between operating systems: files, locks, user folders, memory, processes.

No other module asks which system it runs on. Modules that read `/proc` also work without it.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from contextlib import suppress

from memcli.checking import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import IO

HAS_DIR_FD = (
    os.open in os.supports_dir_fd
    and os.stat in os.supports_dir_fd
    and os.scandir in os.supports_fd
    and hasattr(os, "O_NOFOLLOW")
)
# Neither a link nor a FIFO in the place of a file may lead elsewhere or hang. Bytes stay as they
# are: without O_BINARY, Windows writes \r\n for \n.
FILE_FLAGS = (
    getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_BINARY", 0)
)
FOLDER_FLAGS = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_IS_WINDOWS = os.name == "nt"
MOVES_OPEN_FILES = not _IS_WINDOWS
GIT = "git.exe" if _IS_WINDOWS else "git"
# Errors of a lock that another process has.
_LOCKED = {errno.EAGAIN, errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLK}
_LOCKED_BYTE = 1 << 30  # which Windows locks: after the text, so that others can read that
_JUNCTION = 0xA0000003  # the tag of a folder of Windows that leads to another one
# Below this no large library can be loaded and no thread started: its stack takes 8 MB.
_LEAST_MEMORY = 12 << 20
_PROCESS = "/proc/self"


def is_link(status: os.stat_result) -> bool:
    """Return whether an entry, as returned by `lstat`, is a link."""
    return stat.S_ISLNK(status.st_mode) or getattr(status, "st_reparse_tag", 0) == _JUNCTION


def is_at(path: str, file: os.stat_result) -> bool:
    """Return whether an opened file is still at its path."""
    try:
        return os.path.samestat(os.stat(path), file)
    except FileNotFoundError:
        return False


def try_lock(descriptor: int) -> bool:
    """Lock an open file for this process; False if another has it, OSError without locks.

    The system frees it when the file is closed, however its holder dies.
    """
    try:
        if sys.platform == "win32":
            import msvcrt

            os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
            os.lseek(descriptor, 0, os.SEEK_SET)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _LOCKED:
            return False
        raise
    return True


def open_lock(path: str) -> int:
    """Open the lock of a file that is written: its folder, or on Windows a file next to it."""
    if _IS_WINDOWS:
        return os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT, 0o600)
    return os.open(os.path.dirname(path), os.O_RDONLY)


def user_id() -> int | None:
    """Return the number of the user; None on Windows, where files have no such number."""
    return os.geteuid() if hasattr(os, "geteuid") else None


def cache_folder(environ: Mapping[str, str]) -> str:
    """Name the folder of the user for caches."""
    return _user_folder(environ, ("LOCALAPPDATA", "Local"), "Caches", ("XDG_CACHE_HOME", ".cache"))


def config_folder(environ: Mapping[str, str]) -> str:
    """Name the folder of the user for settings."""
    linux = ("XDG_CONFIG_HOME", ".config")
    return _user_folder(environ, ("APPDATA", "Roaming"), "Application Support", linux)


def _user_folder(
    environ: Mapping[str, str], windows: tuple[str, str], macos: str, linux: tuple[str, str]
) -> str:
    """Return the folder in a variable, or else a folder below the home folder."""
    home = os.path.expanduser("~")
    if sys.platform == "win32":
        return environ.get(windows[0]) or os.path.join(home, "AppData", windows[1])
    if sys.platform == "darwin":
        return os.path.join(home, "Library", macos)
    named = environ.get(linux[0], "")
    return named if os.path.isabs(named) else os.path.join(home, linux[1])


def has_ended(pid: int) -> bool:
    """Return whether a process of this machine has ended; False if that is unknown."""
    if _IS_WINDOWS:  # there os.kill ends the process
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


def end_group(pid: int) -> None:
    """End the group of a process that has one of its own; Windows has no groups."""
    if not _IS_WINDOWS:
        import signal

        with suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)


def has_output(pipe: IO[bytes], seconds: float) -> bool:
    """Wait until a pipe can be read; Windows cannot wait for pipes, and reads."""
    return _IS_WINDOWS or can_read(pipe.fileno(), seconds)


def can_read(socket: int, seconds: float) -> bool:
    """Wait until a socket can be read; also of a process with many thousand open files."""
    import select

    if hasattr(select, "poll"):
        waiting = select.poll()
        waiting.register(socket, select.POLLIN)
        return bool(waiting.poll(seconds * 1000))
    return bool(select.select([socket], [], [], seconds)[0])  # Windows, which has no such bound


def memory_left(process: str = _PROCESS) -> int | None:
    """Count the bytes that the limit of this process (`ulimit -v`) leaves.

    None without a limit, or if it is unknown. Call this before you load a library: many print a
    traceback or end the process when memory runs out.
    """
    try:
        with open(os.path.join(process, "limits"), encoding="utf-8") as file:
            (limit,) = (line.split()[3] for line in file if line.startswith("Max address space"))
        if not limit.isdecimal():
            return None
        with open(os.path.join(process, "statm"), encoding="utf-8") as file:
            used = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):  # only Linux says it
        return None
    return max(0, int(limit) - used)


def is_short_of_memory() -> bool:
    """Return whether so little memory is left that almost nothing works."""
    left = memory_left()
    return left is not None and left < _LEAST_MEMORY


_GROUPS = "/sys/fs/cgroup"


def cores(threads: int) -> int:
    """Return a number of threads; 0 means as many as can run at once."""
    return threads or usable_cores()


def usable_cores(process: str = _PROCESS, groups: str = _GROUPS) -> int:
    """Count the processors that affinity and the quotas of control groups leave, at least 1.

    A quota of one and a half counts as 2: two threads use it up, one does not.
    """
    quotas = _quotas(process, groups)
    return max(1, min([_affine(), *(-int(-quota // 1) for quota in quotas)]))


def _affine() -> int:
    """Count the processors that this process may use."""
    counted = getattr(os, "process_cpu_count", os.cpu_count)() or 1  # the former from 3.13 on
    if hasattr(os, "sched_getaffinity"):
        return min(counted, len(os.sched_getaffinity(0)))
    return int(counted)


def _quotas(process: str, groups: str) -> Iterator[float]:
    """Yield the quota of each control group above this process, in processors.

    Inside a container the path of the process may not exist; then the root of the mount is its own
    group.
    """
    try:
        with open(os.path.join(process, "cgroup"), encoding="utf-8") as file:
            lines = file.read().splitlines()
    except (OSError, ValueError):  # only Linux has them
        return
    for line in lines:
        _, _, named = line.partition(":")
        controllers, _, path = named.partition(":")
        if not controllers:  # version 2
            mounted = [groups, os.path.join(groups, "unified")]
        elif "cpu" in controllers.split(","):
            mounted = [os.path.join(groups, controllers), os.path.join(groups, "cpu")]
        else:
            continue
        folders = (os.path.join(root, folder) for root in mounted for folder in _upwards(path))
        yield from (quota for quota in map(_quota, folders) if quota is not None)


def _upwards(path: str) -> Iterator[str]:
    """Name a group and all above it, relative to the root."""
    names = [name for name in path.split("/") if name not in ("", "..")]
    for size in range(len(names), -1, -1):
        yield os.path.join(*names[:size]) if size else ""


def _quota(folder: str) -> float | None:
    """Read the quota of one control group (version 1 or 2); None: no limit."""
    try:
        with open(os.path.join(folder, "cpu.max"), encoding="ascii") as file:
            quota, period = file.read().split()
    except (OSError, ValueError):
        try:
            with open(os.path.join(folder, "cpu.cfs_quota_us"), encoding="ascii") as file:
                quota = file.read().strip()
            with open(os.path.join(folder, "cpu.cfs_period_us"), encoding="ascii") as file:
                period = file.read().strip()
        except (OSError, ValueError):
            return None
    if not (quota.isdecimal() and period.isdecimal() and int(quota) and int(period)):
        return None  # "max" in version 2, -1 in version 1
    return int(quota) / int(period)
