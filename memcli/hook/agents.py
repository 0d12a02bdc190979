"""What agents send to their hooks, and what they accept: one table per agent; pure.

They send one object with `hook_event_name`, and read one object:

claude-code  code.claude.com/docs/en/hooks; `HookInput` and `SyncHookJSONOutput` in
             anthropics/claude-agent-sdk-python, src/claude_agent_sdk/types.py. SessionStart has
             `source`, startup | resume | clear | compact; UserPromptSubmit has `prompt`; both take
             `hookSpecificOutput.additionalContext`. PreCompact and Stop accept no context (unless
             Stop goes on), so they get `systemMessage`, which the person reads.
codex        openai/codex, codex-rs/hooks/schema/generated/*.command.{input,output}.schema.json:
             the same names, no other key allowed, and no `hookSpecificOutput` of PreCompact, Stop.
gemini       google-gemini/gemini-cli, docs/hooks/reference.md: SessionStart (`source` startup |
             resume | clear) and BeforeAgent (`prompt`) take the context; PreCompress, AfterAgent
             and SessionEnd take only `systemMessage`. `gemini -p` puts the context of SessionStart
             in front of the first prompt, in <hook_context>.
cursor       cursor.com/docs/hooks: `conversation_id`, `workspace_roots` and `transcript_path`.
             sessionStart and beforeSubmitPrompt take `additional_context` (older versions
             ignore that of the latter), preCompact `user_message`. The `followup_message` of stop
             would be sent as a prompt, so memcli says nothing there.
opencode, openclaw  the plugins in `memcli.agents.plugin` send and read what Claude Code does.

A hook never sends `decision`, `continue` or `reason`: it never stops the agent.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from memcli.checking import Any
from memcli.errors import UsageError
from memcli.record import Record

EVENTS = ("session-start", "prompt", "pre-compact", "stop")
SILENCE: Mapping[str, Any] = {}  # every agent takes it as no answer

_CONTEXT, _MESSAGE, _NOTHING = "additionalContext", "systemMessage", ""
# By our name of an event: its names, and the key of the text that may be returned.
_Table = dict[str, tuple[tuple[str, ...], str]]
_CLAUDE_CODE: _Table = {
    "session-start": (("SessionStart",), _CONTEXT),
    "prompt": (("UserPromptSubmit",), _CONTEXT),
    "pre-compact": (("PreCompact",), _MESSAGE),
    "stop": (("Stop", "SessionEnd"), _MESSAGE),
}
_GEMINI: _Table = {
    "session-start": (("SessionStart",), _CONTEXT),
    "prompt": (("BeforeAgent",), _CONTEXT),
    "pre-compact": (("PreCompress",), _MESSAGE),
    "stop": (("AfterAgent", "SessionEnd"), _MESSAGE),
}
_CURSOR: _Table = {
    "session-start": (("sessionStart",), "additional_context"),
    "prompt": (("beforeSubmitPrompt",), "additional_context"),
    "pre-compact": (("preCompact",), "user_message"),
    "stop": (("stop", "sessionEnd"), _NOTHING),
}
AGENTS: Mapping[str, _Table] = {
    "claude-code": _CLAUDE_CODE,
    "codex": _CLAUDE_CODE,
    "gemini": _GEMINI,
    "cursor": _CURSOR,
    "opencode": _CLAUDE_CODE,
    "openclaw": _CLAUDE_CODE,
}


class HookEvent(Record):
    """An event that an agent reports; "" for what it does not report."""

    event: str  # of EVENTS
    name: str  # the agent's own
    session: str
    folder: str
    source: str  # why a session starts
    prompt: str
    transcript: str  # path of the transcript


def read_event(agent: str, event: str, message: Mapping[str, Any]) -> HookEvent | None:
    """Read what an agent sent; None if this hook is not for that event."""

    def text(key: str) -> str:
        value = message.get(key)
        return value if isinstance(value, str) else ""

    names = AGENTS[agent][event][0]
    name = text("hook_event_name") or names[0]
    if name not in names:
        return None
    roots = message.get("workspace_roots")
    named = [each for each in roots if isinstance(each, str)] if isinstance(roots, list) else []
    return HookEvent(
        event,
        name,
        text("conversation_id") or text("session_id"),
        named[0] if named else text("cwd"),
        text("source"),
        _typed(text("prompt")),
        text("transcript_path"),
    )


def _typed(prompt: str) -> str:
    if "<hook_context>" not in prompt:
        return prompt
    from memcli.markdown.transcript import without_hook_context

    return without_hook_context(prompt)


def reply(agent: str, of: HookEvent, text: str) -> Mapping[str, Any]:
    """Write the answer of a hook; without a text it is `{}`."""
    if not text:
        return SILENCE
    # Half a pair of surrogates cannot be written as UTF-8, and some parsers of JSON refuse it.
    text = text.encode("utf-8", "replace").decode()
    key = AGENTS[agent][of.event][1]
    if key == _CONTEXT:
        return {"hookSpecificOutput": {"hookEventName": of.name, key: text}}
    return {key: text} if key else SILENCE


BLOCK_BYTES = 1 << 16  # the size of a pipe
MOST_BYTES = 1 << 24
_DECODER = json.JSONDecoder()


def read_object(read: Callable[[int], bytes]) -> dict[str, Any]:
    """Read blocks until they contain an object; {} if there is no input.

    UsageError if it is not an object, and for more than MOST_BYTES of it.
    """
    data = bytearray()
    while block := read(BLOCK_BYTES):
        data += block
        if len(data) > MOST_BYTES:
            raise _malformed(f"more than {MOST_BYTES >> 20} MiB")
        if not _may_end_in(block, len(data)):
            continue
        record = object_in(bytes(data))
        if record is not None:
            return record
    if not data.strip():
        return {}
    record = object_in(bytes(data))
    if record is None:
        raise _malformed("half an object")
    return record


def _may_end_in(block: bytes, length: int) -> bool:
    """Return whether an object may be complete; a long one is parsed seldom."""
    if length <= BLOCK_BYTES:
        return True
    return block.rstrip().endswith(b"}") or b"}\n" in block


def object_in(data: bytes) -> dict[str, Any] | None:
    """Parse the object that data begins with; None if it is not complete.

    UsageError if it cannot become one. Example: b'{"prompt": "x"} and more' -> {"prompt": "x"}
    """
    text = data.decode("utf-8", "replace").removeprefix("\ufeff").lstrip()
    if text and text[0] != "{":
        raise _malformed("no object")
    try:
        record: dict[str, Any] = _DECODER.raw_decode(text)[0]
    except RecursionError:
        raise _malformed("an object within too many others") from None
    except ValueError:
        return None
    return record


def _malformed(what: str) -> UsageError:
    return UsageError(f"a hook reads one JSON object, but got {what}", hint="memcli help hook")
