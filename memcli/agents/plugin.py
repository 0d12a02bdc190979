"""The folders of plugins, for Claude Code and OpenClaw: the content of each file."""

from __future__ import annotations

import json

from memcli.agents import scripts
from memcli.agents.edits import NAME
from memcli.agents.table import Agent
from memcli.agents.texts import Launcher, hook_options, hooks, server, server_argv, skill
from memcli.checking import Any

ABOUT = "Search over the Markdown memory of this project: tools, hooks and a skill."
FOR = ("claude-code", "openclaw")


def plugin(agent: Agent, launcher: Launcher, version: str) -> dict[str, str]:
    """Return the files of a plugin by their paths, with slashes."""
    made = _openclaw if agent.name == "openclaw" else _claude_code
    files = made(agent, launcher, version)
    return {**files, f"skills/{NAME}/SKILL.md": skill(launcher.typed, "")}


def installation(agent: Agent, folder: str) -> tuple[str, ...]:
    """Return the commands that install the plugin in a folder, which is quoted for a shell."""
    if agent.name == "openclaw":
        access = f"plugins.entries.{NAME}.hooks.allowConversationAccess"
        return (
            f"openclaw plugins install --link {folder} --force --accept-capabilities",
            f"openclaw config set {access} true",
        )
    return (f"claude plugin marketplace add {folder}", f"claude plugin install {NAME}@{NAME}")


def _openclaw(agent: Agent, launcher: Launcher, version: str) -> dict[str, str]:
    """Return the files of a native plugin; see docs.openclaw.ai/plugins/manifest."""
    package = {
        "name": NAME,
        "version": version,
        "type": "module",
        "openclaw": {"extensions": ["./index.js"]},
    }
    manifest = {
        "id": NAME,
        "name": NAME,
        "description": ABOUT,
        "activation": {"onStartup": True},
        "configSchema": {"type": "object", "additionalProperties": False},
        "skills": ["./skills"],
    }
    return {
        "package.json": _json(package),
        "openclaw.plugin.json": _json(manifest),
        "index.js": scripts.openclaw(launcher.argv, hook_options(agent, launcher)),
    }


def _claude_code(agent: Agent, launcher: Launcher, version: str) -> dict[str, str]:
    """Return a plugin that is also a marketplace; see code.claude.com/docs, plugins-reference."""
    manifest = {"name": NAME, "description": ABOUT, "version": version}
    marketplace = {
        "name": NAME,
        "owner": {"name": NAME},
        "plugins": [{"name": NAME, "source": "./", "description": ABOUT}],
    }
    ran = {event: [each] for event, each in hooks(agent, launcher).items()}
    servers = {NAME: server(agent.server, server_argv(launcher))}
    return {
        ".claude-plugin/marketplace.json": _json(marketplace),
        ".claude-plugin/plugin.json": _json(manifest),
        ".mcp.json": _json({"mcpServers": servers}),
        "hooks/hooks.json": _json({"hooks": ran}),
    }


def _json(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"
