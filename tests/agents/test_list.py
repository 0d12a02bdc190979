"""`memcli agents` lists agents, their notes, and the installed parts in every state."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

import memcli
from memcli.agents.detect import STATES
from memcli.agents.table import AGENTS, NAMES
from memcli.workspace.agent_memories import BY_NAME
from tests.agents.conftest import Site
from tests.commands import checked

SCHEMAS = Path(memcli.__file__).parent / "schemas"


def _row(site: Site, name: str) -> list[str]:
    shown = site.type("agents").out
    [row] = [line for line in shown.splitlines() if line.startswith(name)]
    return re.split(r"  +", row)[1:]


def test_an_agent_is_here_by_its_folder_or_its_program(site: Site) -> None:
    (site.home / ".codex").mkdir()
    program = site.program.with_name("zeditor")
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    said = site.type("agents")
    assert {line.split()[0] for line in said.out.splitlines() if line.split()[1] == "yes"} == {
        "codex", "zed"
    }  # fmt: skip
    assert said.err == "To install memcli into one: memcli agents install codex\n"


def test_a_folder_that_only_memcli_has_filled_is_no_agent(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.type("agents install claude-code --with instructions --apply")
    here = {line.split()[0]: line.split()[1] for line in site.type("agents").out.splitlines()}
    assert (here["claude-code"], (site.home / ".claude" / "CLAUDE.md").exists()) == ("no", True)
    link = site.home.with_name("linked")
    link.symlink_to(site.home)
    with monkeypatch.context() as linked:
        linked.setenv("HOME", str(link))
        assert "claude-code     no" in site.type("agents").out
    (site.home / ".claude" / "settings.json").write_text("{}")
    assert "claude-code     yes" in site.type("agents").out


def test_the_memory_of_an_agent_is_the_one_that_search_finds(site: Site) -> None:
    (site.home / ".codex" / "memories").mkdir(parents=True)
    slug = re.sub(r"[^A-Za-z0-9]", "-", str(site.project.resolve()))
    memory = site.home / ".claude" / "projects" / slug / "memory"
    memory.mkdir(parents=True)
    record = json.loads(site.type("agents list --json").out)
    found = {each["name"]: each["memory"] for each in record["agents"] if each["memory"]}
    assert found == {
        "claude-code": [{"name": "claude-code", "path": str(memory)}],
        "codex": [{"name": "codex", "path": str(site.home / ".codex" / "memories")}],
    }
    assert {agent.agent_memory for agent in AGENTS} - {""} <= set(BY_NAME)


def test_every_state_of_a_part(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = set()

    def state(part: str) -> str:
        record = checked("memcli.agents", site.type("agents --json").out)
        [agent] = [each for each in record["agents"] if each["name"] == "claude-code"]
        [found] = [w for w in agent["parts"] if (w["part"], w["scope"]) == (part, "user")]
        seen.add(found["state"])
        return str(found["state"])

    servers, rules = site.home / ".claude.json", site.home / ".claude" / "CLAUDE.md"
    assert state("mcp") == "no"
    site.type("agents install claude-code --with mcp,hooks,instructions --apply")
    assert _row(site, "claude-code") == ["no", "no", "user", "user", "no", "user"]
    assert (state("mcp"), state("hooks"), state("instructions")) == ("installed",) * 3

    text = servers.read_text()
    servers.write_text("{")
    assert state("mcp") == "unreadable"
    assert f"{servers} is not JSON at line 1\n" in site.type("agents").err
    servers.write_text(text.replace('"mcp"\n', '"mcp", "-v"\n').replace('["mcp"]', '["mcp", "-v"]'))
    assert state("mcp") == "edited"
    assert f"{servers} (mcp of Claude Code) was edited since" in site.type("agents").err
    servers.unlink()
    assert state("mcp") == "gone"
    assert "(mcp of Claude Code) is gone since memcli wrote it" in site.type("agents").err
    rules.write_text("Ask memcli search first.\n")
    assert state("instructions") == "gone"

    moved = site.program.rename(site.program.with_name("other"))
    monkeypatch.setattr(sys, "argv", [str(moved)])
    assert state("hooks") == "out of date"
    site.type("agents uninstall claude-code --apply")
    assert state("instructions") == "by hand"
    assert _row(site, "claude-code")[-1] == "by hand (user)"
    assert seen == set(STATES)


def test_what_is_in_a_project_is_told_apart(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    for scope in ("user", "project"):
        site.type(f"agents install zed --scope {scope} --with mcp --apply")
    assert _row(site, "zed")[2] == "user, project"
    monkeypatch.chdir(site.home / "work")
    assert _row(site, "zed")[2] == "user"
    # What was written in another project is taken back from anywhere.
    said = site.type("agents uninstall zed --scope project --apply")
    assert (said.code, (site.project / ".zed").exists()) == (0, False)
    assert _row(site, "zed")[2] == "user"


@pytest.mark.parametrize("action", ["install", "uninstall"])
def test_a_plan_is_as_its_schema_says(site: Site, action: str) -> None:
    site.write(".claude/settings.json", "{")
    site.type("agents install claude-code --apply")
    line = f"agents {action} claude-code --json"
    record = checked("memcli.agents-plan", site.type(line).out)
    assert record["applied"] is False
    refused = site.type("agents install claude-code --with hooks,skill --json")
    record = checked("memcli.agents-plan", refused.out)
    assert (refused.code, len(record["refused"]), len(record["changes"])) == (2, 1, 1)
    error = json.loads(refused.err)
    assert (error["code"], "nothing was written" in error["message"]) == ("usage", True)


def test_a_line_without_a_command_lists(site: Site) -> None:
    assert site.type("agents").out == site.type("agents list").out
    assert site.type("agents -q").out == site.type("agents").out
    assert site.type("agents lst").err == (
        "memcli: there is no command 'agents lst'\nTry: memcli agents list\n"
    )
    assert site.type("agents --help").out.startswith("Usage: memcli agents ")
    assert set(NAMES) == {agent.name for agent in AGENTS}
