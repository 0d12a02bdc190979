"""Which folders are watched, and which events matter."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from memcli.indexing.watch_folders import (
    MOST_WATCHES,
    Folder,
    changed_files,
    count_folders,
    folders_to_watch,
    heard,
    identities,
    probed_folders,
    stamps,
    watched_sources,
)
from memcli.types import FileStat, Source
from memcli.workspace.locate import default_source
from tests.commands import NewWorkspace
from tests.support import write


def folders(root: Path, *sources: Source) -> set[tuple[str, bool]]:
    found = folders_to_watch(watched_sources(sources, follow_symlinks=False))
    return {(os.path.relpath(path, root), recursive) for path, recursive in found}


@pytest.fixture
def notes(workspace: NewWorkspace) -> Path:
    return workspace(
        {"MEMORY.md": "# M\n", "memory/2026/a.md": "# A\n", "node_modules/x/y.md": "# Y\n"}
    )


def test_a_workspace_is_its_folder_alone_and_its_memory_with_all_below(notes: Path) -> None:
    assert folders(notes, default_source(str(notes))) == {(".", False), ("memory", True)}


def test_ignored_folders_are_not_watched(notes: Path) -> None:
    write(notes, "memory/.obsidian/plugins/x.json", "{}")
    write(notes, "memory/2026/node_modules/a/b/c.md", "# C\n")
    write(notes, "memory/drafts/deep/d.md", "# D\n")
    write(notes, "memory/2025/deep/e.md", "# E\n")
    write(notes, ".memcliignore", "drafts/\n")
    assert folders(notes, default_source(str(notes))) == {
        (".", False), ("memory", False), ("memory/2026", False), ("memory/2025", True),
    }  # fmt: skip


def test_a_folder_of_any_markdown_is_watched_whole_but_for_what_is_ignored(tmp_path: Path) -> None:
    write(tmp_path, "docs/a.md", "# A\n")
    write(tmp_path, ".git/objects/aa/b", "x")
    assert folders(tmp_path, default_source(str(tmp_path))) == {(".", False), ("docs", True)}


def test_too_many_watches_become_few(notes: Path) -> None:
    for number in range(MOST_WATCHES):
        write(notes, f"memory/p{number}/.cache/x", "x")
        write(notes, f"memory/p{number}/a.md", "# A\n")
    source = default_source(str(notes), memory_alone=True)
    assert folders(notes, source) == {(".", False), ("memory", True)}


def test_a_source_inside_another_is_watched_once(notes: Path) -> None:
    inner = Source("inner", str(notes / "memory" / "2026"), ("**/*.md",))
    assert folders(notes, default_source(str(notes)), inner) == {(".", False), ("memory", True)}


def test_a_missing_folder_is_not_watched_but_looked_for(tmp_path: Path) -> None:
    found = watched_sources(
        [Source("s", str(tmp_path / "gone"), ("**/*.md",))], follow_symlinks=False
    )
    assert folders_to_watch(found) == ()
    assert probed_folders(found) == (str(tmp_path / "gone"),)
    assert identities(probed_folders(found), ()) == {str(tmp_path / "gone"): None}


@pytest.mark.parametrize(
    ("path", "is_folder", "matters"),
    [
        ("memory/a.md", False, ("memory:memory/a.md", True)),
        ("MEMORY.md", False, ("memory:MEMORY.md", True)),
        ("memory/new", True, (None, True)),
        ("memory", True, (None, True)),
        ("", True, (None, True)),
        ("memory/a.md.tmp", False, (None, False)),
        ("memory/.a.md.swp", False, (None, False)),
        ("memory/4913", False, (None, False)),
        ("memory/a.md~", False, (None, False)),
        ("memory/.#a.md", False, (None, False)),
        ("memory/.git", True, (None, False)),
        ("memory/.git/x.md", False, (None, False)),
        ("memory/node_modules/x.md", False, (None, False)),
        ("other.md", False, (None, False)),
        ("src", True, (None, False)),
        (".memcli/index.sqlite-wal", False, (None, False)),
        ("memory/index.sqlite.watch", False, (None, False)),
        ("../elsewhere/memory/a.md", False, (None, False)),
    ],
)
def test_what_an_event_means(
    notes: Path, path: str, is_folder: bool, matters: tuple[str | None, bool]
) -> None:
    found = watched_sources([default_source(str(notes), memory_alone=True)], follow_symlinks=False)
    absolute = os.path.normpath(notes / path)
    assert heard(found, absolute, is_folder=is_folder) == matters


def test_with_links_any_markdown_below_the_root_counts(notes: Path) -> None:
    found = watched_sources([default_source(str(notes))], follow_symlinks=True)
    assert folders_to_watch(found)[0] == Folder(str(notes), False)
    assert heard(found, str(notes / "docs" / "x.md"), is_folder=False)[1]
    assert not heard(found, str(notes / ".git" / "x.md"), is_folder=False)[1]


def test_with_links_a_pattern_of_folders_leaves_a_file_of_that_name_heard(notes: Path) -> None:
    write(notes, ".memcliignore", "x.md/\n")
    found = watched_sources([default_source(str(notes))], follow_symlinks=True)
    assert heard(found, str(notes / "x.md"), is_folder=False) == ("memory:x.md", True)
    assert heard(found, str(notes / "x.md"), is_folder=True) == (None, False)


def test_a_source_reached_through_a_link_is_heard_by_its_real_path(tmp_path: Path) -> None:
    write(tmp_path, "real/a.md", "# A\n")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    found = watched_sources(
        [Source("s", str(tmp_path / "link"), ("**/*.md",))], follow_symlinks=False
    )
    assert folders_to_watch(found) == (Folder(str(tmp_path / "real"), True),)
    assert heard(found, str(tmp_path / "real" / "a.md"), is_folder=False) == ("s:a.md", True)


def test_an_ignore_file_that_cannot_be_used_is_left_to_the_run(notes: Path) -> None:
    write(notes, ".memcliignore", b"\xff\xfe\x00bad")
    found = watched_sources([default_source(str(notes))], follow_symlinks=False)
    assert heard(found, str(notes / "memory" / "a.md"), is_folder=False)[1]


def test_stamps_tell_a_written_file_from_the_same_one(notes: Path) -> None:
    found = watched_sources([default_source(str(notes))], follow_symlinks=False)
    keys = ["memory:memory/2026/a.md", "memory:memory/gone.md"]
    before = stamps(found, keys)
    assert before["memory:memory/gone.md"] is None
    assert stamps(found, keys) == before
    write(notes, "memory/2026/a.md", "# A\n\nmore\n")
    assert stamps(found, keys) != before


def test_a_replaced_folder_has_another_identity(notes: Path) -> None:
    places = [str(notes / "memory")]
    before = identities(places, [])
    write(notes, "memory/b.md", "# B\n")
    assert identities(places, []) == before
    (notes / "memory").rename(notes / "old")
    (notes / "memory").mkdir()
    assert identities(places, []) != before


def test_folders_are_counted_as_the_system_watches_them(notes: Path) -> None:
    write(notes, "memory/2026/02/b.md", "# B\n")
    memory = Folder(str(notes / "memory"), True)
    assert count_folders([Folder(str(notes), False), memory]) == 4


def test_two_listings_are_compared_by_stat() -> None:
    def listing(*rows: tuple[str, int]) -> Mapping[tuple[str, str], FileStat]:
        return {("s", path): FileStat("s", path, size, 1, 1, 1) for path, size in rows}

    before = listing(("same", 1), ("changed", 1), ("gone", 1))
    after = listing(("same", 1), ("changed", 2), ("new", 1))
    assert changed_files(before, after) == ["s:changed", "s:gone", "s:new"]
