"""Start a program and tell what it cost, as `bench speed` does."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from memcli.cli import launch


class Cost(NamedTuple):
    """What one run of a program took."""

    wall: float  # seconds
    cpu: float  # of it and its children
    peak: float  # MB; at least some 10, which what starts it takes
    code: int


def cost_of(command: Sequence[str], environ: Mapping[str, str] | None = None) -> Cost:
    """Run a program to its end; FileNotFoundError where there is none of that name.

    What starts it is small, as Linux counts the memory of that among the peak of the program.
    """
    program = shutil.which(command[0])
    if program is None:
        raise FileNotFoundError(command[0])
    line = [sys.executable, "-I", "-S", launch.__file__, "1", program, *command[1:]]
    done = subprocess.run(
        line, env=environ, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True
    )
    ((wall, cpu, peak, code),) = json.loads(done.stdout)
    return Cost(wall, cpu, peak / 1024, code)


def warn_of_bytecode() -> None:
    """Say where Python compiles each module anew at every start."""
    if sys.dont_write_bytecode:
        print("Python writes no bytecode here (PYTHONDONTWRITEBYTECODE): starts are too slow")
