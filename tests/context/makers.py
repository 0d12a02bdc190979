"""Makers of workspaces and contexts for the tests of context."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.commands import say

NOW = "2026-02-20"


def put(root: Path, files: Mapping[str, str]) -> Path:
    for path, text in files.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    return root


def context(root: Path, *arguments: str, now: str = NOW) -> tuple[int, str, str]:
    return say("context", *arguments, "-w", str(root), "--now", now)


def record(root: Path, *arguments: str, now: str = NOW) -> dict[str, Any]:
    code, out, err = context(root, *arguments, "--json", "--explain", now=now)
    assert code == 0, err
    found = json.loads(out)
    assert isinstance(found, dict)
    return found
