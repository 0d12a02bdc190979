"""`memcli index --clean`: indexes of folders that are gone."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import apsw
import pytest

from memcli.store.lock import writer_lock
from tests.commands import printed
from tests.support import write


def clean(*options: str, code: int = 0) -> str:
    return printed("index", "--clean", *options, code=code)[0]


def folders() -> list[Path]:
    cache = Path(os.environ["XDG_CACHE_HOME"]) / "memcli"
    return sorted(index.parent for index in cache.glob("*/index.sqlite"))


def test_indexes_of_folders_that_are_gone_are_listed_and_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("kept", "gone", "old"):
        write(tmp_path / name, "MEMORY.md", "the pool\n")
        printed("index", "-w", str(tmp_path / name), "--encoder", "none", "-q")
    assert clean() == ""
    shutil.rmtree(tmp_path / "gone")
    for index in folders():
        connection = apsw.Connection(str(index / "index.sqlite"))
        connection.execute("DELETE FROM meta WHERE key = 'workspace' AND value LIKE '%old'")
        connection.close()
    listed = clean()
    assert f"of {tmp_path / 'gone'}\n" in listed
    assert len(listed.splitlines()) == 2
    status = ("status", "-w", str(tmp_path / "kept"))
    assert "2 indexes are of folders that are gone" in printed(*status)[0]
    assert "that are gone" not in printed(*status)[0]  # each is reported once
    found = {each["workspace"]: each for each in json.loads(clean("--json"))["indexes"]}
    assert found.keys() == {None, str(tmp_path / "gone")}
    assert len(folders()) == 3
    busy = str(Path(found[None]["path"]) / "index.sqlite")
    with writer_lock(busy, wait_seconds=0.0, sleep=lambda _: None):
        assert len(clean("--apply", code=5).splitlines()) == 1
    assert len(folders()) == 2
    clean("--apply")
    assert len(folders()) == 1
    printed("search", "pool", "-w", str(tmp_path / "kept"), "-q")
