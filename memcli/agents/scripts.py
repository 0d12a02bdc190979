"""JavaScript for the agents that run it at their events: OpenCode and OpenClaw.

It runs `memcli hook`, and adds to the conversation what that answers.
"""

from __future__ import annotations

import json

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


def opencode(program: tuple[str, ...], options: tuple[str, ...]) -> str:
    """Return the plugin of OpenCode, by the command line of memcli and the options of a hook."""
    return f"{_SPAWN}\n{_ASK % (json.dumps(program), json.dumps(options))}{_OPENCODE}"


def openclaw(program: tuple[str, ...], options: tuple[str, ...]) -> str:
    """Return the script of OpenClaw's plugin."""
    return f"{_SPAWN}{_ENTRY}{_ASK % (json.dumps(program), json.dumps(options))}{_OPENCLAW}"
