from __future__ import annotations

import os
from pathlib import Path

import pytest

from memcli.errors import ExitCode, NotFoundError
from memcli.workspace.locate import default_source, locate

from .tree import make, paths, walk


@pytest.mark.parametrize("mark", ["memcli.toml", "MEMORY.md", "memory/a.md"])
def test_nearest_marked_ancestor(tmp_path: Path, mark: str) -> None:
    make(tmp_path, "MEMORY.md")
    make(tmp_path / "in", mark, "x/y/z.txt")
    assert locate(None, None, str(tmp_path / "in/x/y")) == os.path.realpath(tmp_path / "in")
    assert locate(None, "", str(tmp_path / "in")) == os.path.realpath(tmp_path / "in")


def test_a_mark_of_the_wrong_type_is_none(tmp_path: Path) -> None:
    make(tmp_path, "MEMORY.md")
    make(tmp_path / "in", "memory")
    (tmp_path / "in/MEMORY.md").mkdir()
    assert locate(None, None, str(tmp_path / "in")) == os.path.realpath(tmp_path)


def test_named_wins_over_environment_over_ancestor(tmp_path: Path) -> None:
    make(tmp_path, "MEMORY.md", "plain/a.txt", "env/b.txt")
    here = str(tmp_path)
    assert locate("plain", str(tmp_path / "env"), here) == os.path.realpath(tmp_path / "plain")
    assert locate(None, str(tmp_path / "env"), here) == os.path.realpath(tmp_path / "env")
    assert locate(str(tmp_path / "env"), None, "/") == os.path.realpath(tmp_path / "env")


def test_real_path(tmp_path: Path) -> None:
    make(tmp_path / "real", "MEMORY.md")
    (tmp_path / "link").symlink_to("real")
    assert locate(str(tmp_path / "link"), None, "/") == os.path.realpath(tmp_path / "real")


def test_nothing_above(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError) as caught:
        locate(None, None, str(tmp_path))
    assert str(tmp_path) in caught.value.message
    assert caught.value.hint == "name the folder with -w FOLDER, or make one: mkdir memory"
    assert caught.value.exit_code == ExitCode.NOT_FOUND


@pytest.mark.parametrize("name", ["gone", "", "a\0b"])
def test_named_folder_is_missing(tmp_path: Path, name: str) -> None:
    make(tmp_path, "MEMORY.md")
    with pytest.raises(NotFoundError, match="there is no folder") as caught:
        locate(name, None, str(tmp_path))
    assert caught.value.hint


def test_named_file(tmp_path: Path) -> None:
    make(tmp_path, "MEMORY.md")
    with pytest.raises(NotFoundError, match=r"-w: MEMORY\.md is a file") as caught:
        locate("MEMORY.md", None, str(tmp_path))
    assert caught.value.hint == f"memcli status -w {tmp_path}"
    with pytest.raises(NotFoundError, match=r"MEMCLI_WORKSPACE: .* is a file"):
        locate(None, str(tmp_path / "MEMORY.md"), "/")


def test_default_source_of_a_memory_workspace(tmp_path: Path) -> None:
    make(tmp_path, "MEMORY.md", "USER.md", "README.md", "memory/a.md", "memory/b/c.markdown")
    make(tmp_path, "memory/d.txt", "docs/MEMORY.md", "AGENTS.md")
    include = default_source(str(tmp_path)).include
    assert include == ("MEMORY.md", "USER.md", "memory/**/*.md", "memory/**/*.markdown")
    assert paths(walk(tmp_path, *include)) == [
        "MEMORY.md",
        "USER.md",
        "memory/a.md",
        "memory/b/c.markdown",
    ]
    more = default_source(str(tmp_path), ["AGENTS.md"], ["memory/b/**"], ["memory/a.md"])
    assert paths(walk(tmp_path, *more.include, exclude=more.exclude)) == [
        "AGENTS.md",
        "MEMORY.md",
        "USER.md",
        "memory/a.md",
    ]
    assert more.evergreen == ("memory/a.md",)
    assert more.name == "memory"
    assert more.root == str(tmp_path)


def test_default_source_of_any_folder(tmp_path: Path) -> None:
    make(tmp_path, "a.md", "b/c/d.md", "b/e.markdown", "f.txt")
    include = default_source(str(tmp_path)).include
    assert paths(walk(tmp_path, *include)) == ["a.md", "b/c/d.md", "b/e.markdown"]
