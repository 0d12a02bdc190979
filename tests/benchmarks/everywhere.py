"""Time one search in a workspace beside the same search in many with --everywhere.

Every search is a process of its own, as a person starts it, where Python keeps bytecode. The
workspaces are made up, indexed and embedded first. The two commands take turns, so that what else
the machine does meets both alike; its load is told at the end.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from argparse import Namespace
from pathlib import Path

from memcli.bench.speed import documents, queries
from tests.benchmarks.figures import option, table

MEMCLI = Path(sys.executable).parent / "memcli"
OF_THE_CALLER = (
    "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "MEMCLI_WORKSPACE", "PYTHONDONTWRITEBYTECODE",
)  # fmt: skip


OPTIONS = (
    option("--workspaces", type=int, default=50),
    option("--documents", type=int, default=20),
    option("--rounds", type=int, default=15),
)


def main(options: Namespace) -> str:
    base = Path(tempfile.mkdtemp(prefix="everywhere-"))
    try:
        environ = {**os.environ, "HOME": str(base)}
        for variable in OF_THE_CALLER:
            environ.pop(variable, None)
        make(base, options.workspaces, options.documents)
        ran([MEMCLI, "index", "--everywhere", "-q"], base, environ)
        for warm in (["-w", "w00"], ["--everywhere"]):
            ran([MEMCLI, "search", "pool", *warm], base, environ)
        one, all_ = [], []
        for text in queries(options.rounds):
            one.append(ran([MEMCLI, "search", text, "-w", "w00"], base, environ))
            all_.append(ran([MEMCLI, "search", text, "--everywhere"], base, environ))
        rows = []
        for what, of in (("median", statistics.median), ("minimum", min)):
            alone, together = of(one), of(all_)
            print(
                f"{what}: one workspace {alone * 1e3:.0f} ms, {options.workspaces}"
                f" {together * 1e3:.0f} ms: {together / alone:.2f} times"
            )
            times = (f"{alone * 1e3:.0f}", f"{together * 1e3:.0f}", f"{together / alone:.2f}")
            rows.append([f"{what} of {options.rounds}", *times])
        print(f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores")
        head = [f"searches, load {os.getloadavg()[0]:.1f}", "one workspace, ms",
                f"{options.workspaces} of them, ms", "times"]  # fmt: skip
        return table(head, rows)
    finally:
        shutil.rmtree(base)


def make(base: Path, workspaces: int, count: int) -> None:
    """Write workspaces that hold different documents, and name them in the configuration."""
    lines = ["[workspaces]\n"]
    for number in range(workspaces):
        folder = base / f"w{number:02}"
        for path, text in documents(count, seed=number):
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        lines.append(f'{folder.name} = "{folder}"\n')
    settings = base / ".config" / "memcli" / "config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text("".join(lines), encoding="utf-8")


def ran(command: list[str | Path], folder: Path, environ: dict[str, str]) -> float:
    """Run a command; give the seconds that took."""
    started = time.perf_counter()
    subprocess.run(command, cwd=folder, env=environ, check=True, capture_output=True)
    return time.perf_counter() - started
