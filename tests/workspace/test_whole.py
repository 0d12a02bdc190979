"""Files are put in place whole, in folders that are made for them."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from memcli import system
from memcli.workspace import openat
from memcli.workspace.atomic_write import write_new, write_whole


def test_what_is_kept_for_its_owner_is_readable_by_nobody_else(tmp_path: Path) -> None:
    write_whole(str(tmp_path / "own" / "a.json"), "one")
    write_whole(str(tmp_path / "own" / "a.json"), "two")
    made = tmp_path / "own" / "a.json"
    assert made.read_text() == "two"
    assert [path.stat().st_mode & 0o777 for path in (made.parent, made)] == [0o700, 0o600]
    assert list(made.parent.iterdir()) == [made]


def test_a_file_and_then_its_name_outlast_a_loss_of_power(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, synced = tmp_path / "a.md", list[tuple[int, bool]]()

    def sync(descriptor: int) -> None:
        synced.append((os.fstat(descriptor).st_ino, made.exists()))

    monkeypatch.setattr(os, "fsync", sync)
    write_new(str(made), "one")
    assert synced == [(made.stat().st_ino, False), (tmp_path.stat().st_ino, True)]


@pytest.mark.parametrize("has_links", [True, False])
@pytest.mark.parametrize("by_descriptor", [True, False])
def test_a_name_that_is_taken_is_never_written_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by_descriptor: bool, has_links: bool
) -> None:
    if not has_links:  # as on FAT

        def refuse(*arguments: Any, **options: Any) -> None:
            raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

        monkeypatch.setattr(os, "link", refuse)
    for name in ("old", "taken"):
        (tmp_path / name).write_text(name)
    folder = openat.open_root(str(tmp_path)) if by_descriptor else str(tmp_path)
    try:
        with pytest.raises(FileExistsError):
            openat.rename_new(folder, "old", "taken")
        openat.rename_new(folder, "old", "new")
    finally:
        if by_descriptor:
            openat.close(folder)
    assert {each.name: each.read_text() for each in tmp_path.iterdir()} == {
        "new": "old",
        "taken": "taken",
    }


def test_what_cannot_be_read_or_locked_is_not_said_to_be_missing_or_held(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=os.strerror(errno.ENAMETOOLONG)):
        openat.read_small(str(tmp_path), "a" * 300, limit=9)
    assert openat.read_small(str(tmp_path), "a", limit=9) is None
    closed = os.open(tmp_path, os.O_RDONLY)
    os.close(closed)
    with pytest.raises(OSError, match=os.strerror(errno.EBADF)):
        system.try_lock(closed)
