"""Makers of workspaces and contexts for the tests of context."""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from memcli.cli.main import run

NOW = "2026-02-20"


def put(root: Path, files: Mapping[str, str]) -> Path:
    for path, text in files.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    return root


def context(root: Path, *arguments: str, now: str = NOW) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(["context", *arguments, "-w", str(root), "--now", now])
    return code, out.getvalue(), err.getvalue()


def record(root: Path, *arguments: str, now: str = NOW) -> dict[str, Any]:
    code, out, err = context(root, *arguments, "--json", now=now)
    assert code == 0, err
    found = json.loads(out)
    assert isinstance(found, dict)
    return found
