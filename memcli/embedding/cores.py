"""How many processors this process may use: fewer than the machine has, in most containers."""

from __future__ import annotations

import os
from collections.abc import Iterator

_PROCESS = "/proc/self"
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
    """Count what the scheduler may run this process on."""
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
    """Read the quota of one group in either version; None: without limit."""
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
