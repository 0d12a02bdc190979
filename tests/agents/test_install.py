"""An installation writes its entries, a second one nothing, and its end takes back just them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memcli.agents import state
from memcli.agents.places import Machine
from memcli.agents.plan import Planner, carry_out
from memcli.agents.state import State
from memcli.agents.table import BY_NAME, NAMES, PARTS, SCOPES, USER
from memcli.agents.texts import Launcher
from memcli.cli.program import page
from memcli.errors import BusyError, install_extra
from tests.agents.conftest import Site
from tests.agents.test_edits import TABLES, files

# What people have in their settings.
BEFORE = {
    ".claude.json": '{"numStartups": 7, "mcpServers": {"other": {"command": "x"}}, "é": "日本"}',
    ".claude/settings.json": '{\n  // mine\n  "hooks": {\n    "Stop": [],\n  },\n}\n',
    ".claude/CLAUDE.md": "# Rules\n\nKeep the pool full.",
    ".codex/config.toml": 'model = "o3" # mine\n\n[mcp_servers.other]\ncommand = "x"\n',
    ".gemini/settings.json": "{\r\n\t\"theme\": \"dark\", // mine\r\n}\r\n",
    ".openclaw/openclaw.json": "{mcp: {servers: {'o': {command: 'x'},}}, /* mine */}",
    ".openclaw/workspace/AGENTS.md": "# Agents\r\n",
    ".cursor/mcp.json": "",
    "config/Code/User/mcp.json": '{"servers": {}, "inputs": []}\n',
    "config/opencode/opencode.jsonc": '{\n    "theme": "x"\n    // the end\n}',
    "config/zed/settings.json": '// Zed settings\n{\n  "context_servers": {},\n}\n',
    "work/project/AGENTS.md": "\ufeff# Project\n",
    "work/project/.mcp.json": "{}",
}  # fmt: skip


def fill(site: Site) -> None:
    for path, text in BEFORE.items():
        file = site.write(path, text)
        file.chmod(0o600 if path.startswith(".claude") else 0o644)


def parts_of(name: str, scope: str) -> str:
    return ",".join(part for part in PARTS if BY_NAME[name].place(part, scope))


CASES = [(name, scope) for name in NAMES for scope in SCOPES if parts_of(name, scope)]


@pytest.mark.parametrize("is_filled", [True, False], ids=["filled", "empty"])
@pytest.mark.parametrize(("name", "scope"), CASES)
def test_what_is_installed_is_taken_back_to_the_byte(
    site: Site, name: str, scope: str, is_filled: bool
) -> None:
    if is_filled:
        fill(site)
    before = site.tree()
    line = f"agents install {name} --scope {scope} --with {parts_of(name, scope)}"
    shown = site.type(line)
    assert (shown.code, site.tree()) == (0, before)
    is_needed = scope == "project" or name in ("cursor", "vscode", "zed")
    in_project = f" --scope {scope}" if is_needed else ""
    assert shown.err.endswith(
        f"Nothing is written yet. To write it: memcli agents install {name}{in_project}"
        f" --with {parts_of(name, scope)} --apply\n"
    )
    done = site.type(f"{line} --apply")
    assert (done.code, done.out) == (0, shown.out)
    after = site.tree()
    assert after != before
    assert {path: mode for path, (mode, _) in before.items()}.items() <= {
        path: mode for path, (mode, _) in after.items()
    }.items()
    cells = site.type("agents --json").out
    [agent] = [each for each in json.loads(cells)["agents"] if each["name"] == name]
    states = {(w["part"], w["scope"]): w["state"] for w in agent["parts"]}
    assert {states[part, scope] for part in parts_of(name, scope).split(",")} == {"installed"}

    again = site.type(f"{line} --apply")
    assert (again.code, again.out, site.tree()) == (0, "", after)
    assert "everything is in place" in again.err
    gone = site.type(f"agents uninstall {name} --apply")
    assert (gone.code, site.tree()) == (0, before)
    assert not site.state.exists()


@pytest.mark.parametrize(
    ("name", "path", "entry"),
    [
        ("claude-code", ".claude.json", ("mcpServers", "stdio")),
        ("gemini", ".gemini/settings.json", ("mcpServers", "plain")),
        ("cursor", "work/project/.cursor/mcp.json", ("mcpServers", "in folder")),
        ("vscode", "work/project/.vscode/mcp.json", ("servers", "in folder")),
        ("opencode", "config/opencode/opencode.json", ("mcp", "list")),
        ("zed", "work/project/.zed/settings.json", ("context_servers", "plain")),
        ("cline", ".cline/data/settings/cline_mcp_settings.json", ("mcpServers", "patient")),
    ],
)
def test_a_server_is_written_as_the_agent_wants_it(
    site: Site, name: str, path: str, entry: tuple[str, str]
) -> None:
    assert site.type(f"agents install {name} --with mcp --apply").code == 0
    key, shape = entry
    program = str(site.program)
    plain = {"command": program, "args": ["mcp"]}
    wanted = {
        "plain": plain,
        "patient": {**plain, "timeout": 60},
        "stdio": {"type": "stdio", **plain},
        "in folder": {
            "type": "stdio",
            "command": program,
            "args": ["mcp", "-w", "${workspaceFolder}"],
        },
        "list": {"type": "local", "command": [program, "mcp"], "enabled": True},
    }[shape]
    assert json.loads((site.home / path).read_text()) == {key: {"memcli": wanted}}


def test_codex_and_openclaw_have_formats_of_their_own(site: Site) -> None:
    fill(site)
    assert site.type("agents install codex --apply").code == 0
    told = tomllib.loads((site.home / ".codex/config.toml").read_text())
    server = {"command": str(site.program), "args": ["mcp"]}
    assert told["mcp_servers"] == {"other": {"command": "x"}, "memcli": server}
    assert site.type("agents install openclaw --with mcp --apply").code == 0
    memory = str(site.home / ".openclaw" / "workspace")
    text = (site.home / ".openclaw/openclaw.json").read_text()
    assert f'"args": ["mcp", "-w", "{memory}"]' in text


def test_a_server_of_every_project_gets_the_folder_that_is_open(site: Site) -> None:
    for options in ("", f" -w {site.project}"):
        line = f"agents install vscode --scope user --with mcp{options}"
        preview = site.type(line)
        assert f"{line} --apply" in preview.out + preview.err
        assert site.type(f"{line} --apply").code == 0
        text = (site.home / "config/Code/User/mcp.json").read_text()
        folder = str(site.project) if options else "${workspaceFolder}"
        assert json.loads(text)["servers"]["memcli"]["args"] == ["mcp", "-w", folder]


def test_hooks_are_lines_of_a_shell_which_every_version_takes(site: Site) -> None:
    program = str(site.program)
    for name in ("claude-code", "codex", "gemini"):
        assert site.type(f"agents install {name} --with hooks --apply").code == 0
    claude = json.loads((site.home / ".claude/settings.json").read_text())["hooks"]
    assert [each[0]["hooks"][0] for each in claude.values()] == [
        {"type": "command", "command": f"{program} hook {event} --for claude-code", "timeout": 5}
        for event in ("session-start", "prompt", "pre-compact", "stop", "stop")
    ]
    codex = json.loads((site.home / ".codex/hooks.json").read_text())["hooks"]
    [ran] = codex["UserPromptSubmit"][0]["hooks"]
    assert ran == {"type": "command", "command": f"{program} hook prompt --for codex", "timeout": 5}
    gemini = json.loads((site.home / ".gemini/settings.json").read_text())["hooks"]
    assert [(event, each[0]["hooks"][0]["timeout"]) for event, each in gemini.items()] == [
        ("SessionStart", 5000), ("BeforeAgent", 5000), ("AfterAgent", 5000)
    ]  # fmt: skip


@pytest.mark.parametrize(("name", "scope"), CASES)
def test_the_topic_lists_each_file_that_is_touched(site: Site, name: str, scope: str) -> None:
    line = f"agents install {name} --scope {scope} --with {parts_of(name, scope)} --json"
    changes = json.loads(site.type(line).out)["changes"]
    folder = site.project if scope == "project" else site.home
    shown = page("agent-setup")
    for change in changes:
        path = str(Path(change["file"]).relative_to(folder)).removesuffix("SKILL.md")
        if scope == USER:
            path = f"~/{path}".replace("~/config/", "~/.config/")
        assert f"`{path}`" in shown


def test_without_a_word_it_is_tools_and_the_line_that_makes_an_agent_use_them(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = json.loads(site.type("agents install claude-code --json").out)
    assert shown["parts"] == ["mcp", "instructions"]
    monkeypatch.setitem(sys.modules, "mcp", None)
    said = site.type("agents install claude-code --json")
    assert json.loads(said.out)["parts"] == ["instructions"]
    assert "pip install 'mcp<3,>=2'" in said.err
    assert "memory_remember" not in site.type("agents install claude-code --write").out
    refused = site.type("agents install claude-code --with mcp")
    assert (refused.code, refused.out) == (2, "")
    assert refused.err == (
        "memcli: the MCP server needs the package mcp, which is not installed\n"
        f"Try: {install_extra('mcp')}\n"
    )
    alone = site.type("agents install cursor --scope user")  # it has nothing else there
    assert (alone.code, alone.out, alone.err) == (2, "", refused.err)


@pytest.mark.parametrize(
    ("line", "message", "hint"),
    [
        ("install", "missing argument 'AGENT'", "memcli agents install --help"),
        ("uninstall nobody", "there is no agent 'nobody'; there are claude-code,", "memcli agents"),
        ("install claude", "there is no agent 'claude'", "memcli agents install claude-code"),
        ("install zed --scope team", "--scope must be one of", "--scope user"),
        ("install zed --with hook", "--with must be one of", "--with hooks"),
        ("install zed --with ,", "--with must be one of", "--with "),
        (
            "install copilot --with hooks",
            "Copilot CLI has no hooks that memcli can install: it has mcp, skill, instructions",
            "memcli agents install copilot --with mcp,skill,instructions",
        ),
        (
            "install cursor --scope user --with instructions",
            "Cursor has no instructions that memcli can install in the scope user",
            "memcli agents install cursor --scope project --with instructions",
        ),
        (
            "install openclaw --scope project",
            "OpenClaw has no part that memcli can install in the scope project",
            "memcli agents install openclaw --scope user --with mcp,skill,instructions",
        ),
        ("install zed -w a -w b", "an agent gets one workspace", "-w a"),
        ("export zd", "there is no agent 'zd'", "memcli agents export zed\n"),
        ("export zed --to x", "memcli has no plugin for Zed", "memcli agents install zed\n"),
        (
            "export claude-code --to /dev/null/x",
            "cannot be written: Not a directory",
            "memcli agents export claude-code --to FOLDER\n",
        ),
        ("install zed -w nowhere", "there is no folder 'nowhere'", "ls "),
    ],
)
def test_what_cannot_be_meant_is_refused(site: Site, line: str, message: str, hint: str) -> None:
    said = site.type(f"agents {line}")
    assert (said.code, said.out) == (2 if "nowhere" not in line else 3, "")
    assert message in said.err
    assert f"Try: {hint}" in said.err
    assert not site.state.exists()


def test_a_home_folder_is_no_project(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(site.home)
    said = site.type("agents install zed --scope project")
    assert said.code == 2
    assert "whole home folder, not a project" in said.err
    assert json.loads(site.type("agents --json").out)["project"] == ""


def test_a_workspace_that_is_named_is_always_meant(site: Site) -> None:
    notes = site.home / "my notes"
    notes.mkdir()
    line = ["agents", "install", "codex", "--with", "mcp,hooks,instructions", "--apply"]
    from memcli.cli.main import run

    assert run([*line, "-w", str(notes)]) == 0
    told = tomllib.loads((site.home / ".codex/config.toml").read_text())
    assert told["mcp_servers"]["memcli"]["args"] == ["mcp", "-w", str(notes)]
    hooks = json.loads((site.home / ".codex/hooks.json").read_text())["hooks"]
    command = hooks["Stop"][0]["hooks"][0]["command"]
    assert command == f"{site.program} hook stop --for codex -w '{notes}'"
    assert f"-w '{notes}'" in (site.home / ".codex/AGENTS.md").read_text()


@pytest.mark.parametrize("is_filled", [True, False], ids=["filled", "empty"])
@pytest.mark.parametrize(
    ("name", "file"),
    [("claude-code", ".claude.json"), ("gemini", ".gemini/settings.json"),
     ("codex", ".codex/config.toml")],
)  # fmt: skip
def test_another_memcli_takes_the_place_of_one_that_moved(
    site: Site, name: str, file: str, is_filled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if is_filled:
        fill(site)
    before = site.tree()
    line = f"agents install {name} --with mcp,hooks,skill,instructions --apply"
    site.type(line)
    as_new = site.tree()
    moved = site.program.rename(site.program.with_name("memcli-2"))
    monkeypatch.setattr(sys, "argv", [str(moved)])
    listed = site.type("agents")
    assert "out of date (user)" in listed.out
    assert f"To repair it: memcli agents install {name} --apply" in listed.err
    assert site.type(f"agents install {name} --apply").code == 0  # a part of them
    assert f'"{moved}"' in (site.home / file).read_text()
    assert site.type(line).code == 0
    old, new = str(site.program).encode(), str(moved).encode()
    assert {p: (mode, data.replace(new, old)) for p, (mode, data) in site.tree().items()} == {
        p: (mode, data.replace(b"`memcli ", b"`" + old + b" "))
        for p, (mode, data) in as_new.items()
    }
    assert "stale" not in site.type("agents").out
    site.type(f"agents uninstall {name} --apply")
    assert site.tree() == before


def test_two_agents_share_a_file(site: Site) -> None:
    fill(site)
    before = site.tree()
    for name in ("codex", "zed"):
        line = f"agents install {name} --scope project --with skill,instructions --apply"
        assert site.type(line).code == 0
    both = site.tree()
    shown = site.type("agents uninstall codex")
    assert (shown.code, shown.out) == (0, "")
    assert "To write it: memcli agents uninstall codex --apply\n" in shown.err
    said = site.type("agents uninstall codex --apply")
    assert site.tree() == both
    assert f"{site.project}/AGENTS.md keeps its instructions for zed.\n" in said.err
    assert site.type("agents uninstall zed --apply").code == 0
    assert site.tree() == before


def test_files_that_are_one_by_a_link_are_written_once(site: Site) -> None:
    rules = site.project / "AGENTS.md"
    rules.write_text("# Rules\n")
    (site.project / "CLAUDE.md").symlink_to("AGENTS.md")
    before = site.tree()
    for name in ("claude-code", "codex"):
        line = f"agents install {name} --scope project --with instructions --apply"
        assert site.type(line).code == 0
    assert rules.read_text().count("memcli: begin") == 1
    for name in ("claude-code", "codex"):
        site.type(f"agents uninstall {name} --apply")
    assert site.tree() == before


def test_a_linked_dotfile_stays_a_link(site: Site) -> None:
    kept = site.write("dotfiles/claude/settings.json", '{"a": 1}\n')
    kept.chmod(0o640)
    (site.home / ".claude").mkdir()
    (site.home / ".claude" / "settings.json").symlink_to(kept)
    before = site.tree()
    assert site.type("agents install claude-code --with hooks --apply").code == 0
    assert (site.home / ".claude" / "settings.json").is_symlink()
    assert set(json.loads(kept.read_text())) == {"a", "hooks"}
    assert kept.stat().st_mode & 0o777 == 0o640
    site.type("agents uninstall claude-code --apply")
    assert site.tree() == before


def spoil(site: Site, how: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Make a settings.json that cannot be edited, and say why as memcli does."""
    file = site.write(".claude/settings.json", '{"a": 1}\n')
    if how == "unparsable":
        file.write_text('{"a": 1\n  "b": 2}\n')
        return "is not JSON at line 2"
    if how == "binary":
        file.write_bytes(b'{"a": "\xff"}')
        return "is not UTF-8"
    if how == "foreign":
        owner = file.stat().st_uid + 1
        monkeypatch.setattr(os, "geteuid", lambda: owner)
        return "belongs to another user"
    if how == "read-only":
        file.chmod(0o444)
        return "is read-only"
    if how == "hard link":
        os.link(file, file.with_name("other"))
        return "has other names (hard links), which would not follow"
    if how == "edited":
        site.type("agents install claude-code --with hooks --apply")
        file.write_text(file.read_text().replace('"timeout": 5', '"timeout": 9'))
        return "was edited since memcli wrote it"
    file.unlink()
    if how == "pipe":
        os.mkfifo(file)
        return "is a FIFO, no file"
    if how == "folder":
        file.mkdir()
        return "is a folder, no file"
    outside = site.home.parent / "outside.json"
    file.symlink_to(outside)
    if how == "away":
        return f"is a link that leads to {outside}, out of {site.home} and {file.parent}"
    file.unlink()
    file.symlink_to(site.home / "nowhere.json")
    return f"is a link to {site.home}/nowhere.json, which is not there"


