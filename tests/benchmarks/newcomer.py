"""Time what a newcomer does, from a clone to the first useful answer.

    python -m tests.benchmarks.newcomer [--constraints] [--isolated]

Each step is a command, run in an empty home folder with an empty cache: clone, environment,
installation, help, the first search on notes that nobody indexed, the index, a search by
meaning, the notes of one's own. Prints a transcript with the seconds of each step; a search
that does not find the passage ends it with exit 1. --constraints installs the versions of
.ci/constraints.txt. --isolated installs with pipx and with uv as well, each from the
environment it is put into for that.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
SHOWN_LINES = 6
SIZE = """
import pathlib, sysconfig
site = pathlib.Path(sysconfig.get_path("purelib"))
tools = ("pip", "setuptools", "_distutils_hack", "pkg_resources", "distutils-precedence")
sizes = {}
for file in site.rglob("*"):
    top = file.relative_to(site).parts[0]
    if file.is_file() and not file.is_symlink() and not top.startswith(tools):
        sizes[top] = sizes.get(top, 0) + file.stat().st_size
largest = sorted(sizes.items(), key=lambda each: -each[1])[:8]
print(f"{sum(sizes.values()) / 1e6:.0f} MB in all:",
      ", ".join(f"{name} {size / 1e6:.0f}" for name, size in largest))
"""


class Newcomer:
    """Types commands and notes how long each takes."""

    def __init__(self, home: Path) -> None:
        self.home, self.total = home, 0.0
        self.environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "LANG": "C.UTF-8",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            **{name: value for name, value in os.environ.items()
               if name.startswith(("PIP_", "UV_", "SSL_CERT_")) or name.lower().endswith("_proxy")},
        }  # fmt: skip

    def types(self, command: str, *, folder: Path, finds: str = "") -> None:
        """Run one line and show it with its seconds and the first lines of what it prints."""
        started = time.perf_counter()
        done = subprocess.run(
            ["/bin/sh", "-c", command], cwd=folder, env=self.environ, check=False,
            capture_output=True, text=True, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        seconds = time.perf_counter() - started
        self.total += seconds
        print(f"$ {command}    [{seconds:.1f} s]")
        lines = (done.stdout + done.stderr).rstrip().splitlines()
        for line in lines[:SHOWN_LINES]:
            print(f"  {line}")
        if len(lines) > SHOWN_LINES:
            print(f"  ... {len(lines) - SHOWN_LINES} more lines")
        if done.returncode or finds not in done.stdout:
            sys.exit(f"exit {done.returncode}, looked for {finds!r}")


def _isolated(you: Newcomer, tool: str, install: str) -> None:
    """Install by a tool that gives each program an environment of its own."""
    place, source = you.home / tool, you.home / "memcli"
    binary = place / "bin"
    you.environ |= {
        "PIPX_HOME": str(place / "pipx"), "PIPX_BIN_DIR": str(binary),
        "UV_TOOL_DIR": str(place / "uv"), "UV_TOOL_BIN_DIR": str(binary),
        "UV_CACHE_DIR": str(place / "cache"),
    }  # fmt: skip
    environment, python = place / "venv", shlex.quote(sys.executable)
    you.types(f"{python} -m venv {environment} && {environment}/bin/pip install -q {tool}",
              folder=you.home)  # fmt: skip
    you.types(f"{environment}/bin/{install} {source}", folder=you.home)
    you.types(
        f'{binary}/memcli search "why did the pool run dry" -n 1'
        " -w memcli/fixtures/workspaces/engineer",
        folder=you.home, finds="incident-review.md:",
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--constraints", action="store_true")
    parser.add_argument("--isolated", action="store_true")
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        you = Newcomer(home)
        clone = home / "memcli"
        notes = "-w fixtures/workspaces/engineer"
        you.types(f"git clone -q {shlex.quote(str(REPOSITORY))} memcli", folder=home)
        you.types(f"{shlex.quote(sys.executable)} -m venv .venv", folder=clone)
        pins = " -c .ci/constraints.txt" if wanted.constraints else ""
        you.types(f".venv/bin/pip install -q .{pins}", folder=clone)
        you.environ["PATH"] = f"{clone}/.venv/bin:{you.environ['PATH']}"
        you.types("memcli", folder=clone, finds="Usage: memcli COMMAND")
        you.types(f"memcli search ERR_POOL_EXHAUSTED -n 1 {notes}", folder=clone,
                  finds="memory/2025-06-12-incident-review.md:")  # fmt: skip
        print(f"first useful answer after {you.total:.1f} s")
        you.types(f"memcli index {notes}", folder=clone)
        you.types(f'memcli search "why did the pool run dry" -n 1 {notes}', folder=clone,
                  finds="memory/2025-06-12-incident-review.md:")  # fmt: skip
        own = home / "notes"
        own.mkdir()
        you.types(
            "mkdir memory && echo '# Bike\n\nThe lock of the bike is 4711.' > memory/2026-01-02.md",
            folder=own,
        )
        you.types('memcli search "which number opens the bicycle"', folder=own,
                  finds="4711")  # fmt: skip
        you.types("memcli status", folder=own)
        you.types(f"python -c {shlex.quote(SIZE)}", folder=clone)
        print(f"all in {you.total:.1f} s")
        if wanted.isolated:
            _isolated(you, "pipx", f"pipx install --python {shlex.quote(sys.executable)}")
            _isolated(you, "uv", "uv tool install -q")


if __name__ == "__main__":
    main()
