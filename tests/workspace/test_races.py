"""A neighbour swaps files and folders for links while they are read or written: nothing leaks."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from memcli.compaction import folder
from memcli.compaction.draft import SummaryDraft
from memcli.errors import MemcliError
from memcli.types import FileText, Source
from memcli.workspace.discover import discover
from memcli.workspace.reading import read_file
from tests.support import write

SECRET = "what lies outside"
# Puts a link in the place of a file or folder and back again, as fast as it can.
SWAPPER = """
import os, shutil, sys
place, outside, aside = sys.argv[1:]
print("ready", flush=True)
while True:
    try:
        os.rename(place, aside)
    except FileNotFoundError:  # a folder that became empty was taken away
        os.mkdir(place)
        continue
    while os.path.lexists(aside):
        try:
            os.symlink(outside, place)
            os.remove(place)
            os.rename(aside, place)
        except OSError:  # a folder was made there meanwhile
            shutil.rmtree(place, ignore_errors=True)
"""


@contextmanager
def swapping(place: Path, outside: Path) -> Iterator[None]:
    process = subprocess.Popen(
        [sys.executable, "-c", SWAPPER, str(place), str(outside), f"{place}.aside"],
        stdout=subprocess.PIPE,
    )
    assert process.stdout
    process.stdout.readline()
    try:
        yield
        assert process.poll() is None, "nobody was swapping"
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write(tmp_path / "ws", "memory/sub/note.md", "inside\n")
    write(tmp_path, "outside/note.md", SECRET)
    return tmp_path / "ws"


@pytest.mark.parametrize("place", ["memory/sub/note.md", "memory/sub", "memory"])
@pytest.mark.parametrize("follow", [False, True], ids=["plain", "following links"])
def test_a_read_never_leaves_its_source(
    root: Path, tmp_path: Path, place: str, follow: bool
) -> None:
    outside = tmp_path / "outside"
    target = outside / "note.md" if place.endswith(".md") else outside
    if place == "memory":
        write(outside, "sub/note.md", SECRET)
    source = Source("memory", str(root), ("**/*.md",))
    seen = set()
    with swapping(root / place, target):
        for _ in range(400):
            found = read_file(
                str(root), "memory/sub/note.md", source="memory", max_bytes=1000,
                follow_symlinks=follow,
            )  # fmt: skip
            seen.add(found.text if isinstance(found, FileText) else found.reason)
            listing = discover((source,), max_bytes=1000, follow_symlinks=follow)
            assert all(file.size != len(SECRET) for file in listing.files)
    assert SECRET not in seen


@pytest.mark.parametrize("place", ["memory", "memory/summaries"])
def test_a_summary_is_never_written_outside(root: Path, tmp_path: Path, place: str) -> None:
    outside = tmp_path / "outside"
    (outside / "summaries").mkdir()
    (root / "memory" / "summaries").mkdir()
    with swapping(root / place, outside):
        for number in range(150):
            path = f"memory/summaries/{number}.md"
            try:
                folder.write(str(root), [_draft(path)])
                folder.remove(str(root), [path])
            except (MemcliError, OSError):
                continue
    assert sorted(p.name for p in outside.rglob("*")) == ["note.md", "summaries"]
    assert (outside / "note.md").read_text() == SECRET


def _draft(path: str) -> SummaryDraft:
    fields = {**dict.fromkeys(SummaryDraft._fields), "path": path, "text": "a summary"}
    return SummaryDraft(**fields)  # type: ignore[arg-type]


def test_deep_and_long_paths_are_read_or_named(root: Path) -> None:
    deep = root / "memory"
    handle = os.open(deep, os.O_RDONLY)
    for _ in range(40):  # 40 names of 250 bytes: more than twice what one path may hold
        os.mkdir("d" * 250, dir_fd=handle)
        below = os.open("d" * 250, os.O_RDONLY, dir_fd=handle)
        os.close(handle)
        handle = below
    descriptor = os.open("note.md", os.O_WRONLY | os.O_CREAT, dir_fd=handle)
    os.write(descriptor, b"far below\n")
    os.close(descriptor)
    os.close(handle)
    listing = discover((Source("memory", str(root), ("**/*.md",)),), max_bytes=1000)
    (far,) = (
        file for file in listing.files if file.path.endswith("/note.md") and "ddd" in file.path
    )
    found = read_file(str(root), far.path, source="memory", max_bytes=1000)
    assert isinstance(found, FileText)
    assert found.text == "far below\n"


def test_a_source_that_becomes_a_link_is_not_listed(root: Path, tmp_path: Path) -> None:
    source = Source("docs", str(root / "memory" / "sub"), ("**/*.md",))
    assert [file.path for file in discover((source,), max_bytes=1000).files] == ["note.md"]
    (root / "memory" / "sub").rename(tmp_path / "aside")
    (root / "memory" / "sub").symlink_to(tmp_path / "outside")
    for follow in (False, True):
        listing = discover((source,), max_bytes=1000, follow_symlinks=follow)
        assert (listing.files, len(listing.unlisted)) == ((), 1)
