"""Trees of files for the tests of this folder."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from memcli.types import Listing, Skip, Source
from memcli.workspace.discover import discover

LIMIT = 1 << 20


def make(root: Path, *paths: str, text: str = "# x\n") -> Path:
    for path in paths:
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return root


def make_socket(path: Path) -> None:
    """Make a socket; its path may have 100 characters, so that a name is short enough."""
    with contextlib.chdir(path.parent), socket.socket(socket.AF_UNIX) as server:
        server.bind(path.name)


def source(root: Path, *include: str, name: str = "memory", exclude: Sequence[str] = ()) -> Source:
    return Source(name, str(root), include or ("**/*.md",), exclude=tuple(exclude))


def walk(root: Path, *include: str, exclude: Sequence[str] = (), follow: bool = False) -> Listing:
    return discover(
        [source(root, *include, exclude=exclude)], max_bytes=LIMIT, follow_symlinks=follow
    )


def paths(listing: Listing) -> list[str]:
    return [file.path for file in listing.files]


def brief(skips: Sequence[Skip]) -> list[tuple[str, str, str]]:
    return [(skip.path, skip.reason, skip.detail) for skip in skips]


def unprivileged(code: str, *arguments: str) -> str:
    """Run Python code where permissions bind: root becomes nobody first."""
    package = Path(__file__).parents[2]
    loaded = "import os, sys, memcli.workspace.discover, memcli.workspace.reading\n"
    drop = "if os.getuid() == 0:\n    os.setgroups([]); os.setgid(65534); os.setuid(65534)\n"
    done = subprocess.run(
        [sys.executable, "-B", "-c", loaded + drop + code, *arguments],
        capture_output=True,
        text=True,
        check=True,
        cwd=package,
        env={**os.environ, "PYTHONPATH": str(package)},
        timeout=60,
    )
    return done.stdout