@pytest.mark.parametrize(
    "how",
    ["unparsable", "binary", "foreign", "read-only", "hard link", "edited", "pipe", "folder",
     "away", "dangling"],
)  # fmt: skip
def test_what_cannot_be_edited_is_refused_untouched(
    site: Site, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    why = spoil(site, how, monkeypatch)
    before = site.tree()
    line = "agents install claude-code --with mcp,hooks"
    said = site.type(f"{line} --apply")
    assert (said.code, site.tree()) == (2, before)
    path = site.home / ".claude" / "settings.json"
    told = f"{path} (hooks) {why}"
    if how == "foreign":  # as is all else
        mcp = f"{site.home}/.claude.json (mcp) cannot be made: {site.home} {why}"
        told = f"{mcp}; {told}"
    assert said.err.split("\n")[0] == f"memcli: {told}; nothing was written"
    assert f"{path} (hooks) {why}:\n    {{\n" in said.out
    assert '    "UserPromptSubmit": [' in said.out
    if how != "foreign":
        rest = "memcli agents install claude-code --with mcp"
        assert (
            said.err.split("\n")[1]
            == f"Try: paste what is shown above into it; or the rest: {rest}"
        )
        assert site.type(f"{rest.removeprefix('memcli ')} --apply").code == 0


def test_a_clone_leads_nowhere(site: Site) -> None:
    """A repository may hold links; one to the user's own settings is not followed."""
    mine = site.write(".bashrc", "# mine\n")
    (site.project / "AGENTS.md").symlink_to(mine)
    (site.project / ".codex").symlink_to(site.home / "dotfiles")
    said = site.type("agents install codex --scope project --apply")
    assert said.code == 2
    assert mine.read_text() == "# mine\n"
    assert f"is a link that leads to {mine}, out of {site.project}" in said.err
    assert f"is a link that leads to {site.home}/dotfiles/config.toml" in said.err


def test_what_was_edited_inside_is_left_and_named(site: Site) -> None:
    fill(site)
    site.type("agents install claude-code --with mcp,instructions --apply")
    rules = site.home / ".claude" / "CLAUDE.md"
    rules.write_text(rules.read_text().replace("search the memory", "look it up"))
    edited = rules.read_text()
    said = site.type("agents uninstall claude-code --apply")
    assert said.code == 1
    assert (
        f"{rules} (instructions) was edited since memcli wrote it; it is left as it is.\n"
        in said.err
    )
    assert rules.read_text() == edited
    assert (site.home / ".claude.json").read_text() == BEFORE[".claude.json"]
    assert "edited (user)" in site.type("agents").out
    rules.write_text(BEFORE[".claude/CLAUDE.md"])
    assert site.type("agents uninstall claude-code --apply").code == 0
    assert not site.state.exists()


def test_edits_around_what_was_written_stay(site: Site) -> None:
    fill(site)
    site.type("agents install claude-code --with mcp,hooks,instructions --apply")
    servers = site.home / ".claude.json"
    told = json.loads(servers.read_text())
    told["numStartups"], told["mcpServers"]["more"] = 8, {"command": "y"}
    servers.write_text(json.dumps(told, indent=3))
    rules = site.home / ".claude" / "CLAUDE.md"
    rules.write_text(rules.read_text() + "\nMore.\n")
    assert site.type("agents uninstall claude-code --apply").code == 0
    del told["mcpServers"]["memcli"]
    assert json.loads(servers.read_text()) == told
    assert rules.read_text() == BEFORE[".claude/CLAUDE.md"] + "\n\n\nMore.\n"


def test_what_is_there_by_hand_is_left_to_whoever_put_it(site: Site) -> None:
    mine = '{"mcpServers": {"memory": {"command": "memcli", "args": ["mcp"]}}}'
    servers = site.write(".claude.json", mine)
    rules = site.write(".claude/CLAUDE.md", 'Run memcli search "QUESTION" first.\n')
    said = site.type("agents install claude-code --apply")
    assert (said.code, said.out) == (0, "")
    assert f"{servers} has mcpServers.memory already, by hand; it is left as it is.\n" in said.err
    assert f'{rules} has "memcli search" already, by hand; it is left as it is.\n' in said.err
    assert site.type("agents uninstall claude-code --apply").code == 0
    assert servers.read_text() == mine


def test_what_came_with_a_clone_is_left_to_who_committed_it(site: Site) -> None:
    line = "agents install codex --scope project --with mcp,hooks,skill,instructions --apply"
    assert site.type(line).code == 0
    site.state.unlink()  # which is another person's
    before = site.tree()
    said = site.type(line)
    assert (said.code, said.out, site.tree()) == (0, "", before)
    assert f"{site.project}/AGENTS.md has a block of memcli already, by hand;" in said.err
    assert "memcli/SKILL.md has a skill of this name already, by hand;" in said.err
    [agent] = [
        a for a in json.loads(site.type("agents --json").out)["agents"] if a["name"] == "codex"
    ]
    assert {w["state"] for w in agent["parts"] if w["scope"] == "project"} == {"by hand"}


def test_the_difference_is_coloured_and_shows_no_secret_of_others(site: Site) -> None:
    site.write(
        ".claude.json",
        '{\n  "mcpServers": {\n    "other": {\n      "env": {"KEY": "sk-1"},\n      "a": 1\n'
        '    }\n  },\n  "oauth": "sk-2",\n  "x": 1\n}\n',
    )
    said = site.type("agents install claude-code --with mcp --color always")
    assert '\x1b[32m+    "memcli": {\x1b[0m\n' in said.out
    assert "sk-" not in said.out


def test_a_file_of_one_line_is_not_shown_whole(site: Site) -> None:
    hooks = {"Stop": [{"hooks": [{"type": "command", "command": "x" * 5000}]}]}
    site.write(".claude/settings.json", json.dumps({"key": "sk-1", "hooks": hooks, "y": "z" * 99}))
    said = site.type("agents install claude-code --with hooks")
    [before, after] = said.out.splitlines()[3:]
    assert len(before) < 200
    for event in ("session-start", "prompt", "pre-compact", "stop"):
        assert f"memcli hook {event}" in after
    assert "x" * 50 not in before + after
    assert "sk-1" not in after


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[]", "is not as memcli writes it"),
        ('{"version": 1, "entries": [{"path": 5}], "files": []}', "is not as memcli writes it"),
        ('{"version": 9}', "cannot be read: its version is 9"),
        ("{", "cannot be read: Expecting property name"),
    ],
)
def test_a_state_that_cannot_be_read_is_named_and_kept(site: Site, text: str, why: str) -> None:
    site.state.parent.mkdir(parents=True)
    site.state.write_text(text)
    for line in ("agents", "agents install zed --apply", "agents uninstall zed"):
        said = site.type(line)
        assert (said.code, said.out) == (2, "")
        assert f"{site.state}, the record of what was written for agents, {why}" in said.err
    assert site.state.read_text() == text


