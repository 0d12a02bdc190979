"""How much memory the limit of this process leaves (`ulimit -v`).

Short of memory a library often does not raise: it writes tracebacks of its own or ends the
process. So whoever is about to load one asks first.
"""

from __future__ import annotations

import os

# Below this no library of any size can be loaded and no thread started: its stack takes 8 MB.
LEAST = 12 << 20
_PROCESS = "/proc/self"


def left(process: str = _PROCESS) -> int | None:
    """Count the bytes of address space that may still be taken; None: without limit, or unknown."""
    try:
        with open(os.path.join(process, "limits"), encoding="utf-8") as file:
            (limit,) = (line.split()[3] for line in file if line.startswith("Max address space"))
        if not limit.isdecimal():
            return None
        with open(os.path.join(process, "statm"), encoding="utf-8") as file:
            taken = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):  # only Linux says so
        return None
    return max(0, int(limit) - taken)


def is_short() -> bool:
    """Tell that next to nothing works any more."""
    found = left()
    return found is not None and found < LEAST
