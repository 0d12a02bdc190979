"""What each agent takes from a hook, as JSON Schema, and what each sends.

Written after codex-rs/hooks/schema/generated of openai/codex, where no other key is allowed;
`SyncHookJSONOutput` in src/claude_agent_sdk/types.py of anthropics/claude-agent-sdk-python;
docs/hooks/reference.md of google-gemini/gemini-cli; and cursor.com/docs/hooks. A key that would
stop an agent is in none.
"""

from __future__ import annotations

from typing import Any

_MESSAGE = {"systemMessage": {"type": "string", "minLength": 1}}


def _context(event: str) -> dict[str, Any]:
    return {
        "hookSpecificOutput": {
            "type": "object",
            "properties": {
                "hookEventName": {"const": event},
                "additionalContext": {"type": "string", "minLength": 1},
            },
            "required": ["hookEventName", "additionalContext"],
            "additionalProperties": False,
        }
    }


# The names of an event, and what may be answered to it.
_CLAUDE_CODE = {
    "session-start": ("SessionStart", _context("SessionStart")),
    "prompt": ("UserPromptSubmit", _context("UserPromptSubmit")),
    "pre-compact": ("PreCompact", _MESSAGE),
    "stop": ("Stop", _MESSAGE),
}
_GEMINI = {
    "session-start": ("SessionStart", _context("SessionStart")),
    "prompt": ("BeforeAgent", _context("BeforeAgent")),
    "pre-compact": ("PreCompress", _MESSAGE),
    "stop": ("AfterAgent", _MESSAGE),
}
_NOTES = {"additional_context": {"type": "string", "minLength": 1}}
_CURSOR = {
    "session-start": ("sessionStart", _NOTES),
    "prompt": ("beforeSubmitPrompt", _NOTES),
    "pre-compact": ("preCompact", {"user_message": {"type": "string", "minLength": 1}}),
    "stop": ("stop", {}),
}
# Plugins of memcli run these hooks.
_OUR_OWN = dict.fromkeys(("opencode", "openclaw"), _CLAUDE_CODE)
SHAPES = {"claude-code": _CLAUDE_CODE, "codex": _CLAUDE_CODE, "gemini": _GEMINI,
          "cursor": _CURSOR, **_OUR_OWN}  # fmt: skip
PAIRS = [(agent, event) for agent, events in SHAPES.items() for event in events]


def name_of(agent: str, event: str) -> str:
    """Give the agent's own name of an event."""
    return SHAPES[agent][event][0]


def schema_of(agent: str, event: str) -> dict[str, Any]:
    """Describe what an agent takes there."""
    return {"type": "object", "properties": SHAPES[agent][event][1], "additionalProperties": False}
