"""The plugins of agents: a folder for Claude Code or OpenClaw, a file for OpenCode.

OpenCode and OpenClaw run JavaScript at their events, which runs `memcli hook`.
"""

from __future__ import annotations

import json

from memcli.agents.table import NAME, Agent
from memcli.agents.texts import Launcher, hook_options, hooks, server, server_argv, skill
from memcli.checking import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

ABOUT = "Search over the Markdown memory of this project: tools, hooks and a skill."
FOR = ("claude-code", "openclaw")

_ASK = """\
const MEMCLI = %s;
const OPTIONS = %s;

// Returns the text that memcli adds at an event; "" if it adds nothing, or fails.
function ask(event, sent) {
  return new Promise((resolve) => {
    const [program, ...first] = MEMCLI;
    const child = spawn(program, [...first, "hook", event, ...OPTIONS], {
      stdio: ["pipe", "pipe", "ignore"],
      timeout: 5000,
      windowsHide: true,
    });
    let out = "";
    child.stdout.on("data", (data) => (out += data));
    child.stdin.on("error", () => {});
    child.on("error", () => resolve(""));
    child.on("close", () => {
      try {
        resolve(JSON.parse(out).hookSpecificOutput?.additionalContext ?? "");
      } catch {
        resolve("");
      }
    });
    child.stdin.end(JSON.stringify(sent));
  });
}

// Why the next prompt of a session starts it; "" if it does not.
const starts = new Map();

// Returns what memcli adds to a prompt, and before the first one to the session.
async function notes(session, cwd, prompt) {
  const sent = { session_id: session, cwd, prompt };
  const source = starts.get(session) ?? "startup";
  starts.set(session, "");
  const context = source && (await ask("session-start", { ...sent, source }));
  return [context, await ask("prompt", sent)].filter(Boolean);
}
"""
# `Hooks` of the package @opencode-ai/plugin; opencode.ai/docs/plugins
_OPENCODE = """
// Text that the user typed, and not what a program added.
const typed = (parts) =>
  parts
    .filter((part) => part.type === "text" && !part.synthetic)
    .map((part) => part.text)
    .join("\\n");

export const memcli = async ({ directory }) => ({
  "chat.message": async (input, output) => {
    const texts = await notes(input.sessionID, directory, typed(output.parts));
    for (const text of texts)
      output.parts.push({
        id: `prt_${crypto.randomUUID().replaceAll("-", "")}`,
        sessionID: input.sessionID,
        messageID: output.message.id,
        type: "text",
        text,
        synthetic: true,
      });
  },
  "experimental.session.compacting": async (input) => {
    await ask("pre-compact", { session_id: input.sessionID, cwd: directory });
    starts.set(input.sessionID, "compact");
  },
});
"""
# docs.openclaw.ai/plugins/hooks
_OPENCLAW = """
const session = (ctx) => ctx.sessionId ?? ctx.sessionKey ?? "";
const sent = (event, ctx) => ({
  session_id: session(ctx),
  cwd: ctx.workspaceDir,
  transcript_path: event.sessionFile,
});

export default definePluginEntry({
  id: "memcli",
  name: "memcli",
  description: "Adds notes to sessions and prompts.",
  register(api) {
    api.on("before_prompt_build", async (event, ctx) => {
      const prompt = event.currentUserMessage ?? event.prompt;
      const texts = await notes(session(ctx), ctx.workspaceDir, prompt);
      return texts.length ? { prependContext: texts.join("\\n") } : undefined;
    });
    api.on("before_compaction", async (event, ctx) => {
      await ask("pre-compact", sent(event, ctx));
      starts.set(session(ctx), "compact");
    });
    api.on("session_end", async (event, ctx) => {
      await ask("stop", sent(event, ctx));
      starts.delete(session(ctx));
    });
  },
});
"""
_SPAWN = 'import { spawn } from "node:child_process";\n'
_ENTRY = 'import { definePluginEntry } from "openclaw/plugin-sdk/plugin-entry";\n\n'


def opencode(agent: Agent, launcher: Launcher) -> str:
    """Return the plugin of OpenCode."""
    return f"{_SPAWN}\n{_ask(agent, launcher)}{_OPENCODE}"


def _ask(agent: Agent, launcher: Launcher) -> str:
    return _ASK % (json.dumps(launcher.argv), json.dumps(hook_options(agent, launcher)))


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
    return (
        f"claude plugin marketplace add {folder}",
        f"claude plugin install {NAME}@{NAME}",
    )


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
        "index.js": f"{_SPAWN}{_ENTRY}{_ask(agent, launcher)}{_OPENCLAW}",
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
