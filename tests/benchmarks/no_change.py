"""Weigh an index run that has nothing to do against a plain walk over the same tree.

    python -m tests.benchmarks.no_change --files 10000

All figures are CPU seconds (user and system) of whole processes, the least of some runs, taken
in turn: the run's share is what `index` costs above a keyword search without a sync on the same
store, and the walk's what scandir and stat cost above an interpreter that does nothing.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.cli.processes import COMMAND

GOAL = 3.0
WALK = """
import os, sys
def walk(folder):
    found = 0
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                found += walk(entry.path)
            else:
                entry.stat(follow_symlinks=False)
                found += 1
    return found
print(walk(sys.argv[1]))
"""


def cpu_seconds(command: list[str], environ: dict[str, str]) -> float:
    """Run a process to its end and give the CPU time that it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=environ, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def make_tree(root: Path, files: int) -> None:
    for number in range(files):
        file = root / "memory" / f"{number % 100}" / f"{number % 5}" / f"note-{number}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"# Note {number}\n\nThe fox of {number} takes the train to the pool.\n")
        os.utime(file, (1_700_000_000 + number, 1_700_000_000 + number))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--encoder", default="hashing")
    wanted = parser.parse_args()
    base = Path(tempfile.mkdtemp(prefix="memcli-no-change-"))
    root = base / "ws"
    make_tree(root, wanted.files)
    environ = {
        **os.environ,
        "MEMCLI_STORE": str(base / "s" / "index.sqlite"),
        "MEMCLI_WORKSPACE": str(root),
        "MEMCLI_EMBEDDING_ENCODER": wanted.encoder,
        "XDG_CONFIG_HOME": str(base / "config"),
    }
    commands = {
        "nothing": [sys.executable, "-c", "pass"],
        "walk": [sys.executable, "-c", WALK, str(root)],
        "search": [*COMMAND, "search", "4242", "--mode", "lexical", "--no-sync"],
        "index": [*COMMAND, "index"],
    }
    cpu_seconds(commands["index"], environ)
    taken: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(wanted.runs):
        for name, command in commands.items():
            taken[name].append(cpu_seconds(command, environ))
    least = {name: min(seconds) for name, seconds in taken.items()}
    walk, above = least["walk"] - least["nothing"], least["index"] - least["search"]
    for name, seconds in least.items():
        sys.stdout.write(f"{name:8} {1000 * seconds:7.0f} ms CPU, least of {wanted.runs}\n")
    sys.stdout.write(
        f"index above search {1000 * above:.0f} ms, walk above nothing {1000 * walk:.0f} ms:"
        f" {above / walk:.1f} times, goal {GOAL:g}\n"
    )
    shutil.rmtree(base)
    sys.exit(above > GOAL * walk)


if __name__ == "__main__":
    main()
