"""The folder of a plugin, which is also a marketplace: the content of each file."""

from __future__ import annotations

import json

from memcli.agents.table import NAME, Agent
from memcli.agents.texts import Launcher, hooks, server, server_argv, skill
from memcli.checking import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

ABOUT = "Search over the Markdown memory of this project: tools, hooks and a skill."
# code.claude.com/docs: plugins-reference, plugin-marketplaces
FOR = ("claude-code",)


def plugin(agent: Agent, launcher: Launcher, version: str) -> dict[str, str]:
    """Return the files of the plugin by their paths, with slashes."""
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
        f"skills/{NAME}/SKILL.md": skill(launcher.typed, ""),
    }


def _json(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"
