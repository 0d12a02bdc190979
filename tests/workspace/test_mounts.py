from __future__ import annotations

import json
from pathlib import Path

import pytest

from memcli.types import Listing, Skip, Source
from memcli.workspace.discover import missing_mounts, mounts_as_json

NOTHING = Listing((), (), ())


def source(root: Path) -> Source:
    return Source("memory", str(root), ("**/*.md",))


def test_an_empty_folder_that_was_a_mount_point_is_missed(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "a.md").touch()
    seen = NOTHING._replace(mounts=tuple(("memory", name) for name in ("disk", "full", "gone")))
    found = missing_mounts([source(tmp_path)], NOTHING, mounts_as_json(seen, ()))
    assert found == [Skip("memory", "disk", "unreadable", "nothing is mounted there now")]
    assert missing_mounts([source(tmp_path)], seen, mounts_as_json(seen, ())) == []
    assert json.loads(mounts_as_json(NOTHING, found)) == [["memory", "disk"]]


@pytest.mark.parametrize(
    "planted",
    ["seven", "-7", "{}", "[1]", "[[1, 2]]", '[["memory"]]', '[["memory", "../away"]]', "[" * 9999,
     '[["memory", "a\\u0000b"]]', '[["memory", "/"]]', '"memory"', "null", '[{"memory": "away"}]'],
)  # fmt: skip
def test_whatever_else_stands_in_an_index_is_no_mount_point(tmp_path: Path, planted: str) -> None:
    (tmp_path / "ws").mkdir()
    (tmp_path / "away").mkdir()
    assert missing_mounts([source(tmp_path / "ws")], NOTHING, planted) == []


def test_mounts_of_a_source_that_is_gone_hide_no_others(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    seen = NOTHING._replace(mounts=(("docs", "away"), ("memory", "a"), ("memory", "disk")))
    again = NOTHING._replace(mounts=(("memory", "a"),))
    found = missing_mounts([source(tmp_path)], again, mounts_as_json(seen, ()))
    assert [skip.path for skip in found] == ["disk"]
