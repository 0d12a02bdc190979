"""`memcli index --clean`: indexes of folders that are gone."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import apsw
import pytest

from memcli.cli.main import run
from memcli.store.lock import writer_lock
from tests.support import write


def clean(capsys: pytest.CaptureFixture[str], *options: str, code: int = 0) -> str:
    capsys.readouterr()
    assert run(["index", "--clean", *options]) == code
    return capsys.readouterr().out


def folders() -> list[Path]:
    cache = Path(os.environ["XDG_CACHE_HOME"]) / "memcli"
    return sorted(index.parent for index in cache.glob("*/index.sqlite"))


def test_indexes_of_folders_that_are_gone_are_listed_and_deleted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("kept", "gone", "old"):
        write(tmp_path / name, "MEMORY.md", "the pool\n")
        assert run(["index", "-w", str(tmp_path / name), "--encoder", "none", "-q"]) == 0
    assert clean(capsys) == ""
    shutil.rmtree(tmp_path / "gone")
    for index in folders():
        connection = apsw.Connection(str(index / "index.sqlite"))
        connection.execute("DELETE FROM meta WHERE key = 'workspace' AND value LIKE '%old'")
        connection.close()
    listed = clean(capsys)
    assert f"of {tmp_path / 'gone'}\n" in listed
    assert len(listed.splitlines()) == 2
    assert run(["status", "-w", str(tmp_path / "kept")]) == 0
    assert "2 indexes are of folders that are gone" in capsys.readouterr().out
    assert run(["status", "-w", str(tmp_path / "kept")]) == 0  # each is reported once
    assert "that are gone" not in capsys.readouterr().out
    found = {each["workspace"]: each for each in json.loads(clean(capsys, "--json"))["indexes"]}
    assert found.keys() == {None, str(tmp_path / "gone")}
    assert len(folders()) == 3
    busy = str(Path(found[None]["path"]) / "index.sqlite")
    with writer_lock(busy, wait_seconds=0.0, sleep=lambda _: None):
        assert len(clean(capsys, "--apply", code=5).splitlines()) == 1
    assert len(folders()) == 2
    clean(capsys, "--apply")
    assert len(folders()) == 1
    assert run(["search", "pool", "-w", str(tmp_path / "kept"), "-q"]) == 0


def test_apply_needs_clean(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["index", "--apply"]) == 2
    assert "memcli index --clean" in capsys.readouterr().err
