"""The paths at which agents keep their files, by system, home folder and variables.

Paths have the form of that system, whichever system this runs on.
"""

from __future__ import annotations

import ntpath
import posixpath
from collections.abc import Callable, Mapping

from memcli.record import Record


class Machine(Record):
    """A machine as its user has it."""

    system: str  # as `sys.platform` has it
    home: str
    environ: Mapping[str, str]
    project: str  # the repository of the current folder; "" if there is none

    def join(self, *parts: str) -> str:
        """Join parts of a path."""
        return ntpath.join(*parts) if self.system == "win32" else posixpath.join(*parts)

    def below(self, folder: str, path: str) -> str:
        """Return a path, written with slashes, below a folder."""
        return self.join(folder, *path.split("/"))


class Base(Record):
    """A folder that an agent keeps its files in."""

    shown: str  # as people write it, on Linux
    folder: Callable[[Machine], str]


def _config(machine: Machine) -> str:
    named = machine.environ.get("XDG_CONFIG_HOME", "")
    # The specification says that a relative path is to be ignored.
    is_whole = ntpath.isabs(named) if machine.system == "win32" else posixpath.isabs(named)
    return named if is_whole else machine.join(machine.home, ".config")


def _app_data(machine: Machine) -> str:
    """Return the folder in which Electron keeps settings."""
    if machine.system == "win32":
        roaming = machine.environ.get("APPDATA")
        return roaming or machine.join(machine.home, "AppData", "Roaming")
    if machine.system == "darwin":
        return machine.join(machine.home, "Library", "Application Support")
    return _config(machine)


def _zed(machine: Machine) -> str:
    """Return the folder of Zed's settings, the same on macOS and Linux."""
    if machine.system == "win32":
        return machine.join(_app_data(machine), "Zed")
    config = machine.join(machine.home, ".config")
    return machine.join(config if machine.system == "darwin" else _config(machine), "zed")


def _named(variable: str, *otherwise: str) -> Callable[[Machine], str]:
    """Return the folder that a variable names, if there is one, else one in the home folder."""

    def folder(machine: Machine) -> str:
        return machine.environ.get(variable) or machine.join(machine.home, *otherwise)

    return folder


def _below(above: Callable[[Machine], str], *names: str) -> Callable[[Machine], str]:
    return lambda machine: machine.join(above(machine), *names)


HOME = Base("~", _named(""))
PROJECT = Base("", lambda machine: machine.project)
CLAUDE = Base("~/.claude", _named("CLAUDE_CONFIG_DIR", ".claude"))
CLAUDE_ABOVE = Base("~", _named("CLAUDE_CONFIG_DIR"))  # next to the folder, else in it
CODEX = Base("~/.codex", _named("CODEX_HOME", ".codex"))
GEMINI = Base("~/.gemini", _below(_named("GEMINI_CLI_HOME"), ".gemini"))
OPENCLAW = Base("~/.openclaw", _named("OPENCLAW_STATE_DIR", ".openclaw"))
OPENCLAW_WORKSPACE = Base("~/.openclaw/workspace", _below(OPENCLAW.folder, "workspace"))
CURSOR = Base("~/.cursor", _named("", ".cursor"))
VSCODE = Base("~/.config/Code/User", _below(_app_data, "Code", "User"))
CLAUDE_DESKTOP = Base("~/.config/Claude", _below(_app_data, "Claude"))
WINDSURF = Base("~/.codeium/windsurf", _named("", ".codeium", "windsurf"))
CLINE = Base("~/.cline", _named("", ".cline"))
COPILOT = Base("~/.copilot", _named("COPILOT_HOME", ".copilot"))
OPENCODE = Base("~/.config/opencode", _below(_config, "opencode"))
ZED = Base("~/.config/zed", _zed)
