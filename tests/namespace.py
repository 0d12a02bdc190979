"""Run a command where there is no network, and count what tried to reach one.

A new network namespace has no interface that is up. Whatever is sent from it finds no route, which
the kernel counts for the namespace as `OutNoRoutes`: of native code too.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from functools import cache

from memcli.record import Record

# Flags of unshare(2): a user of its own, who needs no rights, and a network of its own.
_RUN = """
import ctypes, subprocess, sys
NEW_USER, NEW_NETWORK = 0x10000000, 0x40000000
if ctypes.CDLL(None, use_errno=True).unshare(NEW_USER | NEW_NETWORK):
    sys.exit("no namespace")
code = subprocess.call(sys.argv[1:])
names, values = (line.split() for line in open("/proc/self/net/snmp") if line.startswith("Ip:"))
print("\\noutside:", code, dict(zip(names, values))["OutNoRoutes"])
"""


class Inside(Record):
    """What a command did where there is no network."""

    code: int
    attempts: int  # packets and connections that found no route
    output: str  # of both streams


def run_inside(command: Sequence[str]) -> Inside:
    """Run a command in a namespace of its own; RuntimeError where the system gives none."""
    done = subprocess.run(
        [sys.executable, "-c", _RUN, *command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    output, mark, told = done.stdout.rpartition("\noutside: ")
    if not mark:
        raise RuntimeError(done.stdout)
    code, attempts = map(int, told.split())
    return Inside(code, attempts, output)


@cache
def has_namespaces() -> bool:
    """Tell whether the system lets an ordinary user make one."""
    if sys.platform != "linux":
        return False
    try:
        return run_inside([sys.executable, "-c", "pass"]).code == 0
    except RuntimeError:
        return False
