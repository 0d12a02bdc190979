"""Make repositories of git for tests."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

NAMES = ("-c", "user.name=memcli", "-c", "user.email=memcli@example.invalid")


def git(folder: Path, *arguments: str, at: str = "2026-01-01 12:00:00 +0000") -> str:
    """Run git in a folder, at a moment."""
    moments = {"GIT_COMMITTER_DATE": at, "GIT_AUTHOR_DATE": at}
    done = subprocess.run(
        ["git", *NAMES, "-c", "protocol.file.allow=always", *arguments],
        cwd=folder,
        env={**os.environ, **moments},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
        timeout=20,
    )
    return done.stdout.decode("utf-8", "surrogateescape").strip()


def begin(folder: Path) -> Path:
    """Make an empty repository."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q", "-b", "main")
    return folder


def commit(folder: Path, day: str, files: Mapping[str, str | bytes | None] = {}) -> str:
    """Write some files, remove those that are None, and commit all; give the hash."""
    for path, text in files.items():
        file = folder / path
        if text is None:
            file.unlink(missing_ok=True)
            continue
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)
    git(folder, "add", "-A", at=f"{day} 12:00:00 +0000")
    git(folder, "commit", "-q", "--allow-empty", "-m", day, at=f"{day} 12:00:00 +0000")
    return git(folder, "rev-parse", "HEAD")


def checked_out(folder: Path, oid: str, to: Path) -> Path:
    """Check a commit out in a clone of its own."""
    to.parent.mkdir(parents=True, exist_ok=True)
    git(to.parent, "clone", "-q", "--no-checkout", str(folder), str(to))
    git(to, "checkout", "-q", "--detach", oid)
    return to
