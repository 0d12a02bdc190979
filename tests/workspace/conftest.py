from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def open_tmp() -> Iterator[Path]:
    """A folder whose parents another user may enter, unlike tmp_path's."""
    base = Path(tempfile.mkdtemp())
    base.chmod(0o755)
    root = base / "ws"
    root.mkdir()
    yield root
    root.chmod(0o755)
    for folder in root.iterdir():
        if folder.is_dir():
            folder.chmod(0o755)
    shutil.rmtree(base)
