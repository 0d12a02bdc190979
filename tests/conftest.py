from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import settings

from tests.hashing import register

register()
# How long an example takes tells of the machine, not of the code.
settings.register_profile("memcli", deadline=None)
settings.register_profile("long", max_examples=4000, deadline=None)
settings.load_profile("memcli")

FIXTURES = Path(__file__).parents[1] / "fixtures" / "workspaces"


@pytest.fixture(autouse=True)
def _no_real_home(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing reads or writes the real home folder, nor the caller's MEMCLI_* variables."""
    home = tmp_path_factory.mktemp("home")
    for name in [name for name in os.environ if name.startswith("MEMCLI_")]:
        monkeypatch.delenv(name)
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "config"))


@pytest.fixture(scope="session")
def workspaces(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of all fixture workspaces; tests that write copy one once more."""
    return Path(shutil.copytree(FIXTURES, tmp_path_factory.mktemp("fixtures") / "workspaces"))