def test_one_memcli_at_a_time(site: Site) -> None:
    with state.locked(str(site.state)):
        said = site.type("agents install zed --apply")
        assert said.code == 5
        assert site.type("agents install zed").code == 0
    assert site.type("agents install zed --apply").code == 0


def test_a_file_that_changes_meanwhile_is_not_overwritten(site: Site) -> None:
    fill(site)
    machine = Machine("linux", str(site.home), os.environ, str(site.project))
    agent = BY_NAME["claude-code"]
    place = agent.place("mcp", USER)
    assert place
    launcher = Launcher((str(site.program),), "memcli")
    plan = Planner(machine, State()).install(agent, [place], launcher)
    file = site.write(".claude.json", '{"numStartups": 8}')
    with pytest.raises(BusyError, match="was changed by another program just now"):
        carry_out(plan, State(), str(site.state))
    assert file.read_text() == '{"numStartups": 8}'
    assert not list(site.home.glob(".memcli-new-*"))
    assert site.type("agents install claude-code --apply").code == 0


def test_a_project_that_is_gone_needs_nothing_taken_out(site: Site) -> None:
    site.type("agents install zed --scope project --apply")
    for path in sorted(site.project.rglob("*"), reverse=True):
        if ".git" not in path.parts:
            path.rmdir() if path.is_dir() else path.unlink()
    said = site.type("agents uninstall zed --apply")
    assert said.code == 0
    assert not site.state.exists()


