"""What a name means from the folder where somebody stands."""

from __future__ import annotations

import os
from pathlib import Path

from memcli.workspace.locate import named
from memcli.workspace.names import documents_at, globs_of


def test_a_name_is_a_document_of_each_source_it_lies_below(tmp_path: Path) -> None:
    root = os.path.realpath(tmp_path)
    roots = {"memory": root, "docs": f"{root}/docs", "far": "/far"}
    assert documents_at(f"{root}/docs", "a.md", roots) == [
        ("memory", "docs/a.md"),
        ("docs", "a.md"),
    ]
    assert documents_at(f"{root}/docs", "../a.md", roots) == [("memory", "a.md")]
    assert documents_at(root, "/far/b/c.md", roots) == [("far", "b/c.md")]
    assert documents_at(root, "/farther/c.md", roots) == []


def test_without_a_folder_only_a_whole_path_means_a_document() -> None:
    assert documents_at(None, "a.md", {"memory": "/"}) == []
    assert documents_at(None, "/far/a.md", {"memory": "/far"}) == [("memory", "a.md")]
    assert documents_at(None, "/far/a\0.md", {"memory": "/far"}) == []
    assert documents_at("/far", "a\0.md", {"memory": "/far"}) == []


def test_a_name_stands_for_files_and_for_all_below_a_folder() -> None:
    roots = {"memory": "/far", "docs": "/far/docs"}
    assert globs_of(["log/"], None, roots) == ("log", "log/")
    assert globs_of(["docs"], None, roots) == ("docs", "docs/", "docs:*")
    assert globs_of(["."], None, roots) == (".", "*")
    assert globs_of(["./log"], "/far", roots) == ("memory:log", "memory:log/*")
    assert globs_of(["log"], "/far", roots) == ("log", "log/", "memory:log", "memory:log/*")


def test_globs_that_take_some_back_name_nothing() -> None:
    assert named(["a.md", "!b.md", "c/**"]) == ("a.md", "c/**")
