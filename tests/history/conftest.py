from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.history.repositories import begin, commit

DAYS = ("2026-02-01", "2026-02-10", "2026-03-01")
collect_ignore_glob = [] if shutil.which("git") else ["test_*.py"]


@pytest.fixture(autouse=True)
def _hashing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMCLI_EMBEDDING_ENCODER", "hashing")


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """Three commits: a fact, its correction, and a file that was renamed."""
    folder = begin(tmp_path / "notes")
    commit(folder, DAYS[0], {
        "MEMORY.md": "# Rules\n\nThe pool has 10 connections.\n",
        "memory/2026-02-01.md": "# Pool\n\nThe pool ran dry at noon.\n",
    })  # fmt: skip
    commit(folder, DAYS[1], {
        "MEMORY.md": "# Rules\n\nThe pool has 40 connections.\n",
        "memory/2026-02-10.md": "# Pool\n\nWe raised the pool to 40 connections.\n",
    })  # fmt: skip
    text = (folder / "memory/2026-02-01.md").read_text()
    commit(folder, DAYS[2], {"memory/2026-02-01.md": None, "memory/2026-02-01-pool.md": text})
    return folder
