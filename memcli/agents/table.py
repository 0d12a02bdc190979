"""The agents that memcli can be installed in: which of the four parts each has, and where.

    mcp           the server `memcli mcp`, in the list of servers
    hooks         `memcli hook`, at the events of a session
    skill         a folder with a SKILL.md
    instructions  a block in the file that the agent reads at every start

Each row says where its facts are from.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from memcli.agents import places
from memcli.agents.edits import JSON, JSON5, MARKDOWN, NAME, TOML, WHOLE
from memcli.agents.places import Base, Machine
from memcli.record import Record

MCP, HOOKS, SKILL, INSTRUCTIONS = PARTS = ("mcp", "hooks", "skill", "instructions")
USER, PROJECT = SCOPES = ("user", "project")


# A key of a whole file: written if it is missing, and removed with the last entry of the file.
VERSION = ("version",)


class PartPlace(Record):
    """A file that a part is written into."""

    part: str
    scope: str
    base: Base
    path: str  # below the base, with slashes
    format: str
    key: tuple[str, ...] = ()  # the key of the servers, or of the hooks
    also: str = ""  # another name of the file, preferred if it exists
    variable: str = ""  # names another file, if it is set

    @property
    def shown(self) -> str:
        """Return the path to show; of a skill, its folder."""
        path = self.path.removesuffix("SKILL.md")
        return f"{self.base.shown}/{path}" if self.base.shown else path

    def file(self, machine: Machine, exists: Callable[[str], bool]) -> str:
        """Name the file on a machine."""
        if named := machine.environ.get(self.variable):
            return named
        folder = self.base.folder(machine)
        other = machine.below(folder, self.also) if self.also else ""
        return other if other and exists(other) else machine.below(folder, self.path)


class HookEvents(Record):
    """How an agent runs a command at an event."""

    names: tuple[tuple[str, str], ...]  # (event, name of the event for `memcli hook`)
    has_arguments: bool  # new versions: takes a list of arguments, not a shell line
    timeout: int  # in the agent's unit; memcli ends by itself after 4 s
    is_flat: bool = False  # an event lists commands, not groups of them; the file has a version


class Agent(Record):
    """An agent, and the parts that it supports."""

    name: str
    title: str
    about: str  # the source of the facts
    programs: tuple[str, ...]  # if one of them is on the PATH, the agent is installed
    home: Base  # as does this folder
    agent_memory: str  # its own memory; "" if none is known
    server: str  # the shape of an entry: see `texts.server`
    places: tuple[PartPlace, ...]
    events: HookEvents | None = None
    memory: Base | None = None  # of an agent that starts servers somewhere else
    # For an agent that starts servers in the home folder: by scope, its placeholder for the
    # project's folder. None: it starts them in the project.
    folder: Mapping[str, str] | None = None

    def usual_scope(self, machine: Machine, workspace: str) -> str:
        """Return the scope that is meant if none is named: servers need a folder to start in."""
        is_rootless = self.folder is not None and not workspace
        return PROJECT if is_rootless and machine.project else USER

    def place(self, part: str, scope: str) -> PartPlace | None:
        """Find the place of a part."""
        places = (each for each in self.places if (each.part, each.scope) == (part, scope))
        return next(places, None)


def _both(
    part: str, base: Base, mine: str, ours: str, format: str, *, key: tuple[str, ...] = ()
) -> tuple[PartPlace, PartPlace]:
    """Return the places of a part that is alike in the user's folder and in a project."""
    return (
        PartPlace(part, USER, base, mine, format, key),
        PartPlace(part, PROJECT, places.PROJECT, ours, format, key),
    )


def _skill(base: Base, mine: str, ours: str) -> tuple[PartPlace, PartPlace]:
    file = f"{NAME}/SKILL.md"
    return _both(SKILL, base, f"{mine}/{file}", f"{ours}/{file}", WHOLE)


_AGENTS_MD = PartPlace(INSTRUCTIONS, PROJECT, places.PROJECT, "AGENTS.md", MARKDOWN)
_SERVERS, _HOOKS = ("mcpServers",), ("hooks",)
_FOLDER = "${workspaceFolder}"
_SECONDS, _MILLISECONDS = 5, 5000
_STARTS = (("SessionStart", "session-start"), ("UserPromptSubmit", "prompt"))
_ENDS = (("PreCompact", "pre-compact"), ("Stop", "stop"))
_OPENCODE = ("opencode.json", JSON, ("mcp",), "opencode.jsonc")

