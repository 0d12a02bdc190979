from __future__ import annotations

import sys
from pathlib import Path

import pytest


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give an empty folder, in which models are looked for instead of the installed packages."""
    own = [str(tmp_path), *(folder for folder in sys.path if "site-packages" not in folder)]
    monkeypatch.setattr(sys, "path", own)
    return tmp_path
