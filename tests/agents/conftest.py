"""A home folder with a project in it, and a memcli that can be named in settings."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from memcli.cli.main import run
from tests.commands import Said

VARIABLES = ("OPENCLAW_STATE_DIR", "OPENCLAW_CONFIG_PATH", "COPILOT_HOME", "APPDATA")


class Site:
    """A home folder, its project, and what is typed there."""

    def __init__(self, home: Path, program: Path, type_line: Callable[[str], Said]) -> None:
        self.home, self.program, self.type = home, program, type_line
        self.project = home / "work" / "project"
        self.state = home / "config" / "memcli" / "agents.json"

    def write(self, path: str, text: str) -> Path:
        file = self.home / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode("utf-8"))
        return file

    def tree(self) -> dict[str, tuple[int, bytes]]:
        """Give every file of the home folder, its mode, and every folder but that of the state."""
        found = {}
        for path in sorted(self.home.rglob("*")):
            name = str(path.relative_to(self.home))
            if name.startswith(("work/project/.git", "config/memcli")):
                continue
            data = bytes(path.readlink()) if path.is_symlink() else b""
            if path.is_file() and not path.is_symlink():
                data = path.read_bytes()
            found[name] = (path.lstat().st_mode, data)
        return found


@pytest.fixture
def site(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Site:
    home = tmp_path / "home"
    project = home / "work" / "project"
    project.mkdir(parents=True)
    (home / "config").mkdir()
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    program = tmp_path / "bin" / "memcli"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "config"))
    monkeypatch.setenv("PATH", str(program.parent))
    monkeypatch.setattr(sys, "argv", [str(program)])
    monkeypatch.chdir(project)

    def type_line(line: str) -> Said:
        capfd.readouterr()
        code = run(line.split())
        said = capfd.readouterr()
        return Said(code, said.out, said.err)

    return Site(home, program, type_line)
