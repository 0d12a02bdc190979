"""Where agents keep their settings on Linux, macOS and Windows, and where variables put them."""

from __future__ import annotations

import pytest

from memcli.agents.places import Machine
from memcli.agents.table import BY_NAME, HOOKS, INSTRUCTIONS, MCP, PROJECT, SKILL, USER

LINUX = Machine("linux", "/home/kim", {}, "/srv/project")
MACOS = Machine("darwin", "/Users/kim", {}, "/Users/kim/project")
ROAMING = {"APPDATA": r"C:\Users\kim\AppData\Roaming"}
WINDOWS = Machine("win32", r"C:\Users\kim", ROAMING, r"D:\project")


def _file(machine: Machine, name: str, part: str, scope: str = USER) -> str:
    place = BY_NAME[name].place(part, scope)
    assert place
    return place.file(machine, lambda path: False)


@pytest.mark.parametrize(
    ("machine", "name", "part", "path"),
    [
        (LINUX, "claude-code", MCP, "/home/kim/.claude.json"),
        (LINUX, "claude-code", HOOKS, "/home/kim/.claude/settings.json"),
        (LINUX, "codex", SKILL, "/home/kim/.agents/skills/memcli/SKILL.md"),
        (LINUX, "vscode", MCP, "/home/kim/.config/Code/User/mcp.json"),
        (LINUX, "zed", MCP, "/home/kim/.config/zed/settings.json"),
        (LINUX, "openclaw", INSTRUCTIONS, "/home/kim/.openclaw/workspace/AGENTS.md"),
        (MACOS, "claude-code", MCP, "/Users/kim/.claude.json"),
        (MACOS, "vscode", MCP, "/Users/kim/Library/Application Support/Code/User/mcp.json"),
        (MACOS, "zed", MCP, "/Users/kim/.config/zed/settings.json"),
        (MACOS, "opencode", MCP, "/Users/kim/.config/opencode/opencode.json"),
        (WINDOWS, "claude-code", INSTRUCTIONS, r"C:\Users\kim\.claude\CLAUDE.md"),
        (WINDOWS, "codex", MCP, r"C:\Users\kim\.codex\config.toml"),
        (WINDOWS, "vscode", MCP, r"C:\Users\kim\AppData\Roaming\Code\User\mcp.json"),
        (WINDOWS, "zed", INSTRUCTIONS, r"C:\Users\kim\AppData\Roaming\Zed\AGENTS.md"),
        (WINDOWS, "opencode", MCP, r"C:\Users\kim\.config\opencode\opencode.json"),
        (WINDOWS._replace(environ={}), "zed", MCP,
         r"C:\Users\kim\AppData\Roaming\Zed\settings.json"),
    ],
    ids=str,
)  # fmt: skip
def test_a_file_lies_where_the_agent_looks(
    machine: Machine, name: str, part: str, path: str
) -> None:
    assert _file(machine, name, part) == path


@pytest.mark.parametrize(
    ("variable", "name", "part", "path"),
    [
        ("CLAUDE_CONFIG_DIR", "claude-code", MCP, "/x/.claude.json"),
        ("CLAUDE_CONFIG_DIR", "claude-code", SKILL, "/x/skills/memcli/SKILL.md"),
        ("CODEX_HOME", "codex", MCP, "/x/config.toml"),
        ("GEMINI_CLI_HOME", "gemini", MCP, "/x/.gemini/settings.json"),
        ("OPENCLAW_STATE_DIR", "openclaw", MCP, "/x/openclaw.json"),
        ("OPENCLAW_CONFIG_PATH", "openclaw", MCP, "/x"),
        ("COPILOT_HOME", "vscode", SKILL, "/x/skills/memcli/SKILL.md"),
        ("XDG_CONFIG_HOME", "vscode", MCP, "/x/Code/User/mcp.json"),
        ("XDG_CONFIG_HOME", "zed", MCP, "/x/zed/settings.json"),
        ("XDG_CONFIG_HOME", "opencode", INSTRUCTIONS, "/x/opencode/AGENTS.md"),
    ],
)
def test_a_variable_moves_it(variable: str, name: str, part: str, path: str) -> None:
    assert _file(LINUX._replace(environ={variable: "/x"}), name, part) == path
    assert _file(LINUX._replace(environ={variable: ""}), name, part) == _file(LINUX, name, part)
    if variable == "XDG_CONFIG_HOME":  # its specification says to ignore relative paths
        relative = LINUX._replace(environ={variable: "x/y"})
        assert _file(relative, name, part) == _file(LINUX, name, part)


@pytest.mark.parametrize(("machine", "path"), [
    (LINUX, "/srv/project/.claude/settings.json"),
    (WINDOWS, r"D:\project\.claude\settings.json"),
])  # fmt: skip
def test_a_project_has_its_own(machine: Machine, path: str) -> None:
    assert _file(machine, "claude-code", HOOKS, PROJECT) == path


def test_a_file_of_another_name_goes_before_where_it_exists() -> None:
    place = BY_NAME["opencode"].place(MCP, PROJECT)
    assert place
    there = {"/srv/project/opencode.jsonc"}
    assert place.file(LINUX, there.__contains__) == "/srv/project/opencode.jsonc"
    assert place.file(LINUX, lambda path: False) == "/srv/project/opencode.json"