@pytest.mark.nightly  # a few settings are taken back to the byte every time, above
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    settings_text=files(),
    toml=st.lists(TABLES, max_size=5, unique=True).map("\n".join),
    rules=st.text(alphabet="ab \n\r#`é", max_size=30),
)
def test_random_settings_come_back_to_the_byte(
    site: Site, settings_text: str, toml: str, rules: str
) -> None:
    site.write(".claude.json", settings_text)
    site.write(".claude/settings.json", settings_text)
    site.write(".claude/CLAUDE.md", rules)
    site.write(".codex/config.toml", toml)
    site.write(".codex/hooks.json", settings_text)
    before = site.tree()
    for name in ("claude-code", "codex"):
        for part in PARTS:  # a file that is refused is left, the others go on
            site.type(f"agents install {name} --with {part} --apply")
    for name in ("codex", "claude-code"):
        assert site.type(f"agents uninstall {name} --apply").code == 0
    assert site.tree() == before


def test_what_is_written_starts_the_server_with_a_path_of_its_own(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["-c"])  # as without a console script
    assert site.type("agents install cursor --scope user --with mcp --apply").code == 0
    told = json.loads((site.home / ".cursor/mcp.json").read_text())["mcpServers"]["memcli"]
    client = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "a", "version": "1"},
    }
    request = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client}
    done = subprocess.run(
        [told["command"], *told["args"]],
        input=json.dumps(request) + "\n",
        env={"HOME": str(site.home), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "memory" in json.loads(done.stdout)["result"]["instructions"].lower()


def test_a_folder_of_notes_is_searched_in_every_project(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = site.home / "notes"
    notes.mkdir()
    monkeypatch.chdir(notes)
    per_project = site.type("agents install claude-code")
    assert '"args": ["mcp"]' in per_project.out
    assert "will search the notes of each project; -w FOLDER" in per_project.err
    (notes / "MEMORY.md").write_text("The pool.\n")
    preview = site.type("agents install claude-code")
    assert f'"args": ["mcp", "-w", "{notes}"]' in preview.out
    assert f"Claude Code will search {notes}.\n" in preview.err
    memory = str(site.home / ".openclaw/workspace")
    assert f'"-w", "{memory}"' in site.type("agents install openclaw --with mcp").out
    written = site.type("agents install claude-code --apply")
    assert f"Claude Code will search {notes}.\n" in written.err
    for folder in (notes / "deeper", site.home):  # the mark is above, or of a whole home folder
        (folder / "memory" if folder == site.home else folder).mkdir()
        monkeypatch.chdir(folder)
        assert '"args": ["mcp"]' in site.type("agents install gemini --scope user").out
    monkeypatch.chdir(notes)
    (site.project / ".git").rename(notes / ".git")
    assert '"args": ["mcp"]' in site.type("agents install gemini --scope user").out
