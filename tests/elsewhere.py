"""Run memcli without what only POSIX has: as near to Windows as Linux comes.

Folders cannot be opened, nothing is relative to a descriptor, links are followed, and a file that
is open can be neither renamed nor removed.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

_ABSENT = (
    "O_CLOEXEC", "O_DIRECTORY", "O_NOCTTY", "O_NOFOLLOW", "O_NONBLOCK",
    "geteuid", "getuid", "killpg", "getpgrp", "sched_getaffinity", "sysconf", "tcgetpgrp", "wait4",
)  # fmt: skip
_SIGNALS = ("SIGHUP", "SIGKILL", "SIGQUIT", "SIGPIPE", "SIGALRM")


def _refuse_what_windows_refuses(event: str, given: tuple[object, ...]) -> None:
    if event == "open" and given[1] is None and Path(str(given[0])).is_dir():  # by os.open
        raise PermissionError(13, "Permission denied", given[0])
    if event in ("os.rename", "os.remove"):
        paths = {os.path.realpath(str(path)) for path in given if isinstance(path, str)}
        for descriptor in Path("/proc/self/fd").iterdir():
            if os.path.realpath(descriptor) in paths:
                raise PermissionError(13, "The file is used by another process", given[0])


def become_it() -> None:
    for name in _ABSENT:
        delattr(os, name)
    for name in _SIGNALS:
        delattr(signal, name)
    for ways in (os.supports_dir_fd, os.supports_fd, os.supports_follow_symlinks):
        ways.clear()
    sys.modules.update({"termios": None, "resource": None, "pwd": None})  # type: ignore[dict-item]
    vars(os)["process_cpu_count"] = os.cpu_count  # Python's own asks for the affinity
    os.name = "nt"
    import memcli.system  # noqa: F401  # the only module that asks for it

    os.name = "posix"
    sys.addaudithook(_refuse_what_windows_refuses)
