"""Run a command several times and report the cost of each run; a separate program.

`python -I -S launch.py RUNS PROGRAM ARGUMENTS...` writes a JSON list of [wall seconds, CPU
seconds, peak resident kB, exit code]. It stays small because Linux counts the memory of the
starting process in the peak of a program. Only POSIX reports such figures.
"""

from __future__ import annotations

import json
import os
import sys
import time

_KB_UNIT = 1024 if sys.platform == "darwin" else 1  # macOS counts bytes


def _once(command: list[str]) -> tuple[float, float, int, int]:
    started = time.perf_counter()
    quiet = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_WRONLY, 0) for stream in (1, 2)]
    child = os.posix_spawn(command[0], command, os.environ, file_actions=quiet)
    _, status, usage = os.wait4(child, 0)
    wall = time.perf_counter() - started
    cpu = usage.ru_utime + usage.ru_stime
    return wall, cpu, usage.ru_maxrss // _KB_UNIT, os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    json.dump([_once(sys.argv[2:]) for _ in range(int(sys.argv[1]))], sys.stdout)