AGENTS = (
    Agent(
        "claude-code", "Claude Code",
        "code.claude.com/docs: mcp, hooks (exec form), skills, memory; CHANGELOG 2.1.139",
        ("claude",), places.CLAUDE, "claude-code", "stdio",
        (
            *_both(MCP, places.CLAUDE_ABOVE, ".claude.json", ".mcp.json", JSON, key=_SERVERS),
            *_both(HOOKS, places.CLAUDE, "settings.json", ".claude/settings.json", JSON,
                   key=_HOOKS),
            *_skill(places.CLAUDE, "skills", ".claude/skills"),
            *_both(INSTRUCTIONS, places.CLAUDE, "CLAUDE.md", "CLAUDE.md", MARKDOWN),
        ),
        HookEvents((*_STARTS, *_ENDS, ("SessionEnd", "stop")), True, _SECONDS),
    ),
    Agent(
        "codex", "Codex", "developers.openai.com/codex: mcp, hooks, skills, guides/agents-md",
        ("codex",), places.CODEX, "codex", "plain",
        (
            *_both(MCP, places.CODEX, "config.toml", ".codex/config.toml", TOML,
                   key=("mcp_servers",)),
            *_both(HOOKS, places.CODEX, "hooks.json", ".codex/hooks.json", JSON, key=_HOOKS),
            *_skill(places.HOME, ".agents/skills", ".agents/skills"),
            *_both(INSTRUCTIONS, places.CODEX, "AGENTS.md", "AGENTS.md", MARKDOWN),
        ),
        HookEvents((*_STARTS, *_ENDS), False, _SECONDS),
    ),
    Agent(
        "gemini", "Gemini CLI",
        "google-gemini/gemini-cli docs/hooks/reference.md, docs/tools/mcp-server.md, "
        "docs/cli/skills.md, docs/cli/gemini-md.md",
        ("gemini",), places.GEMINI, "gemini", "plain",
        (
            *_both(MCP, places.GEMINI, "settings.json", ".gemini/settings.json", JSON,
                   key=_SERVERS),
            *_both(HOOKS, places.GEMINI, "settings.json", ".gemini/settings.json", JSON,
                   key=_HOOKS),
            *_skill(places.GEMINI, "skills", ".gemini/skills"),
            *_both(INSTRUCTIONS, places.GEMINI, "GEMINI.md", "GEMINI.md", MARKDOWN),
        ),
        # Not PreCompress: it also runs before each request that compresses nothing (0.61).
        HookEvents(
            (("SessionStart", "session-start"), ("BeforeAgent", "prompt"), ("AfterAgent", "stop")),
            False, _MILLISECONDS,
        ),
    ),
    Agent(
        "openclaw", "OpenClaw",
        "openclaw/openclaw docs/cli/mcp.md, docs/tools/skills.md, docs/concepts/agent-workspace.md",
        ("openclaw",), places.OPENCLAW, "openclaw", "plain",
        (
            PartPlace(MCP, USER, places.OPENCLAW, "openclaw.json", JSON5, ("mcp", "servers"),
                  variable="OPENCLAW_CONFIG_PATH"),
            PartPlace(SKILL, USER, places.OPENCLAW, f"skills/{NAME}/SKILL.md", WHOLE),
            PartPlace(INSTRUCTIONS, USER, places.OPENCLAW_WORKSPACE, "AGENTS.md", MARKDOWN),
        ),
        memory=places.OPENCLAW_WORKSPACE,
    ),
    Agent(
        "cursor", "Cursor",
        "cursor.com/docs: hooks, context/mcp, context/skills, context/rules (AGENTS.md)",
        ("cursor", "cursor-agent"), places.CURSOR, "cursor", "stdio",
        (
            *_both(MCP, places.CURSOR, "mcp.json", ".cursor/mcp.json", JSON, key=_SERVERS),
            *_both(HOOKS, places.CURSOR, "hooks.json", ".cursor/hooks.json", JSON, key=_HOOKS),
            *_skill(places.CURSOR, "skills", ".cursor/skills"),
            _AGENTS_MD,
        ),
        HookEvents(
            (("sessionStart", "session-start"), ("beforeSubmitPrompt", "prompt"),
             ("preCompact", "pre-compact"), ("stop", "stop"), ("sessionEnd", "stop")),
            False, _SECONDS, is_flat=True,
        ),
        folder={PROJECT: _FOLDER},
    ),
    Agent(
        "vscode", "VS Code",
        "code.visualstudio.com/docs: mcp-configuration, agent-skills, custom-instructions",
        ("code",), places.VSCODE, "", "stdio",
        (
            *_both(MCP, places.VSCODE, "mcp.json", ".vscode/mcp.json", JSON, key=("servers",)),
            *_skill(places.COPILOT, "skills", ".github/skills"),
            _AGENTS_MD,
        ),
        folder={USER: _FOLDER, PROJECT: _FOLDER},
    ),
    Agent(
        "opencode", "OpenCode", "opencode.ai/docs: config, mcp-servers, plugins, skills, rules",
        ("opencode",), places.OPENCODE, "", "list",
        (
            PartPlace(MCP, USER, places.OPENCODE, *_OPENCODE),
            PartPlace(MCP, PROJECT, places.PROJECT, *_OPENCODE),
            *_both(HOOKS, places.OPENCODE, f"plugins/{NAME}.js", f".opencode/plugins/{NAME}.js",
                   WHOLE),
            *_skill(places.OPENCODE, "skills", ".opencode/skills"),
            *_both(INSTRUCTIONS, places.OPENCODE, "AGENTS.md", "AGENTS.md", MARKDOWN),
        ),
    ),
    Agent(
        "zed", "Zed", "zed.dev/docs/ai: mcp, skills, instructions; zed.dev/docs/configuring-zed",
        ("zed", "zeditor"), places.ZED, "", "plain",
        (
            *_both(MCP, places.ZED, "settings.json", ".zed/settings.json", JSON,
                   key=("context_servers",)),
            *_skill(places.HOME, ".agents/skills", ".agents/skills"),
            *_both(INSTRUCTIONS, places.ZED, "AGENTS.md", "AGENTS.md", MARKDOWN),
        ),
        folder={},
    ),
    Agent(
        "copilot", "Copilot CLI",
        "docs.github.com/copilot/how-tos/copilot-cli: add-mcp-servers, add-custom-instructions",
        ("copilot",), places.COPILOT, "", "tools",
        (
            PartPlace(MCP, USER, places.COPILOT, "mcp-config.json", JSON, _SERVERS),
            PartPlace(SKILL, USER, places.COPILOT, f"skills/{NAME}/SKILL.md", WHOLE),
            *_both(INSTRUCTIONS, places.COPILOT, "copilot-instructions.md", "AGENTS.md", MARKDOWN),
        ),
    ),
    Agent(
        "claude-desktop", "Claude Desktop", "modelcontextprotocol.io/quickstart/user",
        ("claude-desktop",), places.CLAUDE_DESKTOP, "", "plain",
        (
            PartPlace(MCP, USER, places.CLAUDE_DESKTOP, "claude_desktop_config.json", JSON,
                  _SERVERS),
        ),
    ),
    Agent(
        "windsurf", "Windsurf", "docs.windsurf.com/windsurf/cascade/mcp",
        ("windsurf",), places.WINDSURF, "", "plain",
        (PartPlace(MCP, USER, places.WINDSURF, "mcp_config.json", JSON, _SERVERS), _AGENTS_MD),
    ),
    Agent(
        "cline", "Cline", "docs.cline.bot/mcp/mcp-overview; cline.bot CLI reference",
        ("cline",), places.CLINE, "", "patient",
        (
            PartPlace(MCP, USER, places.CLINE, "data/settings/cline_mcp_settings.json", JSON,
                  _SERVERS, variable="CLINE_MCP_SETTINGS_PATH"),
            _AGENTS_MD,
        ),
    ),
)  # fmt: skip
BY_NAME: Mapping[str, Agent] = {agent.name: agent for agent in AGENTS}
NAMES = tuple(BY_NAME)
